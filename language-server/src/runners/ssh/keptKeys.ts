import {
  createCipheriv as cipher,
  createDecipheriv as decipher,
  createSecretKey,
  KeyObject,
  type BinaryLike,
  type Cipheriv,
  type Decipheriv,
} from 'node:crypto';
import type { TransformOptions } from 'node:stream';

// What else ssh2 takes there.
export { createHmac, randomFillSync, timingSafeEqual } from 'node:crypto';

/**
 * `node:crypto` for the packets of ssh2, which makes a cipher for each one out of the bytes of its key. Node.js takes
 * far longer to see that bytes are no key object than to make the cipher, so each key becomes one, once. The bytes of a
 * key must not change. The build puts this in place of `crypto` there (scripts/build.mjs); without it the same works.
 */
export function createCipheriv(
  name: string,
  key: Buffer | KeyObject,
  iv: BinaryLike | null,
  options?: TransformOptions,
): Cipheriv {
  return cipher(name, toKeyObject(key), iv, options);
}

/** As `createCipheriv`. */
export function createDecipheriv(
  name: string,
  key: Buffer | KeyObject,
  iv: BinaryLike | null,
  options?: TransformOptions,
): Decipheriv {
  return decipher(name, toKeyObject(key), iv, options);
}

const kept = new WeakMap<Buffer, KeyObject>();

function toKeyObject(key: Buffer | KeyObject): KeyObject {
  if (key instanceof KeyObject) return key;
  const known = kept.get(key);
  if (known) return known;
  const made = createSecretKey(key);
  kept.set(key, made);
  return made;
}
