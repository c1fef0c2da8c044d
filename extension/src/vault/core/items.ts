import type { Secret } from './secret.ts';

export const itemKinds = ['login', 'token', 'keyPair', 'certificate', 'note', 'database'] as const;
export type ItemKind = (typeof itemKinds)[number];

/** How a field is edited and shown. Every field's value is sealed, whatever its kind. */
export const fieldKinds = [
  'text',
  'secret',
  'address',
  'lines',
  'privateKey',
  'publicKey',
  'certificate',
] as const;
export type FieldKind = (typeof fieldKinds)[number];

/** A field without its value. `name` matches `idPattern`, so that a manifest can name it. */
export interface FieldSummary {
  readonly name: string;
  readonly kind: FieldKind;
}

/** What can be listed of the current version of an item. Times are milliseconds since the epoch. */
export interface ItemSummary {
  /** Matches `idPattern`; what manifests and grants name. */
  readonly id: string;
  readonly version: number;
  readonly title: string;
  readonly kind: ItemKind;
  readonly fields: readonly FieldSummary[];
  /** Canonical hosts, each `host` or `host:port`, that a value may be sent to. */
  readonly hosts: readonly string[];
  readonly tags: readonly string[];
  readonly expiresAt: number | null;
  readonly savedAt: number;
}

/** A field to save. Without a value it keeps the one of the version before. */
export interface FieldDraft extends FieldSummary {
  /** Borrowed: it is not wiped. */
  readonly value?: Secret;
}

export interface ItemDraft {
  readonly id: string;
  /** The version that was edited; 0 for an item that is not there yet. Another one in the vault: `changed-elsewhere`. */
  readonly baseVersion: number;
  readonly title: string;
  readonly kind: ItemKind;
  readonly fields: readonly FieldDraft[];
  readonly hosts: readonly string[];
  readonly tags: readonly string[];
  readonly expiresAt: number | null;
}

/** Of an item, a field, and a single path component. */
export const idPattern = /^[a-z][a-z0-9-]{0,63}$/;

export const itemLimits = {
  titleLength: 200,
  fields: 64,
  hosts: 64,
  tags: 32,
  tagLength: 64,
  hostLength: 260,
  /** Bytes of one value. */
  valueBytes: 1024 * 1024,
  /** Versions of an item that are kept; older ones are dropped when the file is rewritten. */
  versions: 50,
} as const;
