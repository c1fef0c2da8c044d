import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { cleanStore } from './cleanUp.ts';
import type { Database } from './database.ts';

export interface LimitKeeperOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly limitBytes: number;
  /** Milliseconds, monotonic. */
  readonly monotonic: () => number;
}

/** Looking costs a walk. */
const lookMs = 10 * 60 * 1000;

/**
 * What cleans the store where it has outgrown its limit; to be called between runs. It looks rarely, and leaves the
 * store as it is while a run goes on anywhere.
 */
export function createLimitKeeper(options: LimitKeeperOptions): () => Promise<void> {
  const { database, blobs, limitBytes, monotonic } = options;
  let lastLookAt = -Infinity;
  return async () => {
    if (monotonic() - lastLookAt < lookMs) return;
    lastLookAt = monotonic();
    let blobBytes = 0;
    for (const { sizeBytes } of blobs.list()) blobBytes += sizeBytes;
    if (blobBytes <= limitBytes) return;
    try {
      await cleanStore(database, blobs, { limitBytes });
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'conflict') throw error;
    }
  };
}
