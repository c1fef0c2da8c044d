import * as z from 'zod/mini';
import type { ArtifactRef } from '../../../../protocol/src/artifacts.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { idPattern } from '../../../../protocol/src/manifests.ts';
import { parseAs } from '../../../../protocol/src/parseJson.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { TreeBuilder } from '../tree/frozenTree.ts';
import { readZip } from './zipSource.ts';

/** The first entry of a backup, which is a zip archive with `app/…` and `data/…` beside it (docs/apps.md). */
const backupHeader = z.strictObject({
  format: z.literal('sallyport-app-backup'),
  version: z.literal(1),
  app: z.string().check(z.regex(idPattern)),
  madeAt: z.int(),
});
export type BackupHeader = z.infer<typeof backupHeader>;
export const backupHeaderName = 'backup.json';

/**
 * Reads a file that `app/export` wrote, by the rules of archives. Throws `bad-app` where it is another archive or holds
 * more than its three parts.
 */
export async function readBackup(
  path: string,
  blobs: BlobStore,
  signal: AbortSignal,
): Promise<{ readonly code: ArtifactRef; readonly data: ArtifactRef | null }> {
  const code = new TreeBuilder(blobs);
  const data = new TreeBuilder(blobs);
  const headers: (BackupHeader | undefined)[] = [];
  const stored: string[] = [];
  const take = (name: string, bytes: Buffer) => {
    if (name === backupHeaderName) headers.push(parseAs(backupHeader, bytes.toString('utf8')));
    else if (name.startsWith('app/')) code.add(name.slice('app/'.length), bytes);
    else if (name.startsWith('data/')) {
      stored.push(name);
      data.add(name.slice('data/'.length), bytes);
    } else throw notBackup(path);
  };
  await readZip(path, take, signal);
  if (!headers[0]) throw notBackup(path);
  return { code: code.finish(), data: stored.length > 0 ? data.finish() : null };
}

function notBackup(path: string): UserError {
  return new UserError('bad-app', `${path} is no backup of an app, or one of a newer Sallyport.`, { path });
}
