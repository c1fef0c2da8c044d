import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { CardStatus } from '../../../protocol/src/engine.ts';
import { limits } from '../../../protocol/src/limits.ts';
import { createBlobStore, type BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { Journal } from '../history/journal.ts';
import type { Consents } from '../permissions/consents.ts';
import type { PlaceSurroundings } from '../runners/places/factories.ts';
import type { PlaceRegistry } from '../runners/places/placeRegistry.ts';
import { createCodeCapture, type CodeCapture } from '../runs/captureCode.ts';
import { History } from '../runs/history.ts';
import { createRemoteJobs, type HomeJobs } from '../runs/remoteJobs.ts';
import type { Runs } from '../runs/runs.ts';
import { openHome } from '../store/home.ts';
import { createLimitKeeper } from '../store/limitKeeper.ts';
import { openStore, type Store } from '../store/store.ts';
import type { Releases } from '../vault/releaseValues.ts';
import { createCardRunners, type CardRunners, type ReplacedRunners } from './cardRunners.ts';
import type { EngineContext } from './engineContext.ts';
import { tellSetAside, toldOfLeftCards, toldOfRuns } from './engineEvents.ts';
import { createEnginePlaces } from './enginePlaces.ts';
import { createEngineRuns } from './engineRuns.ts';

/** What tests put in the place of the engine's parts and limits; absent is the real one. */
export interface EngineReplacements extends ReplacedRunners {
  readonly parallel?: number;
  readonly blobStoreBytes?: number;
  readonly historyBytes?: number;
  readonly placeSurroundings?: Partial<PlaceSurroundings>;
}

export interface OpenEngineOptions extends Pick<PlaceSurroundings, 'identity'> {
  readonly context: EngineContext;
  readonly replaced: EngineReplacements;
  readonly consents: Pick<Consents, 'acceptedByCard'>;
  readonly releases: Releases;
  readonly isEnding: () => boolean;
}

/** What is open while the engine is. */
export interface OpenEngine extends Omit<CardRunners, 'jsFiles'> {
  readonly store: Store;
  readonly blobs: BlobStore;
  /** What the blobs may take before old results go. */
  readonly limitBytes: number;
  /** Everywhere else. */
  readonly places: PlaceRegistry;
  readonly runs: Runs;
  /** The cards that earlier engines have left elsewhere. */
  readonly remoteJobs: HomeJobs;
  readonly history: History;
  /** The status with its progress of a card that this engine runs or looks after. */
  readonly liveStatus: (runId: string, card: string) => CardStatus | undefined;
  /** The undo history; opened on first need. */
  readonly journal: () => Journal;
  readonly code: CodeCapture;
  /** Cancels what runs, waits for its end, and closes everything. */
  close(): Promise<void>;
}

/** Opens the store and composes runners, places and runs over it. Throws where the home can't be opened. */
export function openEngine(options: OpenEngineOptions): OpenEngine {
  const { context, replaced, consents, releases, identity, isEnding } = options;
  const { clock, notify, tellProblem } = context;
  const home = openHome(context.home);
  const store = openStore(home, clock.now);
  tellSetAside(notify, store);
  const blobs = createBlobStore(home.blobs);
  const parallel = replaced.parallel ?? availableParallelism();
  const limitBytes = replaced.blobStoreBytes ?? limits.blobStoreBytes;

  const runners = createCardRunners({ ...context, home, blobs, maxJobs: parallel, replaced });
  const { runner, jsRunner } = runners;
  const code = createCodeCapture(blobs, store.results);
  const journal = journalOf(context, store, replaced.historyBytes ?? limits.historyBytes);
  const remoteJobs = createRemoteJobs({ store, now: clock.now, events: toldOfLeftCards(context, store) });
  const places = createEnginePlaces({
    ...context,
    ...{ store, blobs, remoteJobs, releases, identity, parallel, surroundings: replaced.placeSurroundings },
  });
  const keepWithinLimit = createLimitKeeper({ ...clock, database: store.database, blobs, limitBytes });
  const runs = createEngineRuns({
    ...context,
    ...runners,
    ...{ store, blobs, code, places, journal, consents, releases },
    events: toldOfRuns(context, () => {
      if (!isEnding()) keepWithinLimit().catch(tellProblem);
    }),
  });
  const liveStatus: OpenEngine['liveStatus'] = (runId, card) =>
    runs.liveStatus(runId, card) ?? remoteJobs.liveStatus(runId, card);
  const history = new History(store, { liveStatus });

  return {
    ...{ store, blobs, limitBytes, runner, jsRunner, places, runs, remoteJobs, history, liveStatus },
    ...{ journal, code },
    close: async () => {
      await Promise.all([runs.dispose(), places.dispose()]);
      await Promise.all([runner.dispose(), jsRunner.dispose()]);
      store.close();
    },
  };
}

function journalOf({ clock, notify }: EngineContext, store: Store, limitBytes: number): () => Journal {
  let journal: Journal | undefined;
  return () =>
    (journal ??= new Journal({
      database: store.database,
      blobs: createBlobStore(store.home.history),
      engine: store.engineId,
      createId: () => randomBytes(12).toString('base64url'),
      now: clock.now,
      limitBytes,
      onChanged: (root) => notify('history/changed', { root }),
    }));
}
