import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import type { PluginStops } from '../plugins/pluginRecords.ts';
import { deletedMs } from './appLibrary.ts';
import type { AppRecords } from './appRecords.ts';
import { sweepBlobs } from './collectBlobs.ts';

export interface SweepOptions {
  readonly records: AppRecords;
  readonly blobs: BlobStore;
  readonly storage: AppStorage;
  readonly stops: Pick<PluginStops, 'clear'>;
  readonly now: () => number;
}

/** Looking at every blob takes as long as there are many: once a day, remembered under a name that no app has. */
const sweeps = '';
const dayMs = 24 * 60 * 60 * 1000;

/** Forgets apps that were deleted long enough ago, and once a day the blobs that nothing refers to. */
export function sweepApps({ records, blobs, storage, stops, now }: SweepOptions): void {
  for (const { id, deletedAt } of records.list()) {
    if (deletedAt === null || deletedAt + deletedMs > now()) continue;
    storage.clear(id);
    stops.clear(id);
    records.transaction(() => records.forget(id));
  }
  if (now() - (records.logOf(sweeps).at(-1)?.at ?? 0) < dayMs) return;
  sweepBlobs(records, blobs, now());
  records.log(sweeps, now(), 'sweep', '');
}
