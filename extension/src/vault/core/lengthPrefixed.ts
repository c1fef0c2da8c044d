import { Buffer } from 'node:buffer';

/**
 * Parts as one string of bytes that can be cut in one way only: each after its length (four bytes, big endian). Texts
 * are UTF-8, numbers decimal.
 */
export function lengthPrefixed(...parts: readonly (Uint8Array | string | number)[]): Buffer {
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    const bytes = typeof part === 'object' ? part : Buffer.from(String(part));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    pieces.push(length, bytes);
  }
  return Buffer.concat(pieces);
}
