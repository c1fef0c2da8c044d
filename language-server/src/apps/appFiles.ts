import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createBlobStore, type BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { createAppStorage, type AppStorage } from '../plugins/appStorage.ts';

/** What apps have below `apps/` in Sallyport's folder. */
export interface AppFiles {
  /** Of the apps alone: code, pages and packages. */
  readonly blobs: BlobStore;
  /** What each app stores, in a file of its own. */
  readonly storage: AppStorage;
  /** Where the data of a backup is until its app is installed; on the same disk. */
  readonly restoring: AppStorage;
  readonly packages: string;
  /** For what is being fetched. */
  readonly scratch: string;
  close(): void;
}

/** Opens the files of apps in Sallyport's folder `home`. */
export function openAppFiles(home: string, now: () => number): AppFiles {
  const folder = join(home, 'apps');
  const scratch = join(folder, 'scratch');
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const storage = createAppStorage({ folder: join(folder, 'data'), now });
  const restoring = createAppStorage({ folder: join(folder, 'restoring'), now });
  return {
    blobs: createBlobStore(join(folder, 'blobs')),
    storage,
    restoring,
    packages: join(folder, 'packages'),
    scratch,
    close: () => {
      storage.close();
      restoring.close();
    },
  };
}
