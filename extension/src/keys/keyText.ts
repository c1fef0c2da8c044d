/** Why a text is no key. The words are `messages.ts`'s. */
export type KeyProblem = 'empty' | 'too-long' | 'characters' | 'inner-space';

const longestKey = 4096;

/**
 * A pasted key made fit for a header: the white space around it is dropped; what is left must be visible ASCII
 * (RFC 9110, field-vchar without obs-text), so it can't end a header or start another.
 */
export function checkKey(text: string): { readonly key: string } | { readonly problem: KeyProblem } {
  const key = text.trim();
  if (key === '') return { problem: 'empty' };
  if (key.length > longestKey) return { problem: 'too-long' };
  if (/\s/.test(key)) return { problem: 'inner-space' };
  if (!/^[\x21-\x7e]+$/.test(key)) return { problem: 'characters' };
  return { key };
}
