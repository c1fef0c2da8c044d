import { Buffer } from 'node:buffer';
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** SHA-256 over the parts, one after the other. */
export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** HMAC-SHA256 (RFC 2104) over the parts, one after the other. */
export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Equal in length and content, in a time that tells nothing of the content. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** HKDF-SHA256 (RFC 5869), 32 bytes where no length is given. Throws a RangeError for key material of no bytes. */
export function hkdf(key: Uint8Array, salt: Uint8Array, info: Uint8Array, length = 32): Buffer {
  if (key.length === 0) throw new RangeError('No key material');
  return Buffer.from(hkdfSync('sha256', key, salt, info, length));
}
