import { Buffer } from 'node:buffer';
import { sha256 } from './digests.ts';
import type { Grant, UseLine } from './grants.ts';
import { fieldKinds, itemKinds, type FieldSummary, type ItemSummary } from './items.ts';
import type { Keyring } from './keyring.ts';
import { lengthPrefixed } from './lengthPrefixed.ts';
import type { Randomness } from './randomness.ts';
import { entryOf, type Row } from './rows.ts';
import { seal, unseal } from './sealing.ts';

/**
 * What one change adds to the log: rows, and a sealed index of them with everything that has no value in it.
 *
 *     frame = magic u32, sequence u32, length of the index u32, length of the rows u32, sealed index, rows
 *
 * The index is sealed for its vault, its log and its place in it. The log's digest is a chain over whole frames.
 */
export interface FrameContent {
  /** Applied in this order: items, removals, uses, grants. */
  readonly items: readonly { readonly summary: ItemSummary; readonly row: Row }[];
  /** Items that are gone, with their last version: the next item of that name goes on counting. */
  readonly removed: readonly { readonly id: string; readonly version: number }[];
  readonly uses: readonly UseLine[];
  /** Whole grants, each in place of the one with its id. */
  readonly grants: readonly Grant[];
}

/** A frame as it was read. `rows` is empty where only the index was asked for. */
export interface Frame {
  readonly items: readonly { readonly summary: ItemSummary; readonly rowLength: number }[];
  readonly removed: FrameContent['removed'];
  readonly uses: readonly UseLine[];
  readonly grants: readonly Grant[];
}

export interface FrameHead {
  readonly sequence: number;
  readonly indexBytes: number;
  readonly rowsBytes: number;
}

export const frameHeadBytes = 16;
/** More is no frame: nothing is allocated for it. */
const frameLimits = { indexBytes: 16 * 1024 * 1024, rowsBytes: 256 * 1024 * 1024 } as const;

export const noContent: FrameContent = { items: [], removed: [], uses: [], grants: [] };

export function sealFrame(
  keyring: Keyring,
  place: { readonly log: number; readonly sequence: number },
  content: FrameContent,
  random: Pick<Randomness, 'draw'>,
): Buffer {
  const lists = new ListTable();
  const items = content.items.map(({ summary, row }) => [row.length, ...indexEntry(summary, lists)]);
  const index = Buffer.from(
    JSON.stringify({
      lists: lists.texts.map((text) => JSON.parse(text) as unknown),
      items,
      removed: content.removed.map(({ id, version }) => [id, version]),
      uses: content.uses,
      grants: content.grants,
    }),
  );
  const sealed = seal(keyring.index, indexBinding(keyring.vaultId, place), index, random);
  const rows = content.items.map(({ row }) => row);
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt32BE(magic);
  head.writeUInt32BE(place.sequence, 4);
  head.writeUInt32BE(sealed.length, 8);
  head.writeUInt32BE(
    rows.reduce((sum, { length }) => sum + length, 0),
    12,
  );
  return Buffer.concat([head, sealed, ...rows]);
}

/** Undefined where the bytes begin no frame. */
export function parseFrameHead(bytes: Buffer): FrameHead | undefined {
  if (bytes.length < frameHeadBytes || bytes.readUInt32BE() !== magic) return undefined;
  const [sequence, indexBytes, rowsBytes] = [4, 8, 12].map((at) => bytes.readUInt32BE(at)) as [
    number,
    number,
    number,
  ];
  if (indexBytes > frameLimits.indexBytes || rowsBytes > frameLimits.rowsBytes) return undefined;
  return { sequence, indexBytes, rowsBytes };
}

/** Throws an `UnsealError` where the index was not sealed for this place, and a SyntaxError where it is none. */
export function openIndex(
  keyring: Keyring,
  place: { readonly log: number; readonly sequence: number },
  sealed: Buffer,
): Frame {
  const index = JSON.parse(
    unseal(keyring.index, indexBinding(keyring.vaultId, place), sealed).toString('utf8'),
  ) as IndexJson;
  const lists = index.lists.map(shared);
  return {
    items: index.items.map((entry) => ({ summary: summaryOf(entry, lists), rowLength: entry[0] })),
    removed: index.removed.map(([id, version]) => ({ id, version })),
    uses: index.uses,
    grants: index.grants,
  };
}

/** Where the chain of a log begins. */
export function firstDigest(vaultId: string, log: number): Buffer {
  return sha256(lengthPrefixed('log', vaultId, log));
}

export function nextDigest(before: Buffer, frame: Uint8Array): Buffer {
  return sha256(before, frame);
}

/** "SPF1". */
const magic = 0x53504631;

/** Sealed by this vault, so its shape is known. Lists that items share are written once, and named by their place. */
interface IndexJson {
  readonly lists: readonly (readonly unknown[])[];
  readonly items: readonly EntryJson[];
  readonly removed: readonly [string, number][];
  readonly uses: readonly UseLine[];
  readonly grants: readonly Grant[];
}
type EntryJson = readonly [
  rowLength: number,
  id: string,
  version: number,
  title: string,
  kind: string,
  fields: number,
  hosts: number,
  tags: number,
  expiresAt: number | null,
  savedAt: number,
];

class ListTable {
  readonly texts: string[] = [];
  readonly #places = new Map<string, number>();

  place(list: unknown): number {
    const text = JSON.stringify(list);
    const place = this.#places.get(text) ?? this.texts.push(text) - 1;
    this.#places.set(text, place);
    return place;
  }
}

function indexEntry(summary: ItemSummary, lists: ListTable): readonly unknown[] {
  const [id, version, title, kind, fields, hosts, tags, ...rest] = entryOf(summary);
  return [id, version, title, kind, lists.place(fields), lists.place(hosts), lists.place(tags), ...rest];
}

function indexBinding(vaultId: string, { log, sequence }: { log: number; sequence: number }): Buffer {
  return lengthPrefixed('index', vaultId, log, sequence);
}

function summaryOf(entry: EntryJson, lists: readonly SharedList[]): ItemSummary {
  const [, id, version, title, kind, fields, hosts, tags, expiresAt, savedAt] = entry;
  return {
    id,
    version,
    title,
    kind: known(itemKinds, kind),
    fields: at(lists, fields).fields,
    hosts: at(lists, hosts).texts,
    tags: at(lists, tags).texts,
    expiresAt,
    savedAt,
  };
}

/** One list of the table, as what it is used for. */
interface SharedList {
  readonly fields: readonly FieldSummary[];
  readonly texts: readonly string[];
}

const sharedLists = new Map<string, SharedList>();
const sharedListsLimit = 1000;

/** The same list in many frames is one in memory, so that a hundred thousand items stay small. */
function shared(list: readonly unknown[]): SharedList {
  const key = JSON.stringify(list);
  const found = sharedLists.get(key);
  if (found) return found;
  const isOfFields = list.every((each) => Array.isArray(each));
  const made = {
    fields: isOfFields
      ? (list as [string, string][]).map(([name, kind]) => ({ name, kind: known(fieldKinds, kind) }))
      : [],
    texts: isOfFields ? [] : (list as string[]),
  };
  if (sharedLists.size < sharedListsLimit) sharedLists.set(key, made);
  return made;
}

function at<T>(list: readonly T[], place: number): T {
  const found = list[place];
  if (found === undefined) throw new SyntaxError('Not a place of the table');
  return found;
}

function known<Name extends string>(names: readonly Name[], name: string): Name {
  const found = names.find((each) => each === name);
  if (!found) throw new SyntaxError('Not a kind');
  return found;
}
