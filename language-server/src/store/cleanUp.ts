import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod/mini';
import { artifactRef } from '../../../protocol/src/artifacts.ts';
import type { StoreUsage } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { number, text, type Database } from './database.ts';
import { addBlobs, artifactsOfRuns } from './references.ts';

export interface CleanOptions {
  /** Runs that started before this are forgotten first, milliseconds since the epoch. */
  readonly forgetBefore?: number;
  /** The oldest runs give up their results until the rest fits; the latest run of each project keeps its own. */
  readonly limitBytes?: number;
  /** Only these blobs may go; absent allows every one that no run refers to. */
  readonly only?: ReadonlySet<string>;
}

export interface CleanResult {
  readonly removedRuns: number;
  readonly removedBlobs: number;
  readonly freedBytes: number;
}

/** What is stored and how much of it no run refers to. */
export function storeUsage(database: Database, blobs: BlobStore, limitBytes: number): StoreUsage {
  const kept = keptBlobs(database, blobs);
  const usage = { blobBytes: 0, blobCount: 0, unusedBytes: 0 };
  for (const blob of blobs.list()) {
    usage.blobBytes += blob.sizeBytes;
    usage.blobCount += 1;
    if (!kept.has(blob.digest)) usage.unusedBytes += blob.sizeBytes;
  }
  return {
    ...usage,
    databaseBytes: ['', '-wal', '-shm'].reduce((sum, suffix) => sum + sizeOf(database.path + suffix), 0),
    runs: number(database.get('select count(*) as runs from runs') ?? {}, 'runs'),
    limitBytes,
  };
}

/** The blobs that no run refers to, their bytes, and a digest that is another one where any of it differs. */
export function measureUnused(
  database: Database,
  blobs: BlobStore,
): { readonly blobs: ReadonlySet<string>; readonly bytes: number; readonly digest: string } {
  const kept = keptBlobs(database, blobs);
  const unused = [...blobs.list()].filter(({ digest }) => !kept.has(digest));
  return {
    blobs: new Set(unused.map(({ digest }) => digest)),
    bytes: unused.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    digest: hash('sha256', unused.map(({ digest }) => digest).join(' ')),
  };
}

/**
 * Removes results that no run refers to. Blobs go in batches, each in a transaction that first sees that no run is
 * going on anywhere (a run is recorded before it touches a blob), so nothing that a run is about to use can vanish.
 * Throws `conflict` while a run is going on.
 */
export async function cleanStore(
  database: Database,
  blobs: BlobStore,
  options: CleanOptions,
): Promise<CleanResult> {
  const removedRuns = database.transaction(() => {
    assertIdle(database);
    const removed = forgetRuns(database, options.forgetBefore);
    if (options.limitBytes !== undefined) dropOldResults(database, blobs, options.limitBytes);
    return removed;
  });
  let removedBlobs = 0;
  let freedBytes = 0;
  let lastRun: number | undefined;
  let waiting: string[] = [];
  for (;;) {
    const left = database.transaction(() => {
      assertIdle(database);
      database.run('update clean_ups set count = count + 1');
      if (lastRun !== newestRun(database)) {
        lastRun = newestRun(database);
        waiting = unusedBlobs(database, blobs).filter((digest) => options.only?.has(digest) ?? true);
      }
      for (const digest of waiting.splice(0, batchSize)) {
        freedBytes += blobs.remove(digest);
        removedBlobs += 1;
      }
      return waiting.length;
    });
    if (left === 0) break;
    await nextTurn();
  }
  blobs.sweep(sweepAgeMs);
  database.exec('pragma wal_checkpoint(truncate)');
  return { removedRuns, removedBlobs, freedBytes };
}

const batchSize = 256;
const sweepAgeMs = 24 * 60 * 60 * 1000;

function assertIdle(database: Database): void {
  const running = database.get("select root from runs where state = 'running' limit 1");
  if (running) {
    throw new UserError(
      'conflict',
      `A run is going on in ${text(running, 'root')}. Clean up when it has ended; nothing of a running run is removed.`,
      { root: text(running, 'root') },
    );
  }
}

function newestRun(database: Database): number {
  return number(database.get('select coalesce(max(seq), 0) as newest from runs') ?? {}, 'newest');
}

function forgetRuns(database: Database, before: number | undefined): number {
  if (before === undefined) return 0;
  return database.run("delete from runs where started_at < ? and state <> 'running'", before).changes;
}

/** Newest first, runs keep their results as long as all that are kept fit together. */
function dropOldResults(database: Database, blobs: BlobStore, limitBytes: number): void {
  const latest = new Set(
    database.all('select max(seq) as seq from runs group by project').map((row) => number(row, 'seq')),
  );
  const kept = new Set<string>();
  let keptBytes = 0;
  for (const { run, artifacts } of artifactsOfRuns(database)) {
    if (keptBytes <= limitBytes || latest.has(run)) {
      const own = new Set<string>();
      for (const artifact of artifacts) addBlobs(own, artifact, blobs);
      const added = [...own].filter((digest) => !kept.has(digest));
      const bytes = added.reduce((sum, digest) => sum + (blobs.sizeOf(digest) ?? 0), 0);
      if (keptBytes + bytes <= limitBytes || latest.has(run)) {
        for (const digest of added) kept.add(digest);
        keptBytes += bytes;
        continue;
      }
      keptBytes = Infinity;
    }
    database.run('update card_runs set result = null where run = ?', run);
  }
}

/** Forgets rows that nothing needs and names the blobs that are left over, listings of folders before their files. */
function unusedBlobs(database: Database, blobs: BlobStore): string[] {
  const listings = listingsOf(database);
  database.run('delete from results where id not in (select result from card_runs where result is not null)');
  database.run('delete from key_parts where key not in (select key from card_runs where key is not null)');
  const kept = keptBlobs(database, blobs);
  for (const row of database.all('select folder, artifact_json from captures')) {
    if (!kept.has(artifactRef.parse(JSON.parse(text(row, 'artifact_json'))).digest))
      database.run('delete from captures where folder = ?', text(row, 'folder'));
  }
  const unused = [...blobs.list()].map(({ digest }) => digest).filter((digest) => !kept.has(digest));
  return [
    ...unused.filter((digest) => listings.has(digest)),
    ...unused.filter((digest) => !listings.has(digest)),
  ];
}

const anyArtifacts = z.union([
  z.array(z.object({ artifact: artifactRef })),
  z.object({ code: artifactRef }),
  artifactRef,
]);

/**
 * Every folder listing that a row names. They go first: whoever finds a listing may rely on its files, and a clean-up
 * that is killed half-way leaves no listing without them.
 */
function listingsOf(database: Database): Set<string> {
  const rows = database.all(
    'select outputs_json as json from results union all select parts_json from key_parts union all select artifact_json from captures',
  );
  const digests = new Set<string>();
  for (const row of rows) {
    const found = anyArtifacts.parse(JSON.parse(text(row, 'json')));
    const artifacts = Array.isArray(found)
      ? found.map(({ artifact }) => artifact)
      : ['code' in found ? found.code : found];
    for (const artifact of artifacts) if (artifact.kind === 'directory') digests.add(artifact.digest);
  }
  return digests;
}

function keptBlobs(database: Database, blobs: BlobStore): Set<string> {
  const kept = new Set<string>();
  for (const { artifacts } of artifactsOfRuns(database)) {
    for (const artifact of artifacts) addBlobs(kept, artifact, blobs);
  }
  return kept;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
