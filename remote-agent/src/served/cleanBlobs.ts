import { statSync } from 'node:fs';
import type { BlobStore } from '../files/blobStore.ts';

/**
 * Removes what no job needs, the longest unused first, until at most `keepBytes` are left. Blobs younger than
 * `youngMs` stay: a job that needs them may be about to be submitted.
 */
export function cleanBlobs(
  store: BlobStore,
  needed: ReadonlySet<string>,
  keepBytes: number,
  now: number,
  youngMs = 60 * 60 * 1000,
): { removed: number; freedBytes: number } {
  store.sweep(youngMs);
  const all = [...store.list()].map((blob) => ({
    ...blob,
    usedAt: statSync(store.pathOf(blob.digest), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }));
  let left = all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const freed = { removed: 0, freedBytes: 0 };
  for (const { digest, sizeBytes, usedAt } of all.sort((a, b) => a.usedAt - b.usedAt)) {
    if (left <= keepBytes) break;
    if (needed.has(digest) || now - usedAt < youngMs) continue;
    const bytes = store.remove(digest);
    left -= sizeBytes;
    freed.removed += 1;
    freed.freedBytes += bytes;
  }
  return freed;
}
