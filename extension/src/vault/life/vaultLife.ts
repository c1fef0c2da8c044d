import type { Vault } from '../core/vaultContract.ts';
import type { OpenResult } from '../core/vaultState.ts';

/** What a vault is at the moment, as the window knows it. */
export type VaultStatus =
  /** Nobody has looked yet. */
  | { readonly state: 'unknown' }
  | { readonly state: 'open'; readonly vault: Vault }
  /** Locked by a person, by itself, or not opened yet: its keys are not in memory. */
  | { readonly state: 'locked' }
  /** The secret storage does not answer. */
  | { readonly state: 'keyring-silent' }
  /** The device key was stored by a window before this one and is gone: the storage keeps nothing over a restart. */
  | { readonly state: 'not-kept' }
  | Exclude<OpenResult, { state: 'open' | 'wrong-password' | 'wrong-secret-key' | 'wait' }>;
