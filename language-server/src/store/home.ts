import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';

/** The folder of Sallyport's own state. Nothing in it is the person's work; all of it is readable by them alone. */
export interface Home {
  readonly path: string;
  readonly database: string;
  readonly blobs: string;
  /** Content of the undo history, apart from results, which are cleaned up by other rules. */
  readonly history: string;
  readonly scratch: string;
  readonly leases: string;
}

/**
 * Makes the folder and its parts (0700, the database 0600). Throws `unreadable` where it can't be made or written and
 * `unsafe-path` where it belongs to someone else: whoever owns it could give themselves permissions.
 */
export function openHome(path: string): Home {
  const home: Home = {
    path,
    database: join(path, 'sallyport.sqlite'),
    blobs: join(path, 'blobs'),
    history: join(path, 'history'),
    scratch: join(path, 'scratch'),
    leases: join(path, 'engines'),
  };
  try {
    for (const folder of [path, home.blobs, home.scratch, home.leases])
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    assertOwn(path);
    makePrivate(path, 0o700);
    closeSync(openSync(home.database, 'a', 0o600));
    makePrivate(home.database, 0o600);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      'unreadable',
      `Sallyport’s folder can’t be written: ${path} (${errorMessage(error)}). Make it writable for you, or set SALLYPORT_HOME to another folder.`,
      { path },
      { cause: error },
    );
  }
  return home;
}

/** Where this home is already there, so that a look (`history`, `doctor`) does not make one. */
export function hasHome(path: string): boolean {
  return existsSync(join(path, 'sallyport.sqlite'));
}

function assertOwn(path: string): void {
  const user = process.getuid?.();
  if (user === undefined || statSync(path).uid === user) return;
  throw new UserError(
    'unsafe-path',
    `Sallyport’s folder belongs to another user: ${path}. Set SALLYPORT_HOME to a folder of your own.`,
    { path },
  );
}

function makePrivate(path: string, mode: number): void {
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, mode);
}
