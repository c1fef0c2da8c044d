import { statSync } from 'node:fs';
import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppRecords } from './appRecords.ts';
import { FrozenTree } from './tree/frozenTree.ts';

/**
 * Removes blobs that no app and no stage refers to. It happens within a transaction: a stage is a row before it is
 * shown, and staging and installing look at every file within their own, so nothing that they count on can go unseen.
 */
export function dropBlobs(records: AppRecords, blobs: BlobStore, candidates: Iterable<string>): void {
  records.transaction(() => {
    const kept = keptBlobs(records, blobs);
    for (const digest of candidates) if (!kept.has(digest)) blobs.remove(digest);
  });
}

/**
 * Ends reviews that nobody answered for a day, and removes what engines that ended left behind. What is young may be
 * part of a staging that goes on in another window.
 */
export function sweepBlobs(records: AppRecords, blobs: BlobStore, now: number): void {
  records.transaction(() => {
    for (const stage of records.stages())
      if (!stage.isWaiting && stage.createdAt < now - dayMs) records.removeStage(stage.id);
  });
  const old = [...blobs.list()].filter(({ digest }) => {
    const stat = statSync(blobs.pathOf(digest), { throwIfNoEntry: false });
    return stat !== undefined && stat.mtimeMs < now - hourMs;
  });
  dropBlobs(
    records,
    blobs,
    old.map(({ digest }) => digest),
  );
  blobs.sweep(hourMs);
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** Every blob of a frozen tree; the listing alone where it can't be read. */
export function blobsOf(blobs: BlobStore, ref: ArtifactRef): Set<string> {
  try {
    return new FrozenTree(blobs, ref).digests();
  } catch {
    return new Set([ref.digest]);
  }
}

function keptBlobs(records: AppRecords, blobs: BlobStore): Set<string> {
  const kept = new Set<string>();
  const keep = (ref: ArtifactRef) => {
    for (const digest of blobsOf(blobs, ref)) kept.add(digest);
  };
  for (const { code, page } of records.list()) {
    keep(code);
    kept.add(page.digest);
  }
  for (const { code, data } of records.stages()) {
    keep(code);
    if (data) keep(data);
  }
  return kept;
}
