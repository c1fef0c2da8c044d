import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { ownMemory } from './ownMemory.ts';
import { VaultError } from './vaultState.ts';

/** Before the 32 bytes of a private key in PKCS #8, and of a public key in SPKI (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const spki = Buffer.from('302a300506032b6570032100', 'hex');

const prime = 2n ** 255n - 19n;
/** The second coordinates of the eight points of small order: 0, ±1 and the two of order 8 (RFC 8032, section 5.1). */
const smallOrder = new Set([
  0n,
  1n,
  prime - 1n,
  BigInt('0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7'),
  BigInt('0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826'),
]);

/** A 64-byte Ed25519 signature (RFC 8032) by a 32-byte seed. */
export function signBytes(seed: Uint8Array, data: Uint8Array): Buffer {
  const key = privateKeyDer(seed);
  try {
    return sign(null, data, { key, format: 'der', type: 'pkcs8' });
  } finally {
    key.fill(0);
  }
}

/**
 * False for a signature of another length, too, and for a key that is none or under which forged signatures hold: of
 * small order, or not in canonical form.
 */
export function isSignature(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean {
  if (!isStrongPublicKey(publicKey) || signature.length !== 64) return false;
  try {
    return verify(
      null,
      data,
      { key: Buffer.concat([spki, publicKey]), format: 'der', type: 'spki' },
      signature,
    );
  } catch {
    return false;
  }
}

/** The 32-byte public key of a seed. */
export function publicKeyOf(seed: Uint8Array): Buffer {
  const key = privateKeyDer(seed);
  try {
    const made = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
    return made.export({ format: 'der', type: 'spki' }).subarray(spki.length);
  } finally {
    key.fill(0);
  }
}

/** The seed of a PKCS #8 Ed25519 key in PEM, for the caller to wipe. Throws `bad-key`. */
export function seedOfPem(pem: Uint8Array): Buffer {
  let der: Buffer;
  try {
    const key = createPrivateKey({
      key: Buffer.from(pem.buffer, pem.byteOffset, pem.byteLength),
      format: 'pem',
    });
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('Another type of key');
    der = key.export({ format: 'der', type: 'pkcs8' });
  } catch {
    throw new VaultError('bad-key');
  }
  const seed = ownMemory(32);
  der.copy(seed, 0, der.length - 32);
  der.fill(0);
  return seed;
}

/** PKCS #8 in PEM, for the caller to wipe. */
export function pemOfSeed(seed: Uint8Array): Buffer {
  const der = privateKeyDer(seed);
  const body = base64Bytes(der);
  der.fill(0);
  const pem = ownMemory(pemBegin.length + body.length + pemEnd.length);
  pem.write(pemBegin, 'latin1');
  body.copy(pem, pemBegin.length);
  pem.write(pemEnd, pemBegin.length + body.length, 'latin1');
  body.fill(0);
  return pem;
}

/** The line of an `authorized_keys` file (RFC 4253, section 6.6; RFC 8709), without a comment. */
export function openSshLine(publicKey: Uint8Array): string {
  const name = Buffer.from('ssh-ed25519');
  const blob = Buffer.concat([lengthOf(name), name, lengthOf(publicKey), publicKey]);
  return `ssh-ed25519 ${blob.toString('base64')}`;
}

const pemBegin = '-----BEGIN PRIVATE KEY-----\n';
const pemEnd = '\n-----END PRIVATE KEY-----\n';

function isStrongPublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32) return false;
  const bytes = Buffer.from(publicKey).reverse();
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  const y = BigInt(`0x${bytes.toString('hex')}`);
  return y < prime && !smallOrder.has(y);
}

function privateKeyDer(seed: Uint8Array): Buffer {
  if (seed.length !== 32) throw new RangeError('A seed has 32 bytes');
  const der = ownMemory(pkcs8.length + 32);
  pkcs8.copy(der);
  der.set(seed, pkcs8.length);
  return der;
}

function lengthOf(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return length;
}

/** Base64 (RFC 4648) without a string on the way, which could not be wiped. */
function base64Bytes(bytes: Uint8Array): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const out = ownMemory(Math.ceil(bytes.length / 3) * 4).fill('=');
  for (let at = 0, to = 0; at < bytes.length; at += 3, to += 4) {
    const left = bytes.length - at;
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    for (let place = 0; place < Math.min(4, left + 1); place++)
      out[to + place] = alphabet.charCodeAt((group >> (18 - 6 * place)) & 63);
  }
  return out;
}
