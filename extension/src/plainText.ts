import { showHidden } from '../../protocol/src/text.ts';

/**
 * Text from a project, a card or the network, made fit to stand in VS Code's own surfaces. Control, invisible and
 * bidirectional characters are shown as `\u{202E}`; the openings of icon and link syntax, which labels and notifications
 * interpret, get a space. Whole text, never cut.
 */
export function plain(value: string): string {
  return showHidden(value).replaceAll('$(', '$ (').replaceAll('](', '] (');
}

/** True where `plain` shows a character escaped that a reader would not see otherwise. */
export function hasHidden(value: string): boolean {
  return showHidden(value) !== value;
}

/** `plain`, on one line of at most `length` characters, for places where the whole text stands elsewhere. */
export function short(value: string, length = 60): string {
  const text = plain(value);
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
