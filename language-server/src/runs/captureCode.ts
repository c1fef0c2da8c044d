import { hash } from 'node:crypto';
import type { ArtifactRef, TreeEntry } from '../../../protocol/src/artifacts.ts';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { captureFolder } from '../../../remote-agent/src/files/captureTree.ts';
import { folderSignature } from '../../../remote-agent/src/files/folderSignature.ts';
import { readTree } from '../../../remote-agent/src/files/readTree.ts';
import type { ResultRecords } from '../store/resultRecords.ts';
import type { CaptureCode } from './snapshot.ts';

interface Known {
  readonly signature: string;
  readonly artifact: ArtifactRef;
}

/**
 * Freezes cards' folders. A folder whose signature is that of its last frozen copy is not read again: not in this
 * process, and by the table `captures` not in the next one.
 */
export function createCaptureCode(blobs: BlobStore, results: ResultRecords): CaptureCode {
  const known = new Map<string, Known>();
  return async (folder) => {
    const signature = signatureOf(folder);
    const seen = known.get(folder);
    if (seen?.signature === signature && blobs.has(seen.artifact.digest)) return seen.artifact;
    const stored = results.capture(folder, hash('sha256', signature));
    if (stored && blobs.has(stored.digest)) {
      known.set(folder, { signature, artifact: stored });
      return stored;
    }
    const artifact = codeOf(await captureFolder(folder, blobs), blobs);
    if (signature === signatureOf(folder) && isSettled(signature)) {
      known.set(folder, { signature, artifact });
      results.saveCapture(folder, hash('sha256', signature), artifact);
    }
    return artifact;
  };
}

/** Files of a card's folder that are not its code: the manifest, and what Python leaves behind. */
function isCode(entry: TreeEntry): boolean {
  return entry.path !== '_card.json' && !/(^|\/)__pycache__(\/|$)/.test(entry.path);
}

function codeOf(folder: ArtifactRef, blobs: BlobStore): ArtifactRef {
  const entries = readTree(blobs, folder).entries.filter(isCode);
  const files = entries.filter((entry) => entry.kind === 'file');
  return {
    kind: 'directory',
    digest: blobs.putBytes(Buffer.from(canonicalJson({ version: 1, entries }))).digest,
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    files: files.length,
  };
}

function signatureOf(folder: string): string {
  try {
    return folderSignature(folder);
  } catch (error) {
    throw new UserError('unreadable', `${folder} can’t be read: ${errorMessage(error)}`, { path: folder });
  }
}

/**
 * A file changed twice within one tick of the kernel's clock has one change time for both. So a signature stands for
 * the content only where the last change is some ticks ago.
 */
function isSettled(signature: string, now: number = Date.now()): boolean {
  const lines = signature.matchAll(/ ([0-9]+)$/gm);
  for (const [, changedNs] of lines)
    if (Number(BigInt(changedNs ?? 0) / 1_000_000n) > now - settledMs) return false;
  return true;
}

const settledMs = 100;
