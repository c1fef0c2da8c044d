import type { ArtifactRef } from '../../../../protocol/src/artifacts.ts';
import type { BlobStore, StoredBlob } from '../../../../remote-agent/src/files/blobStore.ts';
import { readTree } from '../../../../remote-agent/src/files/readTree.ts';
import type { CardJob } from '../cardRunner.ts';

/** Every blob that a job is made from, each once: files, listings, and the files that listings name. */
export function blobsOfJob(store: BlobStore, job: Pick<CardJob, 'code' | 'inputs'>): StoredBlob[] {
  const blobs = new Map<string, StoredBlob>();
  for (const artifact of [job.code, ...job.inputs.map((input) => input.artifact)])
    for (const blob of blobsOfArtifact(store, artifact)) blobs.set(blob.digest, blob);
  return [...blobs.values()];
}

/** A stored artifact's blobs, the listing first. Throws as `readTree` does. */
export function* blobsOfArtifact(store: BlobStore, artifact: ArtifactRef): Generator<StoredBlob> {
  if (artifact.kind === 'file') {
    yield { digest: artifact.digest, sizeBytes: artifact.sizeBytes };
    return;
  }
  yield { digest: artifact.digest, sizeBytes: store.sizeOf(artifact.digest) ?? 0 };
  for (const entry of readTree(store, artifact).entries)
    if (entry.kind === 'file') yield { digest: entry.digest, sizeBytes: entry.sizeBytes };
}
