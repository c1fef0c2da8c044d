import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { placeFactories, type PlaceSurroundings } from '../runners/places/factories.ts';
import { PlaceRegistry } from '../runners/places/placeRegistry.ts';
import { jobsUnder } from '../runners/places/remoteJobs.ts';
import { createRemoteRunner } from '../runners/places/remoteRunner.ts';
import type { HomeJobs } from '../runs/remoteJobs.ts';
import { Slots } from '../runs/slots.ts';
import type { Store } from '../store/store.ts';
import type { Releases } from '../vault/releaseValues.ts';
import type { EngineContext } from './engineContext.ts';

export interface EnginePlacesOptions
  extends
    Pick<EngineContext, 'home' | 'programs' | 'person' | 'notify' | 'onProblem' | 'clock'>,
    Pick<PlaceSurroundings, 'identity'> {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly remoteJobs: HomeJobs;
  readonly releases: Pick<Releases, 'forStarted'>;
  /** Cards at once on this machine. */
  readonly parallel: number;
  /** Replaced in tests. */
  readonly surroundings: Partial<PlaceSurroundings> | undefined;
}

/** Every place but this machine, with the jobs that this home has there. Nothing connects yet. */
export function createEnginePlaces(options: EnginePlacesOptions): PlaceRegistry {
  const { home, programs, person, identity, notify, onProblem, clock, store, blobs, releases } = options;
  const remote: PlaceSurroundings['remote'] = (transport, key = transport.place, shown = (own) => own) =>
    createRemoteRunner({
      transport,
      blobs,
      engine: store.remoteJobs.engine(),
      jobs: jobsUnder(key, options.remoteJobs),
      release: (...asked) => releases.forStarted(...asked),
      now: clock.monotonic,
      setTimer: clock.setTimer,
      onChange: (view) => notify('place/changed', shown(view)),
      onProblem,
    });
  return new PlaceRegistry({
    localSlots: new Slots(options.parallel),
    factories: placeFactories({
      ...{ home, programs, person, identity, remote, onProblem },
      ...options.surroundings,
    }),
  });
}
