import { closeSync, fstatSync, readSync } from 'node:fs';
import { UserError } from '../../../../protocol/src/errors.ts';
import { openEntry, readNames } from '../../../../remote-agent/src/files/noFollow.ts';
import { openBelow, openRealFolder } from '../../../../remote-agent/src/files/openBelow.ts';
import { decodeName, treePathFault } from '../../../../remote-agent/src/files/treePath.ts';
import { isHiddenFromShells } from './controlFolders.ts';

/** One entry of a folder, as a shell sees it. Links and what is neither file nor folder are not seen. */
export interface SeenEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory';
  readonly sizeBytes: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

/** Reads a project for a shell: below its root, following no link on the way, without what shells do not see. */
export interface ProjectView {
  /** Undefined where there is no such folder. */
  list(path: string): SeenEntry[] | undefined;
  /** Throws `not-found`, `too-large`. */
  read(path: string): Buffer;
}

export interface ProjectViewLimits {
  readonly fileBytes: number;
  /** Names in one folder. */
  readonly entries: number;
}

const chunkBytes = 1024 * 1024;

/** `root` is the real path of the project. Paths are relative to it with `/`; the empty one is the project. */
export function createProjectView(root: string, limits: ProjectViewLimits): ProjectView {
  const partsOf = (path: string): string[] | undefined => {
    if (path === '') return [];
    if (treePathFault(path) !== undefined) return undefined;
    const parts = path.split('/');
    return parts.some(isHiddenFromShells) ? undefined : parts;
  };
  return {
    list(path) {
      const parts = partsOf(path);
      if (!parts) return undefined;
      const base = openRealFolder(root);
      try {
        const folder = openOrMissing(base, parts);
        if (!folder) return undefined;
        try {
          return entriesOf(folder, limits.entries);
        } finally {
          if (folder !== base) closeSync(folder.descriptor);
        }
      } finally {
        closeSync(base.descriptor);
      }
    },
    read(path) {
      const parts = partsOf(path) ?? [];
      const name = parts.pop();
      if (name === undefined) throw missing(path);
      const base = openRealFolder(root);
      try {
        const folder = openOrMissing(base, parts);
        if (!folder) throw missing(path);
        try {
          const entry = openEntry(folder, name);
          if (entry.kind !== 'file' && entry.kind !== 'directory') throw missing(path);
          try {
            if (entry.kind === 'directory') throw missing(path);
            return readAll(entry.descriptor, path, limits.fileBytes);
          } finally {
            closeSync(entry.descriptor);
          }
        } finally {
          if (folder !== base) closeSync(folder.descriptor);
        }
      } finally {
        closeSync(base.descriptor);
      }
    },
  };
}

type Folder = ReturnType<typeof openRealFolder>;

function openOrMissing(base: Folder, parts: readonly string[]): Folder | undefined {
  try {
    return openBelow(base, parts);
  } catch (error) {
    if (error instanceof UserError && error.code === 'unsafe-path') return undefined;
    throw error;
  }
}

function entriesOf(folder: Folder, limit: number): SeenEntry[] {
  const seen: SeenEntry[] = [];
  let count = 0;
  for (const raw of readNames(folder)) {
    if (++count > limit)
      throw new UserError(
        'too-large',
        `A folder with more than ${limit} entries can’t be shown to a shell`,
        {},
      );
    const name = decodeName(raw);
    if (name === undefined || isHiddenFromShells(name) || treePathFault(name) !== undefined) continue;
    const entry = openQuietly(folder, name);
    if (!entry) continue;
    const { kind, stat, descriptor } = entry;
    closeSync(descriptor);
    seen.push({
      name,
      kind,
      sizeBytes: Number(stat.size),
      mode: Number(stat.mode & 0o777n),
      mtimeMs: Number(stat.mtimeMs),
    });
  }
  return seen.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What this user may not open is not seen. */
function openQuietly(folder: Folder, name: string) {
  try {
    const entry = openEntry(folder, name);
    return entry.kind === 'file' || entry.kind === 'directory' ? entry : undefined;
  } catch {
    return undefined;
  }
}

function readAll(descriptor: number, path: string, limit: number): Buffer {
  const { size } = fstatSync(descriptor);
  if (size > limit) {
    throw new UserError('too-large', `${path} has ${size} bytes; a shell reads at most ${limit}`, { path });
  }
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, Math.max(4096, size - total + 1)));
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks);
    total += count;
    if (total > limit) throw new UserError('too-large', `${path} grew beyond ${limit} bytes`, { path });
    chunks.push(chunk.subarray(0, count));
  }
}

function missing(path: string): UserError {
  return new UserError('not-found', `There is no file ${path}`, { path });
}
