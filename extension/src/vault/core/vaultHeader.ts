import { Buffer } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { isAcceptedCost, type ScryptCost } from './passwordKey.ts';

/** `vault.json`: who may open the vault, and how far it has come. Bytes are base64, ids and digests hexadecimal. */
export interface VaultHeader {
  readonly kind: HeaderKind;
  readonly id: string;
  readonly slots: readonly KeySlot[];
  /** The Ed25519 key that signs this file, derived from the vault's key. */
  readonly publicKey: Buffer;
  readonly head: Head;
}

const headerKinds = ['agents', 'personal', 'agents-backup', 'personal-backup'] as const;
export type HeaderKind = (typeof headerKinds)[number];

/** One way to the vault's key, which is sealed under a key of what is named. */
export type KeySlot =
  | { readonly type: 'device'; readonly salt: Buffer; readonly sealedKey: Buffer }
  | { readonly type: 'recovery'; readonly keyId: string; readonly salt: Buffer; readonly sealedKey: Buffer }
  | {
      readonly type: 'password';
      readonly scrypt: ScryptCost;
      readonly keyId: string;
      readonly salt: Buffer;
      readonly sealedKey: Buffer;
    }
  | {
      readonly type: 'passphrase';
      readonly scrypt: ScryptCost;
      readonly salt: Buffer;
      readonly sealedKey: Buffer;
    };

/** All rows, in one digest. */
export interface Head {
  /** Rises with every change and never falls. */
  readonly counter: number;
  readonly savedAt: number;
  /** The counter at which the log was begun: its file is `rows-<log>`. */
  readonly log: number;
  readonly bytes: number;
  readonly frames: number;
  /** SHA-256 chained over the frames (`frames.ts`). */
  readonly digest: Buffer;
}

/** What a file of `vault.json`'s shape says, before anything in it was checked with a key. */
export interface UncheckedHeader {
  readonly header: VaultHeader;
  /** What the MAC is over. */
  readonly body: Buffer;
  readonly mac: Buffer;
  /** Ed25519, over the body and the MAC. */
  readonly signature: Buffer;
}

export type HeaderProblem = { readonly problem: 'malformed' | 'downgraded' } | { readonly later: number };

export const headerLimitBytes = 16 * 1024;

/** The slots that each kind has, in their order. */
const slotsOfKind: Readonly<Record<HeaderKind, readonly KeySlot['type'][]>> = {
  agents: ['device', 'recovery'],
  personal: ['password'],
  'agents-backup': ['passphrase'],
  'personal-backup': ['passphrase'],
};

/** What is authenticated: the file's text up to the MAC. */
export function headerBody(header: VaultHeader): Buffer {
  return Buffer.from(JSON.stringify(toJson(header)));
}

export function headerText(header: VaultHeader, mac: Buffer, signature: Buffer): string {
  return `${JSON.stringify({ ...toJson(header), mac: mac.toString('hex'), signature: signature.toString('hex') })}\n`;
}

/**
 * Reads a header. There is one text for each header, so white space, another order, a key that is unknown, written twice
 * or named as of the prototype, a number written otherwise: all of it is `malformed`. `downgraded` names a version,
 * cipher or cost below what is accepted; `later` a version that is not known yet.
 */
export function parseHeader(bytes: Buffer): UncheckedHeader | HeaderProblem {
  if (bytes.length > headerLimitBytes) return { problem: 'malformed' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = record(JSON.parse(text));
    const version = value['version'];
    if (value['format'] !== format) return { problem: 'malformed' };
    if (typeof version === 'number' && version > formatVersion) return { later: version };
    if (version !== formatVersion || value['cipher'] !== cipher) return { problem: 'downgraded' };
    if (list(value['slots']).some((slot) => hasBadCost(record(slot)))) return { problem: 'downgraded' };
    const header = fromJson(value);
    const mac = hex(value['mac'], 32);
    const signature = hex(value['signature'], 64);
    if (headerText(header, mac, signature) !== text) return { problem: 'malformed' };
    return { header, body: headerBody(header), mac, signature };
  } catch {
    return { problem: 'malformed' };
  }
}

