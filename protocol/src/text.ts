/**
 * Text from a model, a project or the network, made fit to be judged by eye: what a reader would not see, or what would
 * turn the reading direction, is shown as `\u{202E}`. Nothing is left out or cut. A line break counts as hidden in
 * `showHidden` and is kept by `showHiddenLines`.
 */
export function showHidden(value: string): string {
  return value.replace(hidden, escapeCharacter);
}

/** `showHidden` of each line; line breaks and tabs stay. */
export function showHiddenLines(value: string): string {
  return value.replace(hidden, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  );
}

/** True where `showHiddenLines` changes something: then the text is flagged. */
export function hasHidden(value: string): boolean {
  return showHiddenLines(value) !== value;
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}

/**
 * Control, format, surrogate, private-use and unassigned characters, line and paragraph separators, every space but
 * U+0020, combining joiners, variation selectors and the blank letters (Unicode TR 36 and TR 39).
 */
const hidden =
  /[\p{C}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u2800\u3164\uFE00-\uFE0F\uFFA0]|[\u{E0100}-\u{E01EF}]/gu;
