import type { Secrets } from '../../extension/src/keys/keyVault.ts';

/** A secret storage in memory, which can be made to fail as real ones do. */
export class MemorySecrets implements Secrets {
  readonly kept = new Map<string, string>();
  /** `silent`: nothing is ever answered. `throws`: a locked keyring. `forgetful`: it takes everything, and keeps nothing. */
  mood: 'fine' | 'silent' | 'throws' | 'forgetful' = 'fine';

  get(name: string): Promise<string | undefined> {
    return this.#answer(() => this.kept.get(name));
  }

  store(name: string, value: string): Promise<void> {
    return this.#answer(() => {
      if (this.mood !== 'forgetful') this.kept.set(name, value);
    });
  }

  delete(name: string): Promise<void> {
    return this.#answer(() => void this.kept.delete(name));
  }

  #answer<T>(value: () => T): Promise<T> {
    if (this.mood === 'silent') return new Promise(() => undefined);
    if (this.mood === 'throws') return Promise.reject(new Error('The keyring is locked'));
    return Promise.resolve(value());
  }
}
