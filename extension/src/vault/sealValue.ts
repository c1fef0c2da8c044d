import { Buffer } from 'node:buffer';
import { createCipheriv, randomBytes, type KeyObject } from 'node:crypto';
import { UserError } from '../../../protocol/src/errors.ts';
import { sealedValueContext, type SealedValue, type VaultWish } from '../../../protocol/src/vault.ts';
import { hkdf } from './core/digests.ts';
import { agree, createAgreementKey } from './core/x25519.ts';

const authTagLength = 16;

/** What a value is sealed for: it opens for this job, grant and use alone. */
export interface SealContext {
  readonly jobId: string;
  readonly grant: string;
  readonly wish: VaultWish;
}

/**
 * Seals a value to a runner's key (X25519, HKDF-SHA256 over both public keys, AES-256-GCM), with a key pair made for
 * this value alone. Throws `bad-message` for what is no key, or one of small order (RFC 7748, section 6.1).
 */
export function sealValue(recipient: string, context: SealContext, value: Uint8Array): SealedValue {
  const theirs = Buffer.from(recipient, 'base64');
  const ours = createAgreementKey();
  const shared = agreed(ours.privateKey, theirs);
  const key = hkdf(shared, Buffer.concat([ours.publicKey, theirs]), Buffer.from('sallyport vault value 1'));
  try {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength });
    cipher.setAAD(Buffer.from(sealedValueContext(context.jobId, context.grant, context.wish)));
    const ciphertext = Buffer.concat([cipher.update(value), cipher.final()]);
    return {
      ephemeralKey: ours.publicKey.toString('base64'),
      iv: iv.toString('base64'),
      ciphertext: ciphertext.toString('base64'),
      tag: cipher.getAuthTag().toString('base64'),
    };
  } finally {
    key.fill(0);
    shared.fill(0);
  }
}

function agreed(ours: KeyObject, theirs: Uint8Array): Buffer {
  try {
    return agree(ours, theirs);
  } catch {
    throw new UserError('bad-message', 'The runner’s key for vault values is no X25519 key');
  }
}
