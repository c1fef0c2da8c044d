import { showHidden } from '../../../../protocol/src/text.ts';
import {
  fieldKinds,
  idPattern,
  itemKinds,
  itemLimits,
  type FieldDraft,
  type ItemDraft,
  type ItemSummary,
} from './items.ts';
import { VaultError } from './vaultState.ts';

/** What is wrong with a draft. */
export type DraftProblem =
  'id' | 'title' | 'kind' | 'field' | 'field-twice' | 'fields' | 'value' | 'host' | 'tag' | 'expiry';

/** Throws `bad-item` with the problem, and with the name of what has it where that is no value. */
export function assertDraft(draft: ItemDraft): void {
  const bad = (problem: DraftProblem, name = '') => new VaultError('bad-item', { problem, name });
  if (!idPattern.test(draft.id)) throw bad('id');
  if (!isPlain(draft.title, itemLimits.titleLength)) throw bad('title');
  if (!itemKinds.includes(draft.kind)) throw bad('kind');
  if (draft.fields.length === 0 || draft.fields.length > itemLimits.fields) throw bad('fields');
  const names = new Set<string>();
  for (const { name, kind, value } of draft.fields) {
    if (!idPattern.test(name) || !fieldKinds.includes(kind)) throw bad('field', name);
    if (names.has(name)) throw bad('field-twice', name);
    if (value && value.length > itemLimits.valueBytes) throw bad('value', name);
    names.add(name);
  }
  if (draft.hosts.length > itemLimits.hosts) throw bad('host');
  for (const host of draft.hosts) if (!isCanonicalHost(host)) throw bad('host', host);
  if (draft.tags.length > itemLimits.tags) throw bad('tag');
  for (const tag of draft.tags) if (!isPlain(tag, itemLimits.tagLength)) throw bad('tag', tag);
  if (draft.expiresAt !== null && !Number.isSafeInteger(draft.expiresAt)) throw bad('expiry');
}

/** What the draft is saved as. Throws `changed-elsewhere` where it was made from another version. */
export function summaryOfDraft(
  draft: ItemDraft,
  current: ItemSummary | undefined,
  lastVersion: number,
  now: number,
): ItemSummary {
  if ((current?.version ?? 0) !== draft.baseVersion)
    throw new VaultError('changed-elsewhere', { item: draft.id, version: current?.version ?? 0 });
  return {
    id: draft.id,
    version: lastVersion + 1,
    title: draft.title,
    kind: draft.kind,
    fields: draft.fields.map(({ name, kind }) => ({ name, kind })),
    hosts: [...draft.hosts],
    tags: [...draft.tags],
    expiresAt: draft.expiresAt,
    savedAt: now,
  };
}

/** The field of the version before that a draft's field without value keeps. Throws `no-such-field`. */
export function keptField(field: FieldDraft, current: ItemSummary | undefined): number {
  const at = current?.fields.findIndex(({ name }) => name === field.name) ?? -1;
  if (at < 0) throw new VaultError('no-such-field', { field: field.name });
  return at;
}

/**
 * `host` or `host:port` as a URL writes it: lower case, Punycode, IP addresses in their one form, no dot at the end.
 */
export function isCanonicalHost(host: string): boolean {
  const [, name = '', port] = /^(.+?)(?::([1-9][0-9]{0,4}))?$/.exec(host) ?? [];
  if (host.length > itemLimits.hostLength || name.endsWith('.') || Number(port ?? 1) > 65535) return false;
  // A URL's parser takes these away, or takes them for another part.
  if (/[^a-z0-9.:[\]_-]/.test(name)) return false;
  return URL.parse(`https://${name}/`)?.hostname === name;
}

/** A text for one line of a list: not empty, nothing hidden in it. */
function isPlain(text: string, length: number): boolean {
  return text.trim() === text && text !== '' && text.length <= length && showHidden(text) === text;
}
