/**
 * Text from a project, a card or the network, made fit to stand in VS Code's own surfaces. Control, invisible and
 * bidirectional characters are shown as `\u{202E}`; the openings of icon and link syntax, which labels and notifications
 * interpret, get a space. Whole text, never cut.
 */
export function plain(value: string): string {
  return value
    .replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`)
    .replaceAll('$(', '$ (')
    .replaceAll('](', '] (');
}

/** True where `plain` shows a character escaped that a reader would not see otherwise. */
export function hasHidden(value: string): boolean {
  return value.search(hidden) >= 0;
}

/** `plain`, on one line of at most `length` characters, for places where the whole text stands elsewhere. */
export function short(value: string, length = 60): string {
  const text = plain(value);
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

/**
 * Unicode's control, format, surrogate, private-use and unassigned characters, line and paragraph separators, every
 * space but U+0020, combining joiners, variation selectors and the blank letters (Unicode TR 36 and TR 39).
 */
const hidden =
  /[\p{C}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2800\u3164\uFE00-\uFE0F\uFFA0]|[\u{E0100}-\u{E01EF}]/gu;
