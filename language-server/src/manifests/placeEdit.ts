import { findNodeAtLocation, parseTree, type Node, type ParseError } from 'jsonc-parser';
import { UserError } from '../../../protocol/src/errors.ts';
import { localPlace, parsePlace } from '../../../protocol/src/places.ts';
import { addKeyFix, removeFix, replaceFix } from './edits.ts';
import { spanOf } from './nodes.ts';

/** A part of a text, by its characters, and what comes in its place. */
export interface PlaceEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const key = 'executionService';

/**
 * The change to a card's manifest by which it runs in this place: `executionService` written, or taken out for this
 * computer, with `permissions` where nothing else stands in it. Everything else stays as it is written. Throws
 * `bad-project` for text that is no object of JSON, `not-found` for a name that is no place.
 */
export function placeEdit(text: string, place: string): PlaceEdit[] {
  if (!parsePlace(place)) throw new UserError('not-found', `“${place}” names no place where cards can run`);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors);
  const permissions = root && findNodeAtLocation(root, ['permissions']);
  if (errors.length > 0 || root?.type !== 'object' || (permissions && permissions.type !== 'object')) {
    throw new UserError('bad-project', 'The card’s _card.json has errors, so nothing was changed in it', {
      remedy: 'Mend them first: they are marked in the editor.',
    });
  }
  const { start, end, text: changed } = change(text, root, permissions, place) ?? unchanged;
  return start === end && changed === '' ? [] : [{ start, end, text: changed }];
}

const unchanged: PlaceEdit = { start: 0, end: 0, text: '' };

function change(
  text: string,
  root: Node,
  permissions: Node | undefined,
  place: string,
): PlaceEdit | undefined {
  const present = permissions && findNodeAtLocation(permissions, [key]);
  if (place === localPlace) {
    const { parent } = permissions?.children?.length === 1 ? permissions : (present ?? {});
    return present && parent && removeFix(text, spanOf(parent), key);
  }
  if (present) return replaceFix(spanOf(present), place);
  if (permissions) return addKeyFix(text, permissions, key, JSON.stringify(place));
  const last = root.children?.at(-1);
  const indent = last && /\n([ \t]+)$/.exec(text.slice(Math.max(0, last.offset - 200), last.offset))?.[1];
  const member = `${JSON.stringify(key)}: ${JSON.stringify(place)}`;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const value = indent === undefined ? `{ ${member} }` : `{${eol}${indent}${indent}${member}${eol}${indent}}`;
  return addKeyFix(text, root, 'permissions', value);
}
