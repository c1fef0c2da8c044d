import { homedir } from 'node:os';
import { localPlace } from '../../../protocol/src/places.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { Journal } from '../history/journal.ts';
import { createRecordWrites } from '../history/recordJob.ts';
import type { Consents } from '../permissions/consents.ts';
import type { PlaceRegistry } from '../runners/places/placeRegistry.ts';
import type { CodeCapture } from '../runs/captureCode.ts';
import { createPlaces } from '../runs/place.ts';
import { Runs, type RunEvents, type RunsOptions } from '../runs/runs.ts';
import type { Store } from '../store/store.ts';
import type { Releases } from '../vault/releaseValues.ts';
import type { CardRunners } from './cardRunners.ts';
import type { EngineContext } from './engineContext.ts';

export interface EngineRunsOptions
  extends CardRunners, Pick<EngineContext, 'projects' | 'isTrusted' | 'projectKey' | 'clock'> {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly code: CodeCapture;
  readonly places: PlaceRegistry;
  readonly journal: () => Journal;
  readonly consents: Pick<Consents, 'acceptedByCard'>;
  readonly releases: Pick<Releases, 'forJob'>;
  readonly events: RunEvents;
}

/** The runs of this engine, over what runs cards here and elsewhere. */
export function createEngineRuns(options: EngineRunsOptions): Runs {
  const { store, blobs, projects, code, isTrusted, projectKey, clock, events } = options;
  const { runner, jsRunner, jsFiles, places, consents, releases } = options;
  const release: RunsOptions['release'] = async (card, root, jobId, signal) => {
    if (card.vault.length === 0) return {};
    const place = card.place === localPlace ? runner : places.get(card.place);
    const info = await place.ready({ project: projectKey(root), access: card.access });
    return releases.forJob(card, root, jobId, info, signal);
  };
  return new Runs({
    ...{ store, blobs, projects, code, isTrusted, projectKey, clock, events, release },
    accepted: (root) => consents.acceptedByCard(root),
    recordWrites: createRecordWrites(options.journal),
    lookAtPlaces: createPlaces({ runner, elsewhere: (id) => places.get(id), jsFiles }),
    runnerFor: ({ runtime, place }) =>
      runtime === 'js' ? jsRunner : place === localPlace ? runner : places.get(place),
    slotsOf: ({ place }) => places.slots(place),
    userFolder: homedir(),
  });
}
