import type { Scrubber } from '../../../protocol/src/scrub/scrubber.ts';

/**
 * Why the body of an answer can't be looked through for a value, or undefined. `encodings` are the values of its
 * `Content-Encoding` headers.
 */
export function encodingFault(encodings: readonly string[]): string | undefined {
  if (encodings.every((each) => /^(identity)?$/i.test(each.trim()))) return undefined;
  const named = encodings.join(', ').slice(0, 80);
  return `the answer is encoded (${named}) although that was not asked for; it can’t be looked through for the value`;
}

/** A part of an answer's head without the values. Node reads and writes the bytes of a head as Latin-1. */
export function scrubHead(text: string, scrubber: Scrubber): string {
  return Buffer.from(scrubber.bytes(Buffer.from(text, 'latin1'))).toString('latin1');
}
