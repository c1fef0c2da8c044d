import { closeSync, fstatSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { UserError } from '../../../protocol/src/errors.ts';
import { systemCode, toFileError } from './fileError.ts';
import { asFolder, openEntry, openFolder, type OpenedFolder } from './noFollow.ts';
import { showName } from './treePath.ts';

/**
 * Opens a folder by a path that must hold no link at all, and checks that what was opened lies there. The caller closes
 * it. Throws `unsafe-path` where it lies elsewhere, `unreadable` where it can't be opened.
 */
export function openRealFolder(path: string): OpenedFolder {
  let folder: OpenedFolder;
  try {
    folder = openFolder(path);
  } catch (error) {
    if (systemCode(error) === 'ELOOP') throw linked(path, error);
    throw toFileError(error, 'open the folder', path);
  }
  try {
    if (whereIs(folder) === path) return folder;
  } catch (error) {
    closeSync(folder.descriptor);
    throw error;
  }
  closeSync(folder.descriptor);
  throw linked(path);
}

function linked(path: string, cause?: unknown): UserError {
  const message = `There is a link in the path of the folder ${showName(path)}`;
  return new UserError('unsafe-path', message, { path }, { cause });
}

/**
 * Opens the folder at `parts` below an open one, following nothing on the way; the caller closes it. Undefined where a
 * part is missing or a regular file, below which nothing can be. Throws `unsafe-path` where one is anything else.
 */
export function openBelow(base: OpenedFolder, parts: readonly string[]): OpenedFolder | undefined {
  let at = base;
  try {
    for (const [index, name] of parts.entries()) {
      const entry = openEntry(at, name);
      if (entry.kind === 'missing') return undefined;
      if (entry.kind === 'file') {
        closeSync(entry.descriptor);
        return undefined;
      }
      if (entry.kind !== 'directory') {
        const path = parts.slice(0, index + 1).join('/');
        throw new UserError('unsafe-path', `${showName(path)} is not a folder (${entry.kind})`, { path });
      }
      const next = asFolder(at, name, entry);
      if (at !== base) closeSync(at.descriptor);
      at = next;
    }
    const opened = at;
    at = base;
    return opened;
  } finally {
    if (at !== base) closeSync(at.descriptor);
  }
}

/** On Linux the kernel itself says where an open folder lies (proc(5)); elsewhere its path must lead to its inode. */
function whereIs(folder: OpenedFolder): string {
  if (folder.childrenBy === 'descriptor') return readlinkSync(`/proc/self/fd/${folder.descriptor}`);
  const real = realpathSync.native(folder.path);
  const there = lstatSync(real, { bigint: true });
  const opened = fstatSync(folder.descriptor, { bigint: true });
  return there.dev === opened.dev && there.ino === opened.ino ? real : '';
}
