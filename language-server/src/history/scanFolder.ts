import { closeSync } from 'node:fs';
import { UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import {
  asFolder,
  openEntry,
  readNames,
  type OpenedFolder,
} from '../../../remote-agent/src/files/noFollow.ts';
import { openRealFolder } from '../../../remote-agent/src/files/openBelow.ts';
import { createPace } from '../../../remote-agent/src/files/pace.ts';
import { decodeName, treePathFault } from '../../../remote-agent/src/files/treePath.ts';
import { lookIn, signatureAt, type ContentSink, type Look } from './fileState.ts';

/** Everything in a folder by relative path: hidden and ignored things, links as links, folders before what is in them. */
export type Scan = ReadonlyMap<string, Look>;

export interface ScanOptions {
  readonly blobs: ContentSink;
  /** A look of before, which stands where nothing was touched since: then no content is read. */
  readonly known?: Scan;
  readonly limitBytes: number;
  readonly limitEntries?: number;
}

/**
 * Looks at everything in a folder and keeps the contents. Nothing is followed. Pipes, sockets and devices are passed
 * over, as are names that are not UTF-8. Throws `too-large` over a limit: then nothing may be changed there.
 */
export async function scanFolder(
  base: string,
  { blobs, known, limitBytes, limitEntries = limits.filesPerTree }: ScanOptions,
): Promise<Scan> {
  const found = new Map<string, Look>();
  const pace = createPace();
  let leftBytes = limitBytes;
  const walk = async (folder: OpenedFolder, prefix: string): Promise<void> => {
    for (const name of [...readNames(folder)].flatMap((raw) => decodeName(raw) ?? []).sort()) {
      if (pace.isDue()) await pace.rest();
      const path = prefix + name;
      if (treePathFault(path) !== undefined) continue;
      const before = known?.get(path);
      if (before && before.state.kind !== 'folder' && before.signature === signatureAt(folder, name)) {
        found.set(path, before);
        continue;
      }
      const look = await lookOrPass(folder, name, path);
      if (!look) continue;
      if (found.size >= limitEntries) throw tooLarge(base);
      if (look.state.kind === 'file') leftBytes -= look.state.sizeBytes;
      found.set(path, look);
      if (look.state.kind === 'folder') await enter(folder, name, `${path}/`);
    }
  };
  const lookOrPass = async (folder: OpenedFolder, name: string, path: string): Promise<Look | undefined> => {
    try {
      const look = await lookIn(folder, name, { base, path }, blobs, leftBytes);
      return look.state.kind === 'absent' ? undefined : look;
    } catch (error) {
      if (error instanceof UserError && error.code === 'unsafe-path') return undefined;
      if (error instanceof UserError && error.code === 'too-large') throw tooLarge(base);
      throw error;
    }
  };
  const enter = async (folder: OpenedFolder, name: string, prefix: string): Promise<void> => {
    const entry = openEntry(folder, name);
    if (entry.kind === 'file') closeSync(entry.descriptor);
    if (entry.kind !== 'directory') return;
    try {
      await walk(asFolder(folder, name, entry), prefix);
    } finally {
      closeSync(entry.descriptor);
    }
  };
  const folder = openRealFolder(base);
  try {
    await walk(folder, '');
  } finally {
    closeSync(folder.descriptor);
  }
  return found;
}

function tooLarge(base: string): UserError {
  return new UserError(
    'too-large',
    `${base} holds more than the undo history can keep, so it can't be changed in a way that could be undone`,
    { path: base },
  );
}
