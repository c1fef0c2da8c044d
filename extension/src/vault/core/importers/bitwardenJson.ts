import type { FieldKind } from '../items.ts';
import {
  ImportError,
  importLimits,
  toImported,
  type Imported,
  type ImportedRecord,
  type SkipReason,
} from './imported.ts';

/**
 * Bitwarden's unencrypted JSON export: logins, secure notes and SSH keys, with their own fields and folders. Cards and
 * identities are skipped. Throws an `ImportError`: `encrypted` for a protected export, which only Bitwarden reads.
 */
export function importBitwarden(text: string, isTaken: (id: string) => boolean): Imported {
  if (text.length > importLimits.characters) throw new ImportError('too-large');
  const file = record(parse(text));
  if (file['encrypted'] === true) throw new ImportError('encrypted');
  if (!Array.isArray(file['items'])) throw new ImportError('malformed');
  const folders = new Map(
    list(file['folders']).map((each) => [string(record(each)['id']), string(record(each)['name'])]),
  );
  return toImported(
    file['items'].map((item) => toRecord(record(item), folders)),
    isTaken,
  );
}

function toRecord(
  item: Record<string, unknown>,
  folders: ReadonlyMap<string, string>,
): ImportedRecord | SkipReason {
  const base = {
    title: string(item['name']),
    addresses: [],
    tags: [folders.get(string(item['folderId'])) ?? ''],
  };
  const rest = [...ownFields(item), field('notes', 'lines', item['notes'])];
  switch (item['type']) {
    case 1: {
      const login = record(item['login']);
      const addresses = list(login['uris']).map((each) => string(record(each)['uri']));
      const fields = [
        field('username', 'text', login['username']),
        field('password', 'secret', login['password']),
        field('totp', 'secret', login['totp']),
        ...addresses.slice(0, 1).map((address) => field('address', 'address', address)),
        ...rest,
      ];
      return { ...base, kind: 'login', addresses, fields };
    }
    case 2:
      return { ...base, kind: 'note', fields: rest };
    case 5: {
      const key = record(item['sshKey']);
      const fields = [
        field('private-key', 'privateKey', key['privateKey']),
        field('public-key', 'publicKey', key['publicKey']),
        ...rest,
      ];
      return { ...base, kind: 'keyPair', fields };
    }
    default:
      return 'kind';
  }
}

/** Text, hidden and Boolean fields; a linked one repeats another field. */
function ownFields(item: Record<string, unknown>): ImportedRecord['fields'] {
  return list(item['fields'])
    .map(record)
    .filter(({ type }) => type !== 3)
    .map((each) => field(string(each['name']), each['type'] === 1 ? 'secret' : 'text', each['value']));
}

function field(name: string, kind: FieldKind, value: unknown): ImportedRecord['fields'][number] {
  return { name, kind, value: string(value) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The parser's own words quote the file.
    throw new ImportError('malformed');
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
