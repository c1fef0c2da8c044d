import { utimesSync, statSync } from 'node:fs';
import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import type { JobResult, JobSpec } from '../../../protocol/src/runner.ts';
import type { BlobStore } from '../files/blobStore.ts';
import { readTree } from '../files/readTree.ts';

/** What a job is made from. */
export function artifactsOf(job: JobSpec): ArtifactRef[] {
  return [job.code, ...job.inputs.map(({ artifact }) => artifact)];
}

/**
 * The blobs of these artifacts that are not there in full: files by their size, listings by their content. Where a
 * listing is missing, it stands for what it names.
 */
export function missingBlobs(store: BlobStore, artifacts: readonly ArtifactRef[]): string[] {
  const missing = new Set<string>();
  for (const artifact of artifacts) {
    if (artifact.kind === 'file') {
      if (store.sizeOf(artifact.digest) !== artifact.sizeBytes) missing.add(artifact.digest);
      continue;
    }
    const entries = entriesOf(store, artifact);
    if (!entries) missing.add(artifact.digest);
    for (const entry of entries ?? []) {
      if (entry.kind === 'file' && store.sizeOf(entry.digest) !== entry.sizeBytes) missing.add(entry.digest);
    }
  }
  return [...missing];
}

/** Every blob that is there of what a job was made from and has made. */
export function blobsOf(store: BlobStore, job: JobSpec, result: JobResult | undefined): Set<string> {
  const used = new Set<string>();
  for (const artifact of [...artifactsOf(job), ...Object.values(result?.outputs ?? {})]) {
    used.add(artifact.digest);
    if (artifact.kind === 'file') continue;
    for (const entry of entriesOf(store, artifact) ?? []) if (entry.kind === 'file') used.add(entry.digest);
  }
  return used;
}

/** Notes that a job used these now, at most once a day each: what was used last is removed last. */
export function touchBlobs(store: BlobStore, artifacts: readonly ArtifactRef[], now: number): void {
  for (const { digest } of artifacts) {
    const found = statSync(store.pathOf(digest), { throwIfNoEntry: false });
    if (found && now - found.mtimeMs > dayMs) utimesSync(store.pathOf(digest), now / 1000, now / 1000);
  }
}

const dayMs = 24 * 60 * 60 * 1000;

function entriesOf(store: BlobStore, artifact: ArtifactRef) {
  try {
    return readTree(store, artifact).entries;
  } catch {
    return undefined;
  }
}
