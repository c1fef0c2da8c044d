import type { Buffer } from 'node:buffer';
import type { Grant, GrantDraft, UseLine } from './grants.ts';
import type { ItemDraft, ItemSummary } from './items.ts';
import type { PersonalKeys } from './openOptions.ts';
import type { Secret } from './secret.ts';
import type { VaultKind } from './vaultState.ts';

/**
 * An open vault. Names are at hand, values are unsealed one at a time. Everything that changes is on the disk when its
 * promise resolves; where it rejects with a `VaultError`, nothing changed. After `lock`, all but `id` and `kind` throw
 * `locked`. Every asynchronous method looks first whether another process changed the vault.
 */
export interface Vault {
  /** 32 lower-case hexadecimal digits. */
  readonly id: string;
  readonly kind: VaultKind;
  readonly isLocked: boolean;
  /** False where no `CounterStore` keeps the counter: an older file that was put back whole is not noticed. */
  readonly isRollbackGuarded: boolean;

  /** By title, then id. */
  list(): readonly ItemSummary[];
  get(item: string): ItemSummary | undefined;
  /** The versions that are kept, newest first, the current one included. */
  history(item: string): readonly ItemSummary[];
  /** The caller wipes it. Rejects with `no-such-…`, or `tampered` with the item where the row is not what was saved. */
  open(item: string, field: string, version?: number): Promise<Secret>;

  /** A next version of an item, or the first. Accepted grants of the version before end, unless they are carried. */
  save(draft: ItemDraft, options?: { readonly carryGrants?: boolean }): Promise<ItemSummary>;
  /** All of them or none. */
  saveAll(drafts: readonly ItemDraft[]): Promise<readonly ItemSummary[]>;
  /** The item with all its versions; their bytes leave the file, their grants end. */
  remove(item: string): Promise<void>;

  /** Saves a fresh Ed25519 key pair as the fields `private-key` (PKCS #8 PEM) and `public-key` (OpenSSH line). */
  generateKeyPair(draft: Omit<ItemDraft, 'kind' | 'fields' | 'baseVersion'>): Promise<ItemSummary>;
  /** Ed25519 signature (64 bytes) by the `private-key` of a key pair, which stays inside. */
  sign(item: string, data: Uint8Array): Promise<Buffer>;

  grants(): readonly Grant[];
  /** A grant that waits for a person. The same wish that waits already is returned as it is. */
  ask(draft: GrantDraft): Promise<Grant>;
  /** A person's answer, once. `limits` may be narrower or wider than what was asked: the person decides. */
  answer(grant: string, answer: 'accepted' | 'declined', limits?: Grant['limits']): Promise<Grant>;
  revoke(grant: string): Promise<void>;
  /** Counts one use and writes its line, before the value is released. Rejects with `not-granted` and the reason. */
  consume(grant: string, use: { readonly host: string }): Promise<void>;
  /** The latest lines, newest first. */
  uses(): readonly UseLine[];
  /** Lines for what a person did without a grant, such as a reveal. */
  note(lines: readonly Omit<UseLine, 'at'>[]): Promise<void>;

  /** True where another process had changed the vault. */
  refresh(): Promise<boolean>;
  /** Called after every change, whoever made it, and after the lock. */
  onChange(listener: () => void): Disposable;

  /** A sealed copy of everything, mode 0600. Rejects with `exists` rather than overwrite. */
  exportBackup(path: string, passphrase: Secret): Promise<void>;

  /** Wipes the keys. Safe to call twice. */
  lock(): void;
}

export interface PersonalVault extends Vault {
  /**
   * Seals everything under fresh keys, so that a copy of the file from before and the password from before open nothing
   * that comes after. Resolves with the Secret Key that counts from now on: the same one, or a fresh one where asked.
   * Rejects with `wrong-password` where `current` does not open the vault.
   */
  changePassword(
    current: PersonalKeys,
    next: Secret,
    options?: { readonly renewSecretKey?: boolean },
  ): Promise<{ readonly secretKey: string }>;
}
