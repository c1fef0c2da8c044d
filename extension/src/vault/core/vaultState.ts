import type { Vault } from './vaultContract.ts';

/** `agents` opens with a device key, `personal` with a password and a Secret Key. */
export type VaultKind = 'agents' | 'personal';

/** What was done to the file. Nothing of it is used and nothing is written. */
export type Tampering =
  | 'header-altered'
  | 'downgraded'
  | 'truncated'
  | 'row-removed'
  | 'row-swapped'
  | 'row-rolled-back'
  | 'row-foreign'
  | 'row-altered'
  | 'index-altered';

/** What opening a vault gives. Whatever it is, but `open`, the file was left as it is. */
export type OpenResult =
  | { readonly state: 'open'; readonly vault: Vault }
  /** There is no vault in the folder. */
  | { readonly state: 'absent' }
  /** The agents' vault without a device key, or with one that does not open it: the recovery key does. */
  | { readonly state: 'device-key-lost' }
  /** The password or the Secret Key does not fit; which of the two can't be told. */
  | { readonly state: 'wrong-password'; readonly waitMs: number }
  /** The Secret Key is well formed and of another vault, or of this one before it was changed. */
  | { readonly state: 'wrong-secret-key' }
  /** Too many wrong passwords: nothing was tried. */
  | { readonly state: 'wait'; readonly waitMs: number }
  | { readonly state: 'tampered'; readonly what: Tampering; readonly item?: string }
  /** A whole older file was put back. `openOlder` of the options opens it, when a person says so. */
  | { readonly state: 'rolled-back'; readonly counter: number; readonly known: number }
  /** The place that keeps the counter does not answer. `openOlder` opens the vault without it. */
  | { readonly state: 'counter-unavailable' }
  /** Another vault's file than the one that was asked for: another kind. */
  | { readonly state: 'other-vault' }
  /** Written by a later version. */
  | { readonly state: 'unsupported'; readonly version: number }
  | { readonly state: 'unreadable'; readonly code: string };

/** Why an act on an open vault failed. The words are the messages'. `data` never carries a value. */
export type VaultErrorCode =
  | 'locked'
  | 'no-such-item'
  | 'no-such-field'
  | 'no-such-version'
  | 'no-such-grant'
  | 'changed-elsewhere'
  | 'bad-item'
  | 'bad-key'
  | 'no-private-key'
  | 'not-granted'
  | 'already-answered'
  | 'too-many-asks'
  | 'wrong-password'
  | 'weak-password'
  | 'exists'
  | 'tampered'
  | 'rolled-back'
  | 'busy'
  | 'disk-full'
  | 'not-written'
  | 'random-repeats';

export class VaultError extends Error {
  readonly code: VaultErrorCode;
  readonly data: Readonly<Record<string, string | number>>;

  constructor(code: VaultErrorCode, data: Readonly<Record<string, string | number>> = {}, cause?: unknown) {
    super(`Vault: ${code}`, { cause });
    this.name = 'VaultError';
    this.code = code;
    this.data = data;
  }
}
