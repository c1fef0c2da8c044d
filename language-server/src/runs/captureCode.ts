import { hash } from 'node:crypto';
import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { captureFolder } from '../../../remote-agent/src/files/captureTree.ts';
import type { ResultRecords } from '../store/resultRecords.ts';
import {
  isCode,
  isSettled,
  isUnchanged,
  signatureText,
  signCode,
  type CodeSignature,
} from './codeSignature.ts';

/** Freezes cards' folders. */
export interface CodeCapture {
  /** The frozen copy of a folder's code, made where the one that is known is not good any more. Throws `UserError`. */
  capture(folder: string): ArtifactRef | Promise<ArtifactRef>;
  /** Forgets all that is known: something was removed from the blobs. */
  forget(): void;
}

interface Known {
  readonly signature: CodeSignature;
  readonly artifact: ArtifactRef;
}

/**
 * A folder whose metadata is that of its last frozen copy is not read again: not in this process, and by the table
 * `captures` not in the next one.
 */
export function createCodeCapture(
  blobs: BlobStore,
  results: ResultRecords,
  now: () => number = Date.now,
): CodeCapture {
  const known = new Map<string, Known>();
  const freezeAnew = async (folder: string): Promise<ArtifactRef> => {
    const signature = sign(folder);
    const text = hash('sha256', signatureText(signature));
    const stored = results.capture(folder, text);
    if (stored && blobs.has(stored.digest)) {
      known.set(folder, { signature, artifact: stored });
      return stored;
    }
    const artifact = await captureFolder(folder, blobs, { includes: isCode });
    if (isSettled(signature, now()) && isUnchanged(signature)) {
      known.set(folder, { signature, artifact });
      results.saveCapture(folder, text, artifact);
    }
    return artifact;
  };
  return {
    capture: (folder) => {
      const seen = known.get(folder);
      return seen && isUnchanged(seen.signature) ? seen.artifact : freezeAnew(folder);
    },
    forget: () => known.clear(),
  };
}

function sign(folder: string): CodeSignature {
  try {
    return signCode(folder);
  } catch (error) {
    throw new UserError('unreadable', `${folder} can’t be read: ${errorMessage(error)}`, { path: folder });
  }
}
