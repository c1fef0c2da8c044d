import { existsSync, renameSync, statSync, writeFileSync, rmSync } from 'node:fs';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { Database, text } from './database.ts';
import { migrate } from './schema.ts';
import { isDamage } from './sqliteErrors.ts';

/** A database that was found damaged and where it is now. */
export interface SetAside {
  readonly path: string;
  readonly problem: string;
}

/** Pages of 4 KiB that the write-ahead log gathers before they are put in their place. */
const checkpointPages = 8192;

export interface OpenedDatabase {
  readonly database: Database;
  readonly setAside: SetAside | null;
}

/** Reading the whole of a larger file at each start would be felt; it is checked after damage was met, and on use. */
const checkedAtOpenBytes = 16 * 1024 * 1024;

/**
 * Opens the database and brings it up to date. A damaged one is kept under another name and a fresh one takes its
 * place; the blobs are not touched. Throws `UserError` where the file can't be opened or written at all.
 */
export function openDatabase(path: string, now: () => number = Date.now): OpenedDatabase {
  try {
    return { database: openSound(path), setAside: null };
  } catch (error) {
    if (!isDamage(error) && !(error instanceof DamagedError)) throw error;
    const setAside = { path: moveAside(path, now()), problem: errorMessage(error) };
    return { database: openSound(path), setAside };
  }
}

/** Remembers that damage was met in use, so that the next start checks the whole file. */
export function markDamaged(path: string): void {
  writeFileSync(`${path}.damaged`, '', { mode: 0o600 });
}

class DamagedError extends Error {}

function openSound(path: string): Database {
  const database = new Database(path);
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on');
    // A run of ten thousand cards is one transaction of some megabytes: it should not pay for a checkpoint each time.
    database.exec(`pragma wal_autocheckpoint = ${checkpointPages}`);
    if (existsSync(`${path}.damaged`) || sizeOf(path) <= checkedAtOpenBytes) check(database);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function check(database: Database): void {
  const found = database.all('pragma quick_check(1)').map((row) => text(row, 'quick_check'));
  if (found[0] !== 'ok') throw new DamagedError(found[0] ?? 'no answer');
}

function moveAside(path: string, now: number): string {
  const name = `${path}.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;
  try {
    for (const suffix of ['-wal', '-shm', '']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, name + suffix);
    }
    rmSync(`${path}.damaged`, { force: true });
  } catch (error) {
    throw new UserError(
      'store-damaged',
      `Sallyport’s database is damaged and can’t be set aside: ${path}. Move it away by hand, then start again.`,
      { path },
      { cause: error },
    );
  }
  return name;
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
