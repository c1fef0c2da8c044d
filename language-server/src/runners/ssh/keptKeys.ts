import {
  createDecipheriv as decipher,
  createSecretKey,
  type BinaryLike,
  type Decipheriv,
  type KeyObject,
} from 'node:crypto';
import type { TransformOptions } from 'node:stream';

// What else ssh2 takes there.
export { createCipheriv, createHmac, randomFillSync, timingSafeEqual } from 'node:crypto';

/**
 * `createDecipheriv` of `node:crypto` for the packets of ssh2, which makes a decipher for each one out of the bytes of
 * its key. Node.js takes far longer to see that bytes are no key object than to make the decipher, so each key becomes
 * one, once. The bytes of a key must not change. The build puts this module in place of `crypto` there
 * (scripts/build.mjs); without it the same works.
 */
export function createDecipheriv(
  name: string,
  key: Buffer | KeyObject,
  iv: BinaryLike | null,
  options?: TransformOptions,
): Decipheriv {
  return decipher(name, Buffer.isBuffer(key) ? toKeyObject(key) : key, iv, options);
}

const kept = new WeakMap<Buffer, KeyObject>();

function toKeyObject(key: Buffer): KeyObject {
  const known = kept.get(key);
  if (known) return known;
  const made = createSecretKey(key);
  kept.set(key, made);
  return made;
}
