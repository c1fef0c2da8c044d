/** What turns the reading direction or hides text: marks and overrides of direction, zero widths, tags (UTR 36). */
const misleading = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/gu;

/**
 * Prose of a model with what would mislead a reader shown as `\u{202E}`. Joiners and variation selectors stay: scripts
 * and emoji need them. Titles, paths and code go through `showHidden`, which lets nothing stay.
 */
export function showProse(text: string): string {
  return text.replace(
    misleading,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}
