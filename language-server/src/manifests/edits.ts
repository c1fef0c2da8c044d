import type { Node } from 'jsonc-parser';
import { fixTitles } from '../messages.ts';
import type { Fix, Span } from './problem.ts';
import { spanOf } from './nodes.ts';

/** Text changes behind the quick fixes. Each leaves JSON that parses where the rest does. */

export function replaceFix(at: Span, value: string): Fix {
  return { title: fixTitles.replace(value), start: at.start, end: at.end, text: JSON.stringify(value) };
}

/** Replaces a value by other JSON text. */
export function rewriteFix(at: Span, text: string): Fix {
  return { title: fixTitles.replace(text), start: at.start, end: at.end, text };
}

/** Removes a property or an item together with one comma. */
export function removeFix(text: string, child: Node, what: string): Fix {
  const { start, end } = spanOf(child);
  const siblings = child.parent?.children ?? [];
  const index = siblings.indexOf(child);
  const before = siblings[index - 1];
  const after = siblings[index + 1];
  const title = fixTitles.remove(what);
  if (before) return { title, start: spanOf(before).end, end, text: '' };
  if (after) return { title, start, end: after.offset, text: '' };
  const comma = /^\s*,/.exec(text.slice(end, end + 1000));
  return { title, start, end: end + (comma?.[0].length ?? 0), text: '' };
}

/** Adds a member at the end of an object, on a line of its own where the others have that. */
export function addKeyFix(text: string, object: Node, key: string, valueText: string): Fix {
  const member = `${JSON.stringify(key)}: ${valueText}`;
  const last = object.children?.at(-1);
  const title = fixTitles.addKey(key);
  if (!last) {
    const inside = object.offset + 1;
    return { title, start: inside, end: inside, text: ` ${member}${text[inside] === '}' ? ' ' : ''}` };
  }
  const { end } = spanOf(last);
  const indent = /(\r?\n[ \t]*)$/.exec(text.slice(Math.max(0, last.offset - 200), last.offset))?.[1] ?? ' ';
  return { title, start: end, end, text: `,${indent}${member}` };
}
