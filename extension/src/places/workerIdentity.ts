import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { Secrets } from '../keys/keyVault.ts';

const secretName = 'sallyport.worker.identity';
/** SubjectPublicKeyInfo of P-256 up to the point: what a certificate to be signed is for. */
const leafKeyHead = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');

/**
 * The Ed25519 identity by which pinned workers know this computer. The private key is in VS Code's secret storage and
 * leaves this class as signatures of certificates alone.
 */
export class WorkerIdentity {
  readonly #secrets: Secrets;
  #key: Promise<KeyObject> | undefined;
  #made: KeyObject | undefined;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** SubjectPublicKeyInfo, DER, base64. */
  async publicKey(): Promise<string> {
    const key = createPublicKey(await this.#open());
    return key.export({ format: 'der', type: 'spki' }).toString('base64');
  }

  /** Signs the part of a certificate that is to be signed; throws for anything that does not look like one. */
  async sign(certificate: string): Promise<string> {
    const bytes = Buffer.from(certificate, 'base64');
    if (bytes[0] !== 0x30 || !bytes.includes(leafKeyHead)) throw new Error('Not a certificate to be signed');
    return sign(null, bytes, await this.#open()).toString('base64');
  }

  #open(): Promise<KeyObject> {
    // Not kept: two windows that made one at once have the one that stays from then on.
    this.#key ??= this.#load().finally(() => (this.#key = undefined));
    return this.#key;
  }

  async #load(): Promise<KeyObject> {
    const kept = await this.#secrets.get(secretName);
    if (kept !== undefined) return createPrivateKey(kept);
    // A storage that keeps nothing gets the same one each time.
    this.#made ??= generateKeyPairSync('ed25519').privateKey;
    await this.#secrets.store(secretName, this.#made.export({ format: 'pem', type: 'pkcs8' }).toString());
    const stored = await this.#secrets.get(secretName);
    return stored === undefined ? this.#made : createPrivateKey(stored);
  }
}
