import type { CounterStore } from './counterStore.ts';
import type { PasswordDerivation } from './passwordKey.ts';
import type { Secret } from './secret.ts';
import type { VaultFiles } from './vaultFiles.ts';

/** What every vault is made with. */
export interface VaultPlace {
  /** Created with mode 0700 where it is not there. Nothing but this vault may be in it. */
  readonly folder: string;
  /** Null where there is no second place. */
  readonly counters: CounterStore | null;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly random?: (bytes: number) => Uint8Array;
  readonly files?: VaultFiles;
  readonly derive?: PasswordDerivation;
}

export interface OpenOptions extends VaultPlace {
  /** A person's yes to an older file that was put back whole: its counter is raised above the known one. */
  readonly openOlder?: boolean;
}

/** The two secrets of the personal vault. Both are borrowed. `secretKey` is the text of the kit, in any spelling. */
export interface PersonalKeys {
  readonly password: Secret;
  readonly secretKey: string;
}
