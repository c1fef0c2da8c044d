import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import type { ArtifactRef } from '../../../../protocol/src/artifacts.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { CaptureError, captureFolder } from '../../../../remote-agent/src/files/captureTree.ts';
import { isAbsolute } from 'node:path';

/**
 * Freezes a folder of this machine. Nothing is followed: a symbolic link, a pipe or a device anywhere in it refuses all
 * of it. `.git` and `node_modules` are left out. Throws `CaptureError` and as `captureFolder` does.
 */
export async function takeFolder(path: string, blobs: BlobStore, signal: AbortSignal): Promise<ArtifactRef> {
  if (!isAbsolute(path)) throw new UserError('bad-message', `Not an absolute path: ${path}`);
  try {
    return await captureFolder(path, blobs, {
      signal,
      limitBytes: appLimits.totalBytes,
      limitEntries: 2 * appLimits.files,
      includes: (below) => !leftOut.test(below),
    });
  } catch (error) {
    if (error instanceof UserError && error.code === 'not-found' && !(error instanceof CaptureError))
      throw new UserError('not-found', `There is no folder ${path}`, { path }, { cause: error });
    throw error;
  }
}

const leftOut = /(^|\/)(\.git|node_modules)$/;
