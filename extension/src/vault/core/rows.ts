import { Buffer } from 'node:buffer';
import { hmac, isEqual } from './digests.ts';
import type { ItemSummary } from './items.ts';
import type { Keyring } from './keyring.ts';
import { lengthPrefixed } from './lengthPrefixed.ts';
import { ownMemory } from './ownMemory.ts';
import type { Randomness } from './randomness.ts';
import { seal, unseal, UnsealError } from './sealing.ts';
import { Secret } from './secret.ts';

/**
 * One version of an item: the values of its fields, each sealed under the row's own random key, which is sealed under
 * the vault's wrapping key.
 *
 *     row = length u32, vault id 16, item mark 16, version u32, sealed key 60,
 *           fields u16, (length u32, sealed value) for each, MAC 32
 *
 * Numbers are big endian; `length` counts everything after itself. The MAC is over everything before it and over the
 * item's entry in the index.
 */
export type Row = Buffer;

/** What a row says it is. Checked by `isAuthenticRow` alone. */
export interface RowClaim {
  readonly vaultId: string;
  /** `itemMark` of its item, in hexadecimal. */
  readonly mark: string;
  readonly version: number;
}

/** The values of the item's fields, in their order, sealed into a row. The values are borrowed. */
export function sealRow(
  keyring: Keyring,
  summary: ItemSummary,
  values: readonly Secret[],
  random: Pick<Randomness, 'draw'>,
): Row {
  const rowKey = random.draw(keyBytes);
  try {
    const sealedKey = seal(keyring.wrapping, keyBinding(keyring.vaultId, summary), rowKey, random);
    const sealed = values.map((value, at) =>
      value.use((bytes) => {
        const padded = pad(bytes);
        try {
          return seal(rowKey, valueBinding(keyring.vaultId, summary, at), padded, random);
        } finally {
          padded.fill(0);
        }
      }),
    );
    return build(keyring, summary, sealedKey, sealed);
  } finally {
    rowKey.fill(0);
  }
}

/** The value of one field. Throws an `UnsealError` where the row is not the one that was sealed for this entry. */
export function openRow(keyring: Keyring, summary: ItemSummary, row: Row, field: number): Secret {
  const parts = parseRow(row);
  if (!parts || !isAuthenticRow(keyring, summary, row)) throw new UnsealError();
  const sealed = parts.values[field];
  if (!sealed) throw new UnsealError();
  const rowKey = unseal(keyring.wrapping, keyBinding(keyring.vaultId, summary), parts.sealedKey);
  try {
    return unpad(unseal(rowKey, valueBinding(keyring.vaultId, summary, field), sealed));
  } finally {
    rowKey.fill(0);
  }
}

/**
 * The same row under another vault's keys: its key is sealed anew, its values are sealed under their binding to that
 * vault. Throws an `UnsealError` where the row is not the one that was sealed for this entry.
 */
export function rekeyRow(
  from: Keyring,
  to: Keyring,
  summary: ItemSummary,
  row: Row,
  random: Pick<Randomness, 'draw'>,
): Row {
  const values = summary.fields.map((_, field) => openRow(from, summary, row, field));
  try {
    return sealRow(to, summary, values, random);
  } finally {
    for (const value of values) value.wipe();
  }
}

/** True where this vault made the row, for exactly this entry. */
export function isAuthenticRow(keyring: Keyring, summary: ItemSummary, row: Row): boolean {
  const end = row.length - macBytes;
  return end > 0 && isEqual(rowMac(keyring, summary, row.subarray(0, end)), row.subarray(end));
}

/** What the row says of itself; undefined where it is no row. */
export function claimOf(row: Row): RowClaim | undefined {
  return parseRow(row)?.claim;
}

/** Tells rows of one item from those of others, to who has the vault's key alone: ids are names, too. */
export function itemMark(keyring: Keyring, item: string): Buffer {
  return hmac(keyring.rows, lengthPrefixed('item', keyring.vaultId, item)).subarray(0, markBytes);
}

