import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  type BigIntStats,
  type Dirent,
} from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { systemCode } from './fileError.ts';
import { showName } from './treePath.ts';

/**
 * Opening without following symbolic links, below a folder that is already open.
 *
 * Node has no `openat`. On Linux a child is opened as `/proc/self/fd/<descriptor>/<name>` (proc(5)): the kernel starts
 * from the opened folder itself, whatever its path has become, and `O_NOFOLLOW` covers the one name that is left.
 * Elsewhere the child's path is used: what was opened must be the very inode that `lstat` saw without following, and
 * the folder's path must lead to the opened folder before and after. That leaves a race to someone who exchanges the
 * folder twice within one opening, so it is no match for a hostile program that still runs.
 */

export type EntryKind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device' | 'missing' | 'other';

export interface OpenedFolder {
  readonly descriptor: number;
  /** Absolute path when it was opened. */
  readonly path: string;
  readonly childrenBy: ChildrenBy;
}

/** How the children of a folder are opened. */
export type ChildrenBy = 'descriptor' | 'path';

/** An entry that was opened; `stat` is of the opened inode, nanosecond times included. */
export interface OpenedEntry {
  readonly kind: 'file' | 'directory';
  readonly descriptor: number;
  readonly stat: BigIntStats;
}

/** What was found instead of a regular file or a folder; nothing is left open. */
export interface RefusedEntry {
  readonly kind: Exclude<EntryKind, 'file' | 'directory'>;
}

const platformWay: ChildrenBy = process.platform === 'linux' ? 'descriptor' : 'path';
/** `O_NONBLOCK` keeps a FIFO that was swapped in from blocking; it means nothing for files and folders. */
const openFlags = constants.O_RDONLY | flag('O_NOFOLLOW') | flag('O_NONBLOCK');

/** Opens a folder by its path. Its last component must not be a symbolic link; the caller closes it. */
export function openFolder(path: string, childrenBy: ChildrenBy = platformWay): OpenedFolder {
  return { path, childrenBy, descriptor: openSync(path, openFlags | flag('O_DIRECTORY')) };
}

/** A folder that `openEntry` opened in `parent`, as a parent itself. It shares the entry's descriptor. */
export function asFolder(parent: OpenedFolder, name: string, entry: OpenedEntry): OpenedFolder {
  return { path: join(parent.path, name), childrenBy: parent.childrenBy, descriptor: entry.descriptor };
}

/**
 * Opens `name`, one path component, of `folder`; the caller closes it. Throws the system error where it cannot be
 * opened at all, and `unsafe-path` where `name` is more than one component.
 */
export function openEntry(folder: OpenedFolder, name: string): OpenedEntry | RefusedEntry {
  if (!isPlainName(name)) throw new UserError('unsafe-path', `Not a file name: ${showName(name)}`);
  const path = join(pathTo(folder), name);
  if (!isInPlace(folder)) return { kind: 'other' };
  const before = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (before === undefined) return { kind: 'missing' };
  const expected = kindOf(before);
  if (expected !== 'file' && expected !== 'directory') return { kind: expected };
  let descriptor: number;
  try {
    descriptor = openSync(path, openFlags);
  } catch (error) {
    const refused = refusedBy(systemCode(error));
    if (refused === undefined) throw error;
    return { kind: refused };
  }
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    if (isSameInode(stat, before) && kindOf(stat) === expected && isInPlace(folder)) {
      return { kind: expected, descriptor, stat };
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  closeSync(descriptor);
  return { kind: 'other' };
}

/**
 * The path of `name` for system calls that do not follow a link at its end (lstat, rename, unlink, rmdir, mkdir, link,
 * symlink, readlink). It is good as long as the folder is open. Throws `unsafe-path` for more than one component and
 * where the folder's path no longer leads to it.
 */
export function childPath(folder: OpenedFolder, name: string): string {
  if (!isPlainName(name)) throw new UserError('unsafe-path', `Not a file name: ${showName(name)}`);
  if (!isInPlace(folder)) throw new UserError('unsafe-path', `The folder was exchanged: ${folder.path}`);
  return join(pathTo(folder), name);
}

/** The raw names of an open folder, in no order, read as the caller goes on. */
export function* readNames(folder: OpenedFolder): Generator<Buffer, void, undefined> {
  const listing = opendirSync(pathTo(folder), { encoding: 'buffer' as BufferEncoding, bufferSize: 128 });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) yield rawName(entry);
  } finally {
    listing.closeSync();
  }
}

export function kindOf(stat: BigIntStats): Exclude<EntryKind, 'missing'> {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  if (stat.isSymbolicLink()) return 'symlink';
  if (stat.isFIFO()) return 'fifo';
  if (stat.isSocket()) return 'socket';
  if (stat.isBlockDevice() || stat.isCharacterDevice()) return 'device';
  return 'other';
}

/** True where two looks at one inode show that nobody wrote to it in between. */
export function isUnchanged(before: BigIntStats, after: BigIntStats): boolean {
  return (
    isSameInode(before, after) &&
    before.size === after.size &&
    before.mtimeNs === after.mtimeNs &&
    before.ctimeNs === after.ctimeNs
  );
}

/** A flag of open(2), or 0 where the platform has none: there the inode check alone decides. */
function flag(name: 'O_NOFOLLOW' | 'O_NONBLOCK' | 'O_DIRECTORY'): number {
  const known: Partial<Record<string, number>> = constants;
  return known[name] ?? 0;
}

function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

function pathTo(folder: OpenedFolder): string {
  return folder.childrenBy === 'descriptor' ? `/proc/self/fd/${folder.descriptor}` : folder.path;
}

/** True where the path that children are opened by leads to the opened folder; by descriptor it always does. */
function isInPlace(folder: OpenedFolder): boolean {
  if (folder.childrenBy === 'descriptor') return true;
  const there = lstatSync(folder.path, { bigint: true, throwIfNoEntry: false });
  return there !== undefined && isSameInode(there, fstatSync(folder.descriptor, { bigint: true }));
}

function isSameInode(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function refusedBy(code: string): RefusedEntry['kind'] | undefined {
  if (code === 'ELOOP') return 'symlink';
  if (code === 'ENXIO') return 'socket';
  if (code === 'ENOENT') return 'missing';
  return undefined;
}

/** With the encoding `buffer` names are Buffers; the published types do not know it. */
function rawName(entry: Dirent): Buffer {
  const name: unknown = entry.name;
  return Buffer.isBuffer(name) ? name : Buffer.from(String(name));
}
