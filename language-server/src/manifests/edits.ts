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

/** Removes a property or an item together with one comma, and the space on that side. */
export function removeFix(text: string, at: Span, what: string): Fix {
  const title = fixTitles.remove(what);
  const before = /\s*,\s*$/.exec(text.slice(Math.max(0, at.start - farthestComma), at.start));
  if (before) return { title, start: at.start - before[0].length, end: at.end, text: '' };
  const after = /^\s*,\s*/.exec(text.slice(at.end, at.end + farthestComma));
  return { title, start: at.start, end: at.end + (after?.[0].length ?? 0), text: '' };
}

/** How many characters are looked at for a comma: a fix costs the same in the most hostile text. */
const farthestComma = 500;

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