/** The length of the row that begins here, with its length field; undefined where there is none. */
export function rowLengthAt(bytes: Buffer, at: number): number | undefined {
  if (at + 4 > bytes.length) return undefined;
  const length = 4 + bytes.readUInt32BE(at);
  return at + length <= bytes.length ? length : undefined;
}

/** An item's entry of the index, as it is written there; a row's MAC covers it. */
export function entryOf(summary: ItemSummary): readonly unknown[] {
  const { id, version, title, kind, fields, hosts, tags, expiresAt, savedAt } = summary;
  return [
    id,
    version,
    title,
    kind,
    fields.map(({ name, kind: fieldKind }) => [name, fieldKind]),
    hosts,
    tags,
    expiresAt,
    savedAt,
  ];
}

const keyBytes = 32;
const sealedKeyBytes = 60;
const macBytes = 32;
const vaultIdBytes = 16;
const markBytes = 16;
/** Up to the first value. */
const fixedBytes = 4 + vaultIdBytes + markBytes + 4 + sealedKeyBytes + 2;
/** Values are padded to a multiple of this, so that their length says little. */
const bucketBytes = 64;

function build(keyring: Keyring, summary: ItemSummary, sealedKey: Buffer, values: readonly Buffer[]): Row {
  const head = Buffer.alloc(4 + vaultIdBytes);
  head.write(keyring.vaultId, 4, 'hex');
  const version = Buffer.alloc(4);
  version.writeUInt32BE(summary.version);
  const count = Buffer.alloc(2);
  count.writeUInt16BE(values.length);
  const pieces = [head, itemMark(keyring, summary.id), version, sealedKey, count];
  for (const value of values) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(value.length);
    pieces.push(length, value);
  }
  head.writeUInt32BE(pieces.reduce((sum, { length }) => sum + length, 0) + macBytes - 4);
  const body = Buffer.concat(pieces);
  return Buffer.concat([body, rowMac(keyring, summary, body)]);
}

function rowMac(keyring: Keyring, summary: ItemSummary, body: Buffer): Buffer {
  return hmac(keyring.rows, lengthPrefixed('row', keyring.vaultId, JSON.stringify(entryOf(summary)), body));
}

interface RowParts {
  readonly claim: RowClaim;
  readonly sealedKey: Buffer;
  readonly values: readonly Buffer[];
}

function parseRow(row: Row): RowParts | undefined {
  const end = row.length - macBytes;
  if (rowLengthAt(row, 0) !== row.length || fixedBytes > end) return undefined;
  let at = 4;
  const take = (length: number) => row.subarray(at, (at += length));
  const vaultId = take(vaultIdBytes).toString('hex');
  const mark = take(markBytes).toString('hex');
  const version = take(4).readUInt32BE();
  const sealedKey = take(sealedKeyBytes);
  const count = take(2).readUInt16BE();
  const values: Buffer[] = [];
  for (let field = 0; field < count; field++) {
    if (at + 4 > end) return undefined;
    const length = take(4).readUInt32BE();
    if (at + length > end) return undefined;
    values.push(take(length));
  }
  return at === end ? { claim: { vaultId, mark, version }, sealedKey, values } : undefined;
}

function keyBinding(vaultId: string, { id, version }: ItemSummary): Buffer {
  return lengthPrefixed('row key', vaultId, id, version);
}

function valueBinding(vaultId: string, summary: ItemSummary, at: number): Buffer {
  const field = summary.fields[at];
  if (!field) throw new RangeError('There is no such field');
  return lengthPrefixed(
    'value',
    vaultId,
    summary.id,
    summary.version,
    field.name,
    field.kind,
    summary.title,
    summary.kind,
  );
}

function pad(bytes: Buffer): Buffer {
  const padded = ownMemory(Math.ceil((4 + bytes.length) / bucketBytes) * bucketBytes);
  padded.writeUInt32BE(bytes.length);
  bytes.copy(padded, 4);
  return padded;
}

function unpad(padded: Buffer): Secret {
  try {
    const length = padded.length < 4 ? Infinity : padded.readUInt32BE();
    if (4 + length > padded.length) throw new UnsealError();
    return Secret.copy(padded.subarray(4, 4 + length));
  } finally {
    padded.fill(0);
  }
}
