import { homedir } from 'node:os';
import { join } from 'node:path';
import type { RequestHandlers } from '../../../protocol/src/contract.ts';
import type { workerRequests } from '../../../protocol/src/pinnedWorker.ts';
import type { placeRequests, vmRequests } from '../../../protocol/src/places.ts';
import type { terminalRequests } from '../../../protocol/src/placeTerminal.ts';
import type { PlaceSurroundings } from '../runners/places/factories.ts';
import { createPlaceHandlers } from '../runners/places/placeHandlers.ts';
import { configuredHosts } from '../runners/ssh/configuredHosts.ts';
import { createTerminals } from '../runners/vm/terminalHandlers.ts';
import { createVmHandlers } from '../runners/vm/vmHandlers.ts';
import { vmPlace } from '../runners/vm/vmPlace.ts';
import { KnownWorkers } from '../runners/worker/knownWorkers.ts';
import { createWorkerHandlers } from '../runners/worker/workerHandlers.ts';
import type { EngineContext } from './engineContext.ts';
import type { OpenEngine } from './openEngine.ts';

export interface ElsewhereOptions extends Pick<PlaceSurroundings, 'identity'> {
  readonly context: EngineContext;
  readonly open: () => Pick<OpenEngine, 'store' | 'places'>;
  /** The folder of the person's SSH configuration; absent is their home. */
  readonly sshHome: string | undefined;
}

export interface Elsewhere {
  readonly handlers: RequestHandlers<
    typeof placeRequests & typeof vmRequests & typeof terminalRequests & typeof workerRequests
  >;
  /** Closes the terminals that are open. */
  dispose(): void;
}

/** Answers the person's side about everything that is not this machine: places, the VM and its terminals, workers. */
export function createElsewhere({ context, open, identity, sshHome }: ElsewhereOptions): Elsewhere {
  const { programs, projects, notify, onProblem, projectKey, isTrusted, clock } = context;
  const places = createPlaceHandlers({
    registry: () => open().places,
    named: () => [
      ...open().store.remoteJobs.places(),
      ...projects
        .list()
        .flatMap(({ cards }) =>
          [...cards.values()].flatMap(({ manifest }) => manifest?.permissions?.executionService ?? []),
        ),
    ],
    sshHosts: () => configuredHosts(sshHome ?? homedir()),
  });
  const workers = createWorkerHandlers({
    known: () => new KnownWorkers(open().store.home.path, process.getuid?.() ?? -1),
    identity,
    drop: (place) => open().places.drop(place),
    now: clock.now,
  });
  const terminals = createTerminals({
    place: () => open().places.get(vmPlace),
    projectKey: (root) => projectKey(projects.get(root).root),
    isTrusted,
  });
  const vm = createVmHandlers({
    home: () => open().store.home.path,
    runner: join(programs, 'remote-agent.cjs'),
    now: clock.now,
    release: async () => {
      terminals.assertNone();
      await open().places.drop(vmPlace);
    },
    onProgress: (text, fraction) => notify('vm/progress', { text, fraction }),
    onProblem,
  });
  return {
    handlers: { ...places, ...workers, ...terminals.handlers, ...vm },
    dispose: () => terminals.dispose(),
  };
}
