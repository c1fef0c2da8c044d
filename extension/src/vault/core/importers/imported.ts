import { Secret } from '../secret.ts';
import { isCanonicalHost } from '../itemDrafts.ts';
import { itemLimits, type FieldDraft, type FieldKind, type ItemDraft, type ItemKind } from '../items.ts';
import { showHidden } from '../../../../../protocol/src/text.ts';

/** What a file of another tool comes to. The caller wipes the values of the drafts. */
export interface Imported {
  readonly drafts: readonly ItemDraft[];
  /** What was left out: where it stands in the file, counted from 1, and why. Never a value. */
  readonly skipped: readonly { readonly at: number; readonly why: SkipReason }[];
}

export type SkipReason = 'no-value' | 'kind' | 'too-long' | 'not-text' | 'too-many-fields';

/** The file is not what it was taken for. `line` counts from 1 where there is one. */
export class ImportError extends Error {
  readonly code: 'encrypted' | 'malformed' | 'unknown-columns' | 'too-large';
  readonly line: number | undefined;

  constructor(code: ImportError['code'], line?: number) {
    super(`Import: ${code}`);
    this.name = 'ImportError';
    this.code = code;
    this.line = line;
  }
}

export const importLimits = { characters: 64 * 1024 * 1024, items: 20_000 } as const;

/** One record of a file, before it has an id. Fields without a value are left out. */
export interface ImportedRecord {
  readonly title: string;
  readonly kind: ItemKind;
  readonly fields: readonly { readonly name: string; readonly kind: FieldKind; readonly value: string }[];
  readonly addresses: readonly string[];
  readonly tags: readonly string[];
}

/** Drafts with ids of their own: `isTaken` says which ones the vault has. */
export function toImported(
  records: readonly (ImportedRecord | SkipReason)[],
  isTaken: (id: string) => boolean,
): Imported {
  if (records.length > importLimits.items) throw new ImportError('too-large');
  const drafts: ItemDraft[] = [];
  const skipped: Imported['skipped'][number][] = [];
  const taken = new Set<string>();
  records.forEach((record, index) => {
    const draft = typeof record === 'string' ? record : toDraft(record, (id) => taken.has(id) || isTaken(id));
    if (typeof draft === 'string') return void skipped.push({ at: index + 1, why: draft });
    taken.add(draft.id);
    drafts.push(draft);
  });
  return { drafts, skipped };
}

/** A name that manifests can use: `DB_PASSWORD` gives `db-password`. */
export function toId(text: string, isTaken: (id: string) => boolean): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 56)
    .replace(/-+$/, '');
  const base = plain === '' ? 'item' : plain;
  for (let count = 1; ; count++) {
    const id = count === 1 ? base : `${base}-${count}`;
    if (!isTaken(id)) return id;
  }
}

function toDraft(record: ImportedRecord, isTaken: (id: string) => boolean): ItemDraft | SkipReason {
  const given = record.fields.filter(({ value }) => value !== '');
  if (given.length === 0) return 'no-value';
  if (given.length > itemLimits.fields) return 'too-many-fields';
  if (given.some(({ value }) => !value.isWellFormed())) return 'not-text';
  if (given.some(({ value }) => value.length > itemLimits.valueBytes / 4)) return 'too-long';
  const names = new Set<string>();
  const fields = given.map(({ name, kind, value }): FieldDraft => {
    const id = toId(name, (each) => names.has(each));
    names.add(id);
    return { name: id, kind, value: Secret.fromText(value) };
  });
  return {
    id: toId(record.title, isTaken),
    baseVersion: 0,
    title: oneLine(record.title, itemLimits.titleLength) || 'Imported item',
    kind: record.kind,
    fields,
    hosts: [...new Set(record.addresses.flatMap(hostOf))].slice(0, itemLimits.hosts),
    tags: [...new Set(record.tags.map((tag) => oneLine(tag, itemLimits.tagLength)))]
      .filter((tag) => tag !== '')
      .slice(0, itemLimits.tags),
    expiresAt: null,
  };
}

/** The host of a web address, as a URL writes it; nothing for any other address. */
function hostOf(address: string): string[] {
  const url = URL.parse(address.includes('://') ? address : `https://${address}`);
  if (!url || !/^https?:$/.test(url.protocol)) return [];
  return isCanonicalHost(url.host) ? [url.host] : [];
}

function oneLine(text: string, length: number): string {
  return showHidden(text.trim().replace(/\s+/g, ' ')).slice(0, length).toWellFormed().trim();
}
