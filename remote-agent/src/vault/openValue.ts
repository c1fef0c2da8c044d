import { createDecipheriv, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { UserError } from '../../../protocol/src/errors.ts';
import { sealedValueContext, type ReleasedValue } from '../../../protocol/src/vault.ts';

/** Before the 32 bytes of an X25519 public key in SPKI (RFC 8410). */
const spki = Buffer.from('302a300506032b656e032100', 'hex');
const authTagLength = 16;

/** What vault values for this runner are sealed to. The private key is in memory alone and ends with the runner. */
export interface RecipientKey {
  /** Raw, base64: what `runner/hello` tells. */
  readonly publicKey: string;
  /** The value, for the caller to wipe. Throws `bad-message` for one that was sealed to another key, job, grant or use. */
  open(jobId: string, released: ReleasedValue): Buffer;
  /** Call before the values of a job are opened. Throws `bad-message` the second time: a use is not had twice. */
  begin(jobId: string): void;
}

export function createRecipientKey(): RecipientKey {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const begun = new Set<string>();
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(spki.length);
  return {
    publicKey: raw.toString('base64'),
    open: (jobId, released) => openSealed(privateKey, raw, jobId, released),
    begin(jobId) {
      if (begun.has(jobId)) throw new UserError('bad-message', 'The values of this job were used before');
      begun.add(jobId);
    },
  };
}

/** X25519 (RFC 7748), HKDF-SHA256 (RFC 5869) over both public keys, AES-256-GCM. The other side is the extension's. */
function openSealed(
  privateKey: KeyObject,
  own: Uint8Array,
  jobId: string,
  { grant, wish, sealed }: ReleasedValue,
): Buffer {
  const [ephemeral, iv, ciphertext, tag] = [
    sealed.ephemeralKey,
    sealed.iv,
    sealed.ciphertext,
    sealed.tag,
  ].map((text) => Buffer.from(text, 'base64')) as [Buffer, Buffer, Buffer, Buffer];
  let plain: Buffer | undefined;
  try {
    if (ephemeral.length !== 32 || iv.length !== 12 || tag.length !== authTagLength) throw new RangeError();
    const shared = diffieHellman({
      privateKey,
      publicKey: createPublicKey({ key: Buffer.concat([spki, ephemeral]), format: 'der', type: 'spki' }),
    });
    const key = Buffer.from(
      hkdfSync('sha256', shared, Buffer.concat([ephemeral, own]), 'sallyport vault value 1', 32),
    );
    shared.fill(0);
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength });
    key.fill(0);
    decipher.setAAD(Buffer.from(sealedValueContext(jobId, grant, wish)));
    decipher.setAuthTag(tag);
    plain = decipher.update(ciphertext);
    decipher.final();
    return plain;
  } catch {
    plain?.fill(0);
    const text = `The value ${wish.field} of ${wish.item} was not sealed for this job and this use`;
    throw new UserError('bad-message', text, { item: wish.item, field: wish.field });
  }
}
