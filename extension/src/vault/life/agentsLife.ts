import { Emitter } from '../../emitter.ts';
import type { Disposable } from '../../disposable.ts';
import {
  createAgentsVault,
  openAgentsVault,
  recoverAgentsVault,
  type AgentsResult,
  type AgentsVault,
} from '../core/agentsVault.ts';
import type { VaultPlace } from '../core/openOptions.ts';
import type { Secret } from '../core/secret.ts';
import { freshDeviceKey, SilentKeyring, type VaultSecrets } from './vaultSecrets.ts';
import type { VaultStatus } from './vaultLife.ts';

/** Where it is remembered that a device key was stored, and whether a later window found it again. */
export interface KeptMarker {
  get(): 'none' | 'stored' | 'found-again';
  set(value: 'stored' | 'found-again'): PromiseLike<void>;
}

export interface AgentsLifeOptions {
  readonly place: VaultPlace;
  readonly secrets: VaultSecrets;
  readonly marker: KeptMarker;
  readonly onError: (error: unknown) => void;
}

/**
 * The agents' vault of this window. It opens when it is first needed, without a person, by the device key; it is never
 * created over a file that is there. What is wrong with it is a status with a way out.
 */
export class AgentsLife implements Disposable {
  readonly #options: AgentsLifeOptions;
  readonly #changed: Emitter<undefined>;
  #status: VaultStatus = { state: 'unknown' };
  #vault: AgentsVault | undefined;
  #opening: Promise<void> | undefined;

  constructor(options: AgentsLifeOptions) {
    this.#options = options;
    this.#changed = new Emitter(options.onError);
  }

  /** The status is another one, or something in the vault changed. */
  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  get status(): VaultStatus {
    return this.#status;
  }

  /** Looks once, and answers with the vault where it is open. A vault that a person locked stays so. */
  async open(): Promise<AgentsVault | undefined> {
    if (this.#status.state === 'unknown') await this.retry();
    return this.#vault;
  }

  /** Looks again, whatever was found before. */
  async retry(options: { readonly openOlder?: boolean } = {}): Promise<void> {
    this.#opening ??= this.#open(options).finally(() => (this.#opening = undefined));
    await this.#opening;
  }

  /**
   * Rejects with `exists` where there is a vault, or what is left of one. `isKept` is false where the secret storage did
   * not take the device key: then the recovery key alone opens the vault another time.
   */
  async create(): Promise<{ readonly recoveryKey: string; readonly isKept: boolean }> {
    using deviceKey = freshDeviceKey();
    const { vault, recoveryKey } = await createAgentsVault(this.#options.place, deviceKey);
    return { recoveryKey, isKept: await this.adopt(vault, deviceKey) };
  }

  /** Opens with the recovery key and stores a fresh device key. Answers with what was found. */
  async recover(recoveryKey: string): Promise<AgentsResult['state']> {
    using deviceKey = freshDeviceKey();
    const result = await recoverAgentsVault(this.#options.place, recoveryKey, deviceKey);
    if (result.state === 'open') await this.adopt(result.vault, deviceKey);
    return result.state;
  }

  /** Takes a vault that this device key opens, and keeps the key. False where it could not be kept. */
  async adopt(vault: AgentsVault, deviceKey: Secret): Promise<boolean> {
    const { secrets, marker, onError } = this.#options;
    this.#take({ state: 'open', vault });
    try {
      await secrets.keepDeviceKey(deviceKey);
      await marker.set('stored');
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  lock(): void {
    if (this.#vault) this.#say({ state: 'locked' });
  }

  dispose(): void {
    this.#vault?.lock();
    this.#vault = undefined;
    this.#changed.dispose();
  }

  async #open({ openOlder = false }: { readonly openOlder?: boolean }): Promise<void> {
    const { place, secrets, marker } = this.#options;
    let deviceKey: Secret | undefined;
    try {
      deviceKey = await secrets.deviceKey();
      const result = await openAgentsVault({ ...place, openOlder }, deviceKey);
      if (result.state === 'open') {
        if (marker.get() === 'stored') await marker.set('found-again');
        this.#take(result);
        return;
      }
      const isLost = result.state === 'device-key-lost' && !deviceKey && marker.get() === 'stored';
      if (isLost) this.#say({ state: 'not-kept' });
      else if (isShown(result)) this.#say(result);
    } catch (error) {
      if (!(error instanceof SilentKeyring)) throw error;
      this.#say({ state: 'keyring-silent' });
    } finally {
      deviceKey?.wipe();
    }
  }

  #take(status: { readonly state: 'open'; readonly vault: AgentsVault }): void {
    const { vault } = status;
    if (this.#vault !== vault) this.#vault?.lock();
    this.#vault = vault;
    vault.onChange(() => {
      if (this.#vault === vault) this.#changed.fire(undefined);
    });
    this.#status = status;
    this.#changed.fire(undefined);
  }

  #say(status: VaultStatus): void {
    const before = this.#vault;
    this.#vault = undefined;
    this.#status = status;
    before?.lock();
    this.#changed.fire(undefined);
  }
}

/** A password and a Secret Key play no part in opening by the device key. */
function isShown(
  result: Exclude<AgentsResult, { state: 'open' }>,
): result is Extract<VaultStatus, typeof result> {
  return !['wrong-password', 'wrong-secret-key', 'wait'].includes(result.state);
}