const format = 'sallyport-vault';
const formatVersion = 1;
const cipher = 'aes-256-gcm';

function toJson({ kind, id, slots, publicKey, head }: VaultHeader) {
  return {
    format,
    version: formatVersion,
    cipher,
    kind,
    id,
    slots: slots.map(slotToJson),
    publicKey: publicKey.toString('base64'),
    head: {
      counter: head.counter,
      savedAt: head.savedAt,
      log: head.log,
      bytes: head.bytes,
      frames: head.frames,
      digest: head.digest.toString('hex'),
    },
  };
}

function slotToJson(slot: KeySlot) {
  return {
    type: slot.type,
    ...('scrypt' in slot ? { scrypt: { N: slot.scrypt.N, r: slot.scrypt.r, p: slot.scrypt.p } } : {}),
    ...('keyId' in slot ? { keyId: slot.keyId } : {}),
    salt: slot.salt.toString('base64'),
    sealedKey: slot.sealedKey.toString('base64'),
  };
}

function fromJson(value: Record<string, unknown>): VaultHeader {
  const kind = headerKinds.find((each) => each === value['kind']);
  if (!kind) throw new SyntaxError('kind');
  const slots = list(value['slots']).map((slot) => slotFromJson(record(slot)));
  if (slots.map(({ type }) => type).join() !== slotsOfKind[kind].join()) throw new SyntaxError('slots');
  const head = record(value['head']);
  return {
    kind,
    id: hex(value['id'], 16).toString('hex'),
    slots,
    publicKey: base64(value['publicKey'], 32),
    head: {
      counter: whole(head['counter']),
      savedAt: whole(head['savedAt']),
      log: whole(head['log']),
      bytes: whole(head['bytes']),
      frames: whole(head['frames']),
      digest: hex(head['digest'], 32),
    },
  };
}

function slotFromJson(slot: Record<string, unknown>): KeySlot {
  const salt = base64(slot['salt'], 32);
  // IV, 32 bytes and tag.
  const sealedKey = base64(slot['sealedKey'], 60);
  switch (slot['type']) {
    case 'device':
      return { type: 'device', salt, sealedKey };
    case 'recovery':
      return { type: 'recovery', keyId: keyId(slot['keyId']), salt, sealedKey };
    case 'password':
      return { type: 'password', scrypt: cost(slot['scrypt']), keyId: keyId(slot['keyId']), salt, sealedKey };
    case 'passphrase':
      return { type: 'passphrase', scrypt: cost(slot['scrypt']), salt, sealedKey };
    default:
      throw new SyntaxError('slot');
  }
}

function hasBadCost(slot: Record<string, unknown>): boolean {
  if (slot['type'] !== 'password' && slot['type'] !== 'passphrase') return false;
  return !isAcceptedCost(cost(slot['scrypt']));
}

function cost(value: unknown): ScryptCost {
  const { N, r, p } = record(value);
  return { N: amount(N), r: amount(r), p: amount(p) };
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('record');
  return value as Record<string, unknown>;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length > 4) throw new SyntaxError('list');
  return value;
}

function amount(value: unknown): number {
  if (typeof value !== 'number') throw new SyntaxError('number');
  return value;
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new SyntaxError('number');
  return value as number;
}

function hex(value: unknown, length: number): Buffer {
  if (typeof value !== 'string' || value.length !== 2 * length || !/^[0-9a-f]*$/.test(value))
    throw new SyntaxError('hexadecimal');
  return Buffer.from(value, 'hex');
}

function base64(value: unknown, length: number): Buffer {
  if (typeof value !== 'string') throw new SyntaxError('base64');
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length !== length) throw new SyntaxError('base64');
  return bytes;
}

function keyId(value: unknown): string {
  if (typeof value !== 'string' || !/^[2-9A-HJ-NP-TV-Z]{6}$/.test(value)) throw new SyntaxError('key id');
  return value;
}
