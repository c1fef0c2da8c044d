import type { RequestHandlers } from '../../../protocol/src/contract.ts';
import type { engineSide } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { History } from './history.ts';
import type { HomeJobs } from './remoteJobs.ts';
import type { Runs } from './runs.ts';

export interface RunHandlersOptions {
  /** Opened on first need. */
  readonly open: () => {
    readonly runs: Pick<Runs, 'start' | 'cancel' | 'dryRun'>;
    readonly remoteJobs: Pick<HomeJobs, 'cancelRun'>;
    readonly history: History;
    readonly blobs: Pick<BlobStore, 'sizeOf' | 'pathOf'>;
  };
  /** What history hangs on: the project's scope, or its path where it has none. */
  readonly projectKey: (root: string) => string;
  /** Somebody looks at the history. */
  readonly onListed: () => void;
}

export type RunHandlers = Pick<
  RequestHandlers<(typeof engineSide)['requests']>,
  | 'run/start'
  | 'run/cancel'
  | 'run/dryRun'
  | 'run/get'
  | 'run/list'
  | 'run/why'
  | 'log/read'
  | 'artifact/locate'
  | 'egress/list'
>;

/** Starts runs for a person and shows what is remembered of them. */
export function createRunHandlers({ open, projectKey, onListed }: RunHandlersOptions): RunHandlers {
  const keyOf = (root: string | undefined) => (root === undefined ? undefined : projectKey(root));
  return {
    'run/start': async ({ root, ...chosen }) => ({ runId: await open().runs.start(root, chosen) }),
    'run/cancel': ({ runId }) => {
      const { runs, remoteJobs } = open();
      const isHere = runs.cancel(runId);
      return { found: remoteJobs.cancelRun(runId) || isHere };
    },
    'run/dryRun': async ({ root, cards }) => ({ cards: await open().runs.dryRun(root, cards) }),
    'run/get': ({ runId }) => open().history.view(runId),
    'run/list': ({ root, cursor, limit }) => {
      onListed();
      return open().history.list(keyOf(root), cursor, limit);
    },
    'run/why': ({ runId, card }) => ({ changes: open().history.why(runId, card) }),
    'log/read': ({ cardRunId, fromLine, count }) => open().history.log(cardRunId, fromLine, count),
    'artifact/locate': ({ digest }) => {
      const { blobs } = open();
      const sizeBytes = blobs.sizeOf(digest);
      if (sizeBytes === undefined) {
        throw new UserError('not-found', 'This result was removed. Run the card again to make it anew.', {
          digest,
        });
      }
      return { path: blobs.pathOf(digest), sizeBytes };
    },
    'egress/list': ({ root, cursor, limit }) => open().history.egress(keyOf(root), cursor, limit),
  };
}
