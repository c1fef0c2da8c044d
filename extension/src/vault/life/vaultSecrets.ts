import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import type { Secrets } from '../../keys/keyVault.ts';
import { headText, parseHead, type CounterStore, type KnownHead } from '../core/counterStore.ts';
import { Secret } from '../core/secret.ts';

/** The secret storage threw or did not answer in time, as a locked keyring does: nothing is concluded from it. */
export class SilentKeyring extends Error {
  constructor(cause?: unknown) {
    super('The secret storage does not answer', { cause });
    this.name = 'SilentKeyring';
  }
}

const deviceKeyName = 'sallyport.vault.deviceKey';
const counterName = (vaultId: string) => `sallyport.vault.counter.${vaultId}`;
const secretKeyName = (folder: 'personal') => `sallyport.vault.secretKey.${folder}`;

/**
 * The device key, 32 bytes in an entry of their own; the counters that make an older file noticed; and the personal
 * vault's Secret Key, where the person wants it kept on this machine.
 */
export class VaultSecrets implements CounterStore {
  readonly #secrets: Secrets;
  readonly #timeoutMs: number;

  constructor(secrets: Secrets, timeoutMs: number) {
    this.#secrets = secrets;
    this.#timeoutMs = timeoutMs;
  }

  /** Undefined where there is none. Rejects with `SilentKeyring`. The caller wipes it. */
  async deviceKey(): Promise<Secret | undefined> {
    const text = await this.#inTime(this.#secrets.get(deviceKeyName));
    return text !== undefined && /^[A-Za-z0-9+/]{43}=$/.test(text) ? Secret.own(fromBase64(text)) : undefined;
  }

  /**
   * Keeps it in the place of the one before, which must not be needed any more: whatever this key is for has to be done
   * first. Rejects with `SilentKeyring`, also where the storage took it and does not give it back.
   */
  async keepDeviceKey(key: Secret): Promise<void> {
    const text = key.use((bytes) => bytes.toString('base64'));
    await this.#inTime(this.#secrets.store(deviceKeyName, text));
    if ((await this.#inTime(this.#secrets.get(deviceKeyName))) !== text) throw new SilentKeyring();
  }

  async read(vaultId: string): Promise<KnownHead | undefined> {
    const text = await this.#inTime(this.#secrets.get(counterName(vaultId)));
    return parseHead(text ?? '');
  }

  async write(vaultId: string, head: KnownHead): Promise<void> {
    await this.#inTime(this.#secrets.store(counterName(vaultId), headText(head)));
  }

  /** Undefined where none is kept here, or where the storage is silent: then the person types it. */
  async secretKey(): Promise<string | undefined> {
    try {
      return await this.#inTime(this.#secrets.get(secretKeyName('personal')));
    } catch {
      return undefined;
    }
  }

  async keepSecretKey(text: string): Promise<void> {
    await this.#inTime(this.#secrets.store(secretKeyName('personal'), text));
  }

  async forgetSecretKey(): Promise<void> {
    await this.#inTime(this.#secrets.delete(secretKeyName('personal')));
  }

  async #inTime<T>(work: PromiseLike<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new SilentKeyring()), this.#timeoutMs);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw error instanceof SilentKeyring ? error : new SilentKeyring(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** 32 fresh bytes, in memory alone. The caller wipes them. */
export function freshDeviceKey(): Secret {
  return Secret.own(randomFillSync(Buffer.allocUnsafeSlow(32)));
}

function fromBase64(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(32);
  bytes.write(text, 'base64');
  return bytes;
}
