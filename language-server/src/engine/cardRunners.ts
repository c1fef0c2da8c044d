import { join } from 'node:path';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { spawnRunner } from '../environment.ts';
import type { CardRunner } from '../runners/cardRunner.ts';
import { createLocalRunner, type LocalRunner } from '../runners/local.ts';
import { createQuickjsRunner } from '../runners/quickjs.ts';
import type { Home } from '../store/home.ts';
import type { EngineContext } from './engineContext.ts';

/** Replaced in tests. */
export interface ReplacedRunners {
  readonly createRunner?: (home: { readonly blobs: string; readonly scratch: string }) => LocalRunner;
  readonly createJsRunner?: (blobs: BlobStore) => CardRunner;
}

export interface CardRunners {
  /** Beside the engine, for cards in a sandbox. */
  readonly runner: LocalRunner;
  /** For `js` cards. */
  readonly jsRunner: CardRunner;
  /** The files that `js` cards run on: another QuickJS is another environment. */
  readonly jsFiles: readonly string[];
}

export interface CardRunnersOptions extends Pick<EngineContext, 'programs' | 'onProblem'> {
  readonly home: Home;
  readonly blobs: BlobStore;
  readonly maxJobs: number;
  readonly replaced: ReplacedRunners;
}

/** What runs cards on this machine. Neither starts anything before its first card. */
export function createCardRunners(options: CardRunnersOptions): CardRunners {
  const { programs, onProblem, home, blobs, maxJobs, replaced } = options;
  const files = {
    script: join(programs, 'sandbox-worker.mjs'),
    wasm: join(programs, 'quickjs.wasm'),
    guest: join(programs, 'quickjs-guest.js'),
  };
  const runner =
    replaced.createRunner?.(home) ??
    createLocalRunner({
      spawn: () => spawnRunner(join(programs, 'remote-agent.cjs')),
      blobs: home.blobs,
      scratch: home.scratch,
      maxJobs,
      onProblem,
    });
  const { createJsRunner } = replaced;
  return createJsRunner
    ? { runner, jsRunner: createJsRunner(blobs), jsFiles: [] }
    : { runner, jsRunner: createQuickjsRunner({ blobs, files, maxJobs }), jsFiles: Object.values(files) };
}
