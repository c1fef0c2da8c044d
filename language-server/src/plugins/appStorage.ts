import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bridgeLimits, BridgeError } from '../../../protocol/src/bridge.ts';
import { idPattern } from '../../../protocol/src/manifests.ts';
import { Database, number, text } from '../store/database.ts';

/** One file that an app stores. */
export interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface StorageUsage {
  /** What counts against the quota: contents and names. */
  readonly usedBytes: number;
  readonly files: number;
}

/**
 * What apps store: one place for each app, shared by its page and its plugins, outside every workspace. A path is a name
 * in a database and never one of the file system. `app` is set by the side that knows it. Throws `UserError` where the
 * disk fails.
 */
export interface AppStorage {
  get(app: string, path: string): (StoredFile & { readonly bytes: Uint8Array }) | undefined;
  /** Writes the whole file, or throws `BridgeError`: `quota` where all would be more than `limitBytes`, `too-large`. */
  put(app: string, path: string, bytes: Uint8Array, limitBytes: number): StoredFile;
  /** In order of path. */
  list(app: string, prefix?: string): StoredFile[];
  /** True where it was there. */
  delete(app: string, path: string): boolean;
  usage(app: string): StorageUsage;
  /** Lets go of an app's file, so that it can be moved, and copied whole. The next use opens it again. */
  release(app: string): void;
  /** Where an app's data is: one file, whole once `release` returned. It need not be there. */
  fileOf(app: string): string;
  /** Removes all that an app stores. */
  clear(app: string): void;
  close(): void;
}

const step = `
  create table if not exists files (
    path text primary key,
    size integer not null,
    modified_at integer not null,
    bytes blob not null
  ) without rowid;
  create table if not exists usage (bytes integer not null, files integer not null);
  insert into usage select 0, 0 where not exists (select 1 from usage);
`;

export interface AppStorageOptions {
  /** An absolute folder of Sallyport's own; made on first need. */
  readonly folder: string;
  readonly now: () => number;
}

/** Keeps each app's files in a SQLite file of its own (0600), so that an app's data is moved, copied and removed whole. */
export function createAppStorage({ folder, now }: AppStorageOptions): AppStorage {
  const opened = new Map<string, Database>();

  const fileOf = (app: string): string => {
    // The one place where an app's id becomes a file name.
    if (!idPattern.test(app)) throw new TypeError(`Failed to open an app's storage: ${app} is no id`);
    return join(folder, `${app}.sqlite`);
  };
  const open = (app: string): Database => {
    const known = opened.get(app);
    if (known) return known;
    const path = fileOf(app);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    const database = new Database(path);
    try {
      // Without a log beside it: the one file is all there is.
      database.exec('pragma journal_mode = truncate; pragma synchronous = normal; pragma secure_delete = on');
      database.transaction(() => database.exec(step));
    } catch (error) {
      database.close();
      throw error;
    }
    opened.set(app, database);
    return database;
  };
  const release = (app: string): void => {
    opened.get(app)?.close();
    opened.delete(app);
  };
  const usage = (app: string): StorageUsage => {
    const row = open(app).get('select bytes, files from usage') ?? {};
    return { usedBytes: number(row, 'bytes'), files: number(row, 'files') };
  };
  const count = (database: Database, bytes: number, files: number): void => {
    database.run('update usage set bytes = bytes + ?, files = files + ?', bytes, files);
  };

  return {
    get(app, path) {
      const row = open(app).get('select size, modified_at, bytes from files where path = ?', path);
      if (!row) return undefined;
      const bytes = row['bytes'] instanceof Uint8Array ? row['bytes'] : new Uint8Array();
      return { path, sizeBytes: bytes.byteLength, modifiedAt: number(row, 'modified_at'), bytes };
    },
    put(app, path, bytes, limitBytes) {
      const sizeBytes = bytes.byteLength;
      if (sizeBytes > bridgeLimits.fileBytes)
        throw new BridgeError('too-large', `A file has at most ${bridgeLimits.fileBytes} bytes`);
      const database = open(app);
      const modifiedAt = now();
      database.transaction(() => {
        const before = database.get('select size from files where path = ?', path);
        const grown = sizeBytes - (before ? number(before, 'size') : -nameBytes(path));
        const { usedBytes, files } = usage(app);
        // A file that gets smaller is always taken, so that an app above a lowered quota can come below it.
        if (grown > 0 && usedBytes + grown > limitBytes)
          throw new BridgeError('quota', `The app may store ${limitBytes} bytes and has ${usedBytes}`);
        if (!before && files >= bridgeLimits.filesPerApp)
          throw new BridgeError('quota', `The app may store ${bridgeLimits.filesPerApp} files`);
        database.run(
          'insert or replace into files (path, size, modified_at, bytes) values (?, ?, ?, ?)',
          path,
          sizeBytes,
          modifiedAt,
          bytes,
        );
        count(database, grown, before ? 0 : 1);
      });
      return { path, sizeBytes, modifiedAt };
    },
    list(app, prefix = '') {
      return open(app)
        .all(
          'select path, size, modified_at from files where path >= ? and substr(path, 1, ?) = ? order by path',
          prefix,
          prefix.length,
          prefix,
        )
        .map((row) => ({
          path: text(row, 'path'),
          sizeBytes: number(row, 'size'),
          modifiedAt: number(row, 'modified_at'),
        }));
    },
    delete(app, path) {
      const database = open(app);
      return database.transaction(() => {
        const row = database.get('select size from files where path = ?', path);
        if (!row) return false;
        database.run('delete from files where path = ?', path);
        count(database, -number(row, 'size') - nameBytes(path), -1);
        return true;
      });
    },
    usage,
    release,
    fileOf,
    clear(app) {
      release(app);
      for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(fileOf(app) + suffix, { force: true });
    },
    close() {
      for (const app of [...opened.keys()]) release(app);
    },
  };
}

function nameBytes(path: string): number {
  return Buffer.byteLength(path);
}
