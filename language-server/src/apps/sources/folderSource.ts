import { lstatSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import type { ArtifactRef } from '../../../../protocol/src/artifacts.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { captureFolder } from '../../../../remote-agent/src/files/captureTree.ts';

/**
 * Freezes a folder of this machine. Nothing is followed: a symbolic link, a pipe or a device anywhere in it refuses all
 * of it. `.git` and `node_modules` are left out. Throws `CaptureError` and as `captureFolder` does.
 */
export async function takeFolder(path: string, blobs: BlobStore, signal: AbortSignal): Promise<ArtifactRef> {
  if (!isAbsolute(path)) throw new UserError('bad-message', `Not an absolute path: ${path}`);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) throw new UserError('not-found', `There is no folder ${path}`, { path });
  if (found.isSymbolicLink())
    throw new UserError('unsafe-path', `${path} is a link; name the folder that it leads to`, { path });
  if (!found.isDirectory()) throw new UserError('not-found', `${path} is no folder`, { path });
  return captureFolder(path, blobs, {
    signal,
    limitBytes: appLimits.totalBytes,
    limitEntries: 2 * appLimits.files,
    includes: (below) => !leftOut.test(below),
  });
}

const leftOut = /(^|\/)(\.git|node_modules)$/;
