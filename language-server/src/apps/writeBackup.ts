import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { randomBytes } from 'node:crypto';
import { UserError } from '../../../protocol/src/errors.ts';
import { toFileError } from '../../../remote-agent/src/files/fileError.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import { placeNew } from '../placeNew.ts';
import { backupHeaderName, type BackupHeader } from './sources/backupSource.ts';
import type { FrozenTree } from './tree/frozenTree.ts';
import { createZip } from './zipWriter.ts';

export interface BackupParts {
  readonly app: string;
  /** Absolute; not there yet. */
  readonly path: string;
  readonly tree: FrozenTree;
  readonly storage: AppStorage;
  readonly now: () => number;
}

/**
 * Writes an app and what it stores, and nothing else, to one zip archive of mode 0600. It appears whole or not at all.
 * Throws `conflict` where the file is there, `disk-full`, `unreadable`.
 */
export async function writeBackup(
  { app, path, tree, storage, now }: BackupParts,
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<{ sizeBytes: number }> {
  if (!isAbsolute(path)) throw new UserError('bad-message', `Not an absolute path: ${path}`);
  if (isThere(path)) throw taken(path);
  const beside = `${path}.${randomBytes(6).toString('hex')}.part`;
  const header: BackupHeader = { format: 'sallyport-app-backup', version: 1, app, madeAt: now() };
  onProgress('Writing the backup');
  const zip = await createZip(beside, new Date(now()));
  try {
    await zip.add(backupHeaderName, Buffer.from(JSON.stringify(header)));
    for (const file of tree.files.keys()) {
      signal.throwIfAborted();
      await zip.add(`app/${file}`, tree.read(file));
    }
    for (const { path: file } of storage.list(app)) {
      signal.throwIfAborted();
      const stored = storage.get(app, file);
      if (stored) await zip.add(`data/${file}`, stored.bytes);
    }
    const sizeBytes = await zip.finish();
    // It took a while: what came there meanwhile is not replaced.
    if (!placeNew(beside, path)) throw taken(path);
    return { sizeBytes };
  } catch (error) {
    await zip.drop();
    await rm(beside, { force: true });
    if (error instanceof UserError || signal.aborted) throw error;
    throw toFileError(error, 'write', path);
  }
}

function taken(path: string): UserError {
  return new UserError('conflict', `${path} is there already; choose another name.`, { path });
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw toFileError(error, 'write', path);
  }
}
