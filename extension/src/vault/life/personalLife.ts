import { Emitter } from '../../emitter.ts';
import type { Disposable } from '../../disposable.ts';
import { hasSlept, isLockDue } from '../core/autoLock.ts';
import type { PersonalKeys, VaultPlace } from '../core/openOptions.ts';
import { isVaultThere } from './isVaultThere.ts';
import {
  createPersonalVault,
  openPersonalVault,
  type PersonalResult,
  type SealedPersonalVault,
} from '../core/personalVault.ts';
import type { Secret } from '../core/secret.ts';
import type { VaultStatus } from './vaultLife.ts';

export interface PersonalLifeOptions {
  readonly place: VaultPlace;
  readonly lockAfterMinutes: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls back again and again while the vault is open; disposing stops it. */
  readonly every: (ms: number, tick: () => void) => Disposable;
  readonly onError: (error: unknown) => void;
}

const tickMs = 15_000;

/** The personal vault of this window: opened by a person, locked by itself, on sleep, and by a person. */
export class PersonalLife implements Disposable {
  readonly #options: PersonalLifeOptions;
  readonly #changed: Emitter<undefined>;
  #status: VaultStatus = { state: 'unknown' };
  #open:
    | { readonly vault: SealedPersonalVault; readonly openedAt: number; readonly clock: Disposable }
    | undefined;
  #usedAt = 0;
  #tickedAt = 0;

  constructor(options: PersonalLifeOptions) {
    this.#options = options;
    this.#changed = new Emitter(options.onError);
  }

  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  get status(): VaultStatus {
    return this.#status;
  }

  /** The vault where it is open. What a card or an agent does with it keeps it open no longer. */
  get vault(): SealedPersonalVault | undefined {
    return this.#open?.vault;
  }

  /** The vault for a person's own act, which starts the time without use again. */
  use(): SealedPersonalVault | undefined {
    if (this.#open) this.#usedAt = this.#options.now();
    return this.#open?.vault;
  }

  /** Looks whether there is one. */
  look(): void {
    if (this.#open) return;
    const state = isVaultThere(this.#options.place) ? 'locked' : 'absent';
    if (state !== this.#status.state) this.#say({ state });
  }

  /** Rejects with `weak-password` or `exists`. The Secret Key is shown once. */
  async create(password: Secret): Promise<{ readonly secretKey: string }> {
    const { vault, secretKey } = await createPersonalVault(this.#options.place, password);
    this.adopt(vault);
    return { secretKey };
  }

  /** Answers with what was found; anything but wrong keys and a wait is the status from then on. */
  async unlock(keys: PersonalKeys, options: { readonly openOlder?: boolean } = {}): Promise<PersonalResult> {
    const result = await openPersonalVault({ ...this.#options.place, ...options }, keys);
    if (result.state === 'open') this.adopt(result.vault);
    else if (
      result.state !== 'wrong-password' &&
      result.state !== 'wrong-secret-key' &&
      result.state !== 'wait'
    )
      this.#say(result);
    return result;
  }

  adopt(vault: SealedPersonalVault): void {
    this.#close();
    const now = this.#options.now();
    this.#usedAt = now;
    this.#tickedAt = now;
    const clock = this.#options.every(tickMs, () => this.#tick());
    this.#open = { vault, openedAt: now, clock };
    vault.onChange(() => {
      if (this.#open?.vault === vault) this.#changed.fire(undefined);
    });
    this.#say({ state: 'open', vault });
  }

  lock(): void {
    if (!this.#open) return;
    this.#close();
    this.#say({ state: 'locked' });
  }

  dispose(): void {
    this.#close();
    this.#changed.dispose();
  }

  #tick(): void {
    if (!this.#open) return;
    const now = this.#options.now();
    const slept = hasSlept(this.#tickedAt, now, tickMs);
    this.#tickedAt = now;
    const { openedAt } = this.#open;
    const idleMs = this.#options.lockAfterMinutes() * 60_000;
    if (slept || isLockDue({ idleMs, openedAt, usedAt: this.#usedAt }, now)) this.lock();
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.clock.dispose();
    open?.vault.lock();
  }

  #say(status: VaultStatus): void {
    this.#status = status;
    this.#changed.fire(undefined);
  }
}
