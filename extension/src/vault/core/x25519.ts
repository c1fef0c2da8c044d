import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, diffieHellman, randomBytes } from 'node:crypto';
import { ownMemory } from './ownMemory.ts';
import { VaultError } from './vaultState.ts';

/** Before the 32 bytes of a private key in PKCS #8, and of a public key in SPKI (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const spki = Buffer.from('302a300506032b656e032100', 'hex');

/** The X25519 secret (RFC 7748), for the caller to wipe. Throws `bad-key` for a share that leaves nothing secret. */
export function agree(privateKey: Uint8Array, publicKey: Uint8Array): Buffer {
  if (privateKey.length !== 32 || publicKey.length !== 32) throw new VaultError('bad-key');
  const der = privateKeyDer(privateKey);
  try {
    return diffieHellman({
      privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
      publicKey: createPublicKey({ key: Buffer.concat([spki, publicKey]), format: 'der', type: 'spki' }),
    });
  } catch {
    throw new VaultError('bad-key');
  } finally {
    der.fill(0);
  }
}

/** The 32-byte public key of a private one. */
export function agreementPublicKey(privateKey: Uint8Array): Buffer {
  const der = privateKeyDer(privateKey);
  try {
    const made = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
    return made.export({ format: 'der', type: 'spki' }).subarray(spki.length);
  } finally {
    der.fill(0);
  }
}

/** Throws `bad-key` for a public key of small order: with it, every agreement gives zero (RFC 7748, section 6.1). */
export function assertRecipient(publicKey: Uint8Array): void {
  const probe = randomBytes(32);
  agree(probe, publicKey).fill(0);
}

function privateKeyDer(privateKey: Uint8Array): Buffer {
  const der = ownMemory(pkcs8.length + privateKey.length);
  pkcs8.copy(der);
  der.set(privateKey, pkcs8.length);
  return der;
}
