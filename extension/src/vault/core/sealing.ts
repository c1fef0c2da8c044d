import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Randomness } from './randomness.ts';

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const authTagLength = 16;

/** What sealing adds to the length. */
const sealBytes = ivBytes + authTagLength;

/** The bytes are not what this key sealed with this additional data. Tells no more than that. */
export class UnsealError extends Error {
  constructor() {
    super('The seal does not hold');
    this.name = 'UnsealError';
  }
}

/** AES-256-GCM (NIST SP 800-38D) with a fresh 96-bit IV and a 128-bit tag: IV, ciphertext and tag in one. */
export function seal(
  key: Uint8Array,
  additional: Uint8Array,
  plain: Uint8Array,
  random: Pick<Randomness, 'draw'>,
): Buffer {
  const iv = random.draw(ivBytes);
  const sealing = createCipheriv(cipher, checkedKey(key), iv, { authTagLength });
  sealing.setAAD(additional);
  const body = sealing.update(plain);
  sealing.final();
  return Buffer.concat([iv, body, sealing.getAuthTag()]);
}

/** The plain bytes, for the caller to wipe. Throws an `UnsealError`; no byte is released before the tag was checked. */
export function unseal(key: Uint8Array, additional: Uint8Array, sealed: Uint8Array): Buffer {
  if (sealed.length < sealBytes) throw new UnsealError();
  const end = sealed.length - authTagLength;
  const opening = createDecipheriv(cipher, checkedKey(key), sealed.subarray(0, ivBytes), { authTagLength });
  opening.setAAD(additional);
  opening.setAuthTag(sealed.subarray(end));
  const plain = opening.update(sealed.subarray(ivBytes, end));
  try {
    opening.final();
  } catch {
    plain.fill(0);
    throw new UnsealError();
  }
  return plain;
}

function checkedKey(key: Uint8Array): Uint8Array {
  if (key.length !== keyBytes) throw new RangeError('A sealing key has 32 bytes');
  return key;
}
