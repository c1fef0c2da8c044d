import { canonicalJson } from '../../protocol/src/canonicalJson.ts';
import type { ArtifactRef } from '../../protocol/src/artifacts.ts';
import type { BlobStore } from '../../remote-agent/src/files/blobStore.ts';
import type { CardJob, JobEvents } from '../../language-server/src/runners/cardRunner.ts';

/** Stores a text or bytes as the result of a card would be. */
export function putFile(blobs: BlobStore, content: string | Uint8Array): ArtifactRef {
  const blob = blobs.putBytes(typeof content === 'string' ? Buffer.from(content) : content);
  return { kind: 'file', digest: blob.digest, sizeBytes: blob.sizeBytes, files: 1 };
}

/** Stores a card's folder, given by path. */
export function putFolder(
  blobs: BlobStore,
  files: Readonly<Record<string, string | Uint8Array>>,
): ArtifactRef {
  const paths = Object.keys(files).sort();
  const stored = paths.map((path) => ({ path, ref: putFile(blobs, files[path] ?? '') }));
  const listing = canonicalJson({
    version: 1,
    entries: stored.map(({ path, ref }) => ({
      kind: 'file',
      path,
      digest: ref.digest,
      sizeBytes: ref.sizeBytes,
      executable: false,
    })),
  });
  const sizeBytes = stored.reduce((sum, { ref }) => sum + ref.sizeBytes, 0);
  return { kind: 'directory', digest: putFile(blobs, listing).digest, sizeBytes, files: paths.length };
}

/** A `js` job with one file and one `json` output `out`, unless said otherwise. */
export function cardJob(blobs: BlobStore, source: string, changes: Partial<CardJob> = {}): CardJob {
  return {
    jobId: 'job-1',
    cardId: 'card',
    runtime: 'js',
    entry: 'main.js',
    code: putFolder(blobs, { 'main.js': source }),
    inputs: [],
    outputs: [{ port: 'out', type: 'json', optional: false }],
    params: '{}',
    limits: { seconds: 60, memoryMB: 1024, processes: 64, outputMB: 16, logMB: 1 },
    access: { network: { kind: 'none' }, hostFolders: [] },
    ...changes,
  };
}

/** What `recordEvents` gives; a test may replace a member. */
export type RecordedEvents = { -readonly [Name in keyof JobEvents]: JobEvents[Name] } & {
  readonly told: string[];
};

/** Events that are kept as text, one entry for each. */
export function recordEvents(): RecordedEvents {
  const told: string[] = [];
  return {
    told,
    started: () => told.push('started'),
    log: (stream, text) => told.push(`${stream} ${text}`),
    progress: (fraction, text) => told.push(`progress ${fraction} ${text}`),
    egress: () => told.push('egress'),
  };
}
