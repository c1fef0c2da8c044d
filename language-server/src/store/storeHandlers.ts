import type { RequestHandlers } from '../../../protocol/src/contract.ts';
import type { engineSide } from '../../../protocol/src/engine.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { cleanStore, storeUsage } from './cleanUp.ts';
import type { Store } from './store.ts';

export interface StoreHandlersOptions {
  /** Opened on first need. */
  readonly open: () => {
    readonly store: Store;
    readonly blobs: BlobStore;
    /** What the blobs may take before old results go. */
    readonly limitBytes: number;
  };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type StoreHandlers = Pick<
  RequestHandlers<(typeof engineSide)['requests']>,
  'store/usage' | 'store/clean'
>;

const dayMs = 24 * 60 * 60 * 1000;

/** Says what is stored, and cleans it for a person. */
export function createStoreHandlers({ open, now }: StoreHandlersOptions): StoreHandlers {
  return {
    'store/usage': () => {
      const { store, blobs, limitBytes } = open();
      return storeUsage(store.database, blobs, limitBytes);
    },
    'store/clean': ({ runsOlderThanDays: days }) => {
      const { store, blobs } = open();
      store.recover();
      const chosen = days === undefined ? {} : { forgetBefore: now() - days * dayMs };
      return cleanStore(store.database, blobs, chosen);
    },
  };
}
