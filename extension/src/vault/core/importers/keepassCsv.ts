import type { FieldKind } from '../items.ts';
import { ImportError, importLimits, toImported, type Imported, type ImportedRecord } from './imported.ts';

/**
 * CSV (RFC 4180) as KeePassXC and KeePass write it, known by its first line. A group becomes a tag; columns that are
 * not known become fields of their own, but for times and icons. Throws an `ImportError`: `unknown-columns` where there
 * is no column of passwords, `malformed` with the line where a quote is not closed or a row has another length.
 */
export function importKeepassCsv(text: string, isTaken: (id: string) => boolean): Imported {
  if (text.length > importLimits.characters) throw new ImportError('too-large');
  const [head, ...rows] = parseCsv(text.replace(/^\uFEFF/, ''));
  const columns = (head?.cells ?? []).map((cell) => columnOf(cell));
  if (!columns.some((column) => column.to === 'password')) throw new ImportError('unknown-columns');
  return toImported(
    rows.map(({ cells, line }) => {
      if (cells.length !== columns.length) throw new ImportError('malformed', line);
      return toRecord(columns, cells);
    }),
    isTaken,
  );
}

interface Column {
  readonly to: 'title' | 'group' | 'skip' | 'username' | 'password' | 'address' | 'notes' | 'totp' | 'field';
  readonly name: string;
}

/** Titles of columns in lower case. */
const knownColumns: Readonly<Record<string, Column['to']>> = {
  title: 'title',
  account: 'title',
  group: 'group',
  username: 'username',
  'user name': 'username',
  'login name': 'username',
  password: 'password',
  url: 'address',
  'web site': 'address',
  notes: 'notes',
  comments: 'notes',
  totp: 'totp',
  icon: 'skip',
  'last modified': 'skip',
  created: 'skip',
};

const kinds: Readonly<Partial<Record<Column['to'], FieldKind>>> = {
  username: 'text',
  address: 'address',
  notes: 'lines',
};

function columnOf(name: string): Column {
  const key = name.trim().toLowerCase();
  const to = Object.hasOwn(knownColumns, key) ? knownColumns[key] : 'field';
  return { to: to ?? 'field', name };
}

function toRecord(columns: readonly Column[], cells: readonly string[]): ImportedRecord {
  const all = columns.map((column, at) => ({ ...column, value: cells[at] ?? '' }));
  const of = (to: Column['to']) => all.find((each) => each.to === to)?.value ?? '';
  const fields = all
    .filter(({ to }) => to !== 'title' && to !== 'group' && to !== 'skip')
    .map(({ to, name, value }) => ({ name: to === 'field' ? name : to, kind: kinds[to] ?? 'secret', value }));
  return {
    title: of('title'),
    kind: 'login',
    fields,
    addresses: [of('address')].filter(Boolean),
    tags: [of('group')],
  };
}

/** The rows and the line that each begins on. Empty lines are no rows. */
function parseCsv(text: string): { readonly cells: string[]; readonly line: number }[] {
  const rows: { cells: string[]; line: number }[] = [];
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  let row: { cells: string[]; line: number } | undefined;
  let line = 1;
  for (let at = 0; at < text.length || row;) {
    cell.lastIndex = at;
    const match = cell.exec(text);
    row ??= { cells: [], line };
    if (!match) throw new ImportError('malformed', row.line);
    const [whole, quoted, plain = '', end] = match;
    row.cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0;
    at += whole.length;
    if (end === ',') continue;
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push(row);
    row = undefined;
  }
  return rows;
}
