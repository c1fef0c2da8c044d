import { UserError } from '../../../protocol/src/errors.ts';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html) that a person can do something about. */
const primary = {
  perm: 3,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADb: 26,
};

/** The primary SQLite result code of an error, or undefined where it is none of SQLite's. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

/** True where the file itself is no longer a sound database. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof UserError ? sqliteCode(error.cause) : sqliteCode(error);
  return code === primary.corrupt || code === primary.notADb;
}

/** Names the database file and the remedy; errors that are not SQLite's come back as they are. */
export function toStoreError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  const fail = (kind: UserError['code'], what: string, remedy: string) =>
    new UserError(kind, `${what}: ${path}. ${remedy}`, { path, remedy }, { cause: error });
  switch (code) {
    case primary.full:
      return fail('disk-full', 'The disk is full, nothing was written', 'Free some space, then try again.');
    case primary.readonly:
    case primary.perm:
    case primary.cantOpen:
      return fail(
        'unreadable',
        'Sallyport’s database can’t be opened for writing',
        'Make the file and its folder writable for you, or set SALLYPORT_HOME to another folder.',
      );
    case primary.ioerr:
      return fail(
        'unreadable',
        'Sallyport’s database can’t be read or written',
        'Check the disk it is on, then try again.',
      );
    case primary.corrupt:
    case primary.notADb:
      return fail(
        'store-damaged',
        'Sallyport’s database is damaged',
        'Start Sallyport again: it keeps the damaged file under another name and begins a fresh one.',
      );
    case primary.busy:
    case primary.locked:
      return fail(
        'conflict',
        'Another Sallyport is writing to the database',
        'Try again when its clean-up has ended.',
      );
    default:
      return error;
  }
}
