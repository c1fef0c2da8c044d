import { Buffer } from 'node:buffer';
import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { VaultError } from './vaultState.ts';

/** Before the 32 bytes of a public key in SPKI (RFC 8410). */
const spki = Buffer.from('302a300506032b656e032100', 'hex');

/** A fresh X25519 key, with its raw public half of 32 bytes. */
export function createAgreementKey(): { readonly privateKey: KeyObject; readonly publicKey: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return { privateKey, publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(spki.length) };
}

/**
 * The X25519 secret (RFC 7748) with another's raw public key, for the caller to wipe. Throws `bad-key` for what is no
 * key, and for one of small order: with it, every agreement gives zero (section 6.1).
 */
export function agree(privateKey: KeyObject, publicKey: Uint8Array): Buffer {
  if (publicKey.length !== 32) throw new VaultError('bad-key');
  try {
    const key = Buffer.concat([spki, publicKey]);
    return diffieHellman({ privateKey, publicKey: createPublicKey({ key, format: 'der', type: 'spki' }) });
  } catch {
    throw new VaultError('bad-key');
  }
}
