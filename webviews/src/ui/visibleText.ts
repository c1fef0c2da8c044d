// Control sequences that a terminal would obey: CSI, OSC up to its end, and two-character escapes (ECMA-48).
// oxlint and eslint see control characters in a pattern as a slip; here they are the matter.
const sequences = new RegExp(
  '\\u001b\\[[0-?]*[ -/]*[@-~]|\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|\\u001b[@-Z\\\\^_=>]|\\u009b[0-?]*[ -/]*[@-~]',
  'g',
);
// What would be invisible or turn the reading direction (UTR 36), and what is left of control characters.
const hidden = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/**
 * A line of a log as text: terminal sequences are dropped, other invisible characters are shown as `\u{202e}`, tabs
 * become spaces. Nothing of it is obeyed.
 */
export function visibleText(line: string): string {
  return line
    .replace(sequences, '')
    .replaceAll('\t', '    ')
    .replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
