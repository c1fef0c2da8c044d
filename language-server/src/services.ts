import type { RequestHandlers } from '../../protocol/src/contract.ts';
import type { CardStatus } from '../../protocol/src/engine.ts';
import type { engineRequests } from '../../protocol/src/engineContract.ts';
import type { Connections } from './agent/providers/connections.ts';
import type { PersonSide } from './agent/providers/personSide.ts';
import { doctorReport } from './doctor.ts';
import { createAgentAndApps, type AgentAndAppsReplacements } from './engine/agentAndApps.ts';
import { createElsewhere } from './engine/elsewhere.ts';
import { createContext } from './engine/createContext.ts';
import type { EngineClock, EngineContext } from './engine/engineContext.ts';
import { tellLocked } from './engine/engineEvents.ts';
import { createOpening, type EngineOpening } from './engine/engineOpening.ts';
import { createFindHeldCards } from './engine/findHeldCards.ts';
import { openEngine, type EngineReplacements } from './engine/openEngine.ts';
import { Consents } from './permissions/consents.ts';
import { createPermissionHandlers } from './permissions/permissionHandlers.ts';
import type { FindTimes } from './runners/places/findHeld.ts';
import { openWorkerIdentity } from './runners/worker/workerIdentity.ts';
import { createProjectViews } from './runs/projectViews.ts';
import { createRunHandlers } from './runs/runHandlers.ts';
import { hasHome } from './store/home.ts';
import { createStoreHandlers } from './store/storeHandlers.ts';
import { createReleases } from './vault/releaseValues.ts';

export interface EngineServicesOptions
  extends
    Pick<EngineContext, 'home' | 'programs' | 'projects' | 'notify' | 'onProblem'>,
    EngineReplacements,
    AgentAndAppsReplacements {
  readonly trusted: boolean;
  /** Absent where there is no extension: then no model can be asked, and no person. */
  readonly person?: PersonSide;
  /** Replaced in tests, and all that follows. */
  readonly now?: EngineClock['now'];
  readonly setTimer?: EngineClock['setTimer'];
  readonly scopeOf?: EngineContext['scopeOf'];
  readonly findTimes?: FindTimes;
}

export interface EngineServices {
  /** A handler for every request of the contract. */
  readonly handlers: RequestHandlers<typeof engineRequests>;
  setTrusted(trusted: boolean): void;
  /** The connections to models that a person has made. */
  setConnections(connections: Connections): void;
  /** Grants, names or locks of the vault changed: what is shown of the projects may be out of date. */
  vaultChanged(): void;
  /** Where a card stands in its latest run, for code lenses; null for none. Does not make a home that is not there. */
  cardStatus(root: string, card: string): CardStatus | null;
  /** Starts the runner beside what is done next: a run of sealed cards will need it. */
  warmUp(): void;
  /** Looks, in a moment and in the background, for the cards of the open projects that other places may hold. */
  findHeld(): void;
  /** Resolves when this run, started here, is over and stored; at once where it is no longer going on. */
  whenFinished(runId: string): Promise<void>;
  /** Cancels what runs, waits for its end, and closes everything. */
  dispose(): Promise<void>;
}

/** Composes the engine's services. The store, the runner and the QuickJS pool are opened on first need. */
export function createEngineServices(options: EngineServicesOptions): EngineServices {
  let { trusted } = options;
  const opening: EngineOpening = createOpening(() =>
    openEngine({
      ...{ context, consents, releases, identity, replaced: options },
      isEnding: () => opening.isEnding,
    }),
  );
  const { open, opened } = opening;
  const context = createContext(options, {
    isTrusted: () => trusted,
    database: () => opened()?.store.home.database,
  });
  const { home, projects, notify, clock } = context;
  const hasEngine = () => opened() !== undefined || hasHome(home);
  const identity = () => openWorkerIdentity(options.person, home, process.getuid?.() ?? -1);
  const showProjects = (roots = projects.list().map(({ root }) => root)) => {
    for (const root of roots) notify('project/changed', { root });
  };

  // Runs ask to their last step what is accepted, also while the engine ends.
  const consents = new Consents({ ...context, now: clock.now, store: () => (opened() ?? open()).store });
  const releases = createReleases({
    ...context,
    accepted: (root, card) => consents.acceptedByCard(root).get(card) ?? [],
    onLocked: (card, why) => tellLocked(notify, card, why),
  });
  const times = options.findTimes;
  const findHeld = createFindHeldCards({ context, opening, hasEngine, consents, times });
  const views = createProjectViews({ ...context, open, consents });
  const sshHome = options.placeSurroundings?.ssh?.home;
  const elsewhere = createElsewhere({ context, open, identity, sshHome });
  const agentAndApps = createAgentAndApps({ context, open, consents, replaced: options });

  const close = async () => {
    opening.end();
    findHeld.dispose();
    await agentAndApps.dispose();
    elsewhere.dispose();
    await opened()?.close();
  };
  let closing: Promise<void> | undefined;

  return {
    handlers: {
      ...agentAndApps.handlers,
      ...elsewhere.handlers,
      ...views.handlers,
      ...createRunHandlers({ ...context, open, onListed: () => findHeld.again() }),
      ...createPermissionHandlers({ consents, onChanged: (root) => showProjects([root]) }),
      ...createStoreHandlers({ open, now: clock.now }),
      'doctor/report': () => doctorReport(open()),
    },
    setTrusted: (value) => {
      trusted = value;
      if (trusted) findHeld.schedule();
      showProjects();
    },
    setConnections: (connections) => agentAndApps.setConnections(connections),
    vaultChanged: () => {
      releases.changed();
      showProjects();
    },
    cardStatus: (root, card) => (hasEngine() ? views.statusOf(root, card) : null),
    findHeld: () => findHeld.schedule(),
    warmUp: () =>
      void open()
        .runner.ready()
        .catch(() => undefined),
    whenFinished: async (runId) => {
      await opened()?.runs.whenFinished(runId);
    },
    dispose: () => (closing ??= close()),
  };
}
