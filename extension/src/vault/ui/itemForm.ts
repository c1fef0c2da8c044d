import { isCanonicalHost } from '../core/itemDrafts.ts';
import {
  idPattern,
  itemLimits,
  type FieldKind,
  type ItemDraft,
  type ItemKind,
  type ItemSummary,
} from '../core/items.ts';
import type { Secret } from '../core/secret.ts';

/** A field of an item that is being edited. A stored value never comes here: it is `kept` or replaced. */
export interface FormField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly value: 'kept' | 'empty' | Secret;
}

export interface ItemForm {
  readonly id: string;
  /** 0 for an item that is not there yet. */
  readonly baseVersion: number;
  readonly title: string;
  readonly kind: ItemKind;
  readonly fields: readonly FormField[];
  readonly hosts: readonly string[];
  readonly tags: readonly string[];
  readonly expiresAt: number | null;
}

/** The fields that an item of a kind starts with. */
const templates: Readonly<Record<ItemKind, readonly (readonly [string, FieldKind])[]>> = {
  login: [
    ['username', 'text'],
    ['password', 'secret'],
    ['address', 'address'],
  ],
  token: [['value', 'secret']],
  keyPair: [
    ['private-key', 'privateKey'],
    ['public-key', 'publicKey'],
  ],
  certificate: [
    ['certificate', 'certificate'],
    ['private-key', 'privateKey'],
  ],
  note: [['text', 'lines']],
  database: [
    ['host', 'text'],
    ['database', 'text'],
    ['username', 'text'],
    ['password', 'secret'],
  ],
};

export function newForm(kind: ItemKind, title: string, id: string): ItemForm {
  return {
    id,
    baseVersion: 0,
    title,
    kind,
    fields: templates[kind].map(([name, fieldKind]) => ({ name, kind: fieldKind, value: 'empty' })),
    hosts: [],
    tags: [],
    expiresAt: null,
  };
}

export function formOf(item: ItemSummary): ItemForm {
  return {
    id: item.id,
    baseVersion: item.version,
    title: item.title,
    kind: item.kind,
    fields: item.fields.map(({ name, kind }) => ({ name, kind, value: 'kept' })),
    hosts: item.hosts,
    tags: item.tags,
    expiresAt: item.expiresAt,
  };
}

/** How much was changed; 0 is nothing to save. */
export function changesOf(form: ItemForm, before: ItemForm): number {
  const isSame = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((each, at) => each === b[at]);
  return [
    form.title !== before.title,
    !isSame(form.hosts, before.hosts),
    !isSame(form.tags, before.tags),
    form.expiresAt !== before.expiresAt,
    ...form.fields.map(
      ({ name, value }) => typeof value === 'object' || !before.fields.some((each) => each.name === name),
    ),
    ...before.fields.map(({ name }) => !form.fields.some((each) => each.name === name)),
  ].filter(Boolean).length;
}

/** What is saved: fields without any value are left out. */
export function draftOf(form: ItemForm): ItemDraft {
  return {
    ...form,
    fields: form.fields
      .filter(({ value }) => value !== 'empty')
      .map(({ name, kind, value }) => ({ name, kind, ...(typeof value === 'object' && { value }) })),
  };
}

export function withValue(form: ItemForm, name: string, value: Secret): ItemForm {
  return {
    ...form,
    fields: form.fields.map((field) => {
      if (field.name !== name) return field;
      if (typeof field.value === 'object') field.value.wipe();
      return { ...field, value };
    }),
  };
}

/** Wipes every value that was typed. */
export function wipeForm({ fields }: ItemForm): void {
  for (const { value } of fields) if (typeof value === 'object') value.wipe();
}

export type FieldNameProblem = 'name' | 'taken';

export function fieldNameProblem(name: string, form: ItemForm): FieldNameProblem | undefined {
  if (!idPattern.test(name)) return 'name';
  return form.fields.some((field) => field.name === name) ? 'taken' : undefined;
}

/** A list that was typed with commas: trimmed, without empty and double ones. */
export function listOf(text: string): string[] {
  return [...new Set(text.split(',').map((each) => each.trim()))].filter((each) => each !== '');
}

/** The first host that is none. */
export function badHost(text: string): string | undefined {
  return listOf(text).find((host) => !isCanonicalHost(host));
}

export function badTag(text: string): string | undefined {
  return listOf(text).find((tag) => tag.length > itemLimits.tagLength);
}

/** The end of a day in local time; null for an empty text, undefined for what is no day. */
export function parseDay(text: string): number | null | undefined {
  if (text.trim() === '') return null;
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim()) ?? [];
  if (year === undefined) return undefined;
  const at = new Date(Number(year), Number(month) - 1, Number(day), 23, 59, 59);
  return at.getMonth() === Number(month) - 1 && at.getDate() === Number(day) ? at.getTime() : undefined;
}
