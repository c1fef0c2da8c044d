import { randomBytes } from 'node:crypto';
import { homedir, availableParallelism } from 'node:os';
import { join } from 'node:path';
import { agentRequests } from '../../protocol/src/agent.ts';
import { appRequests } from '../../protocol/src/apps.ts';
import type { ParamsOf, RequestHandlers } from '../../protocol/src/contract.ts';
import type { CardStatus } from '../../protocol/src/engine.ts';
import type { engineHeard, engineRequests, engineTold } from '../../protocol/src/engineContract.ts';
import { errorMessage, UserError } from '../../protocol/src/errors.ts';
import { gateRequests } from '../../protocol/src/gate.ts';
import { limits } from '../../protocol/src/limits.ts';
import { localPlace, type PlaceView } from '../../protocol/src/places.ts';
import { createBlobStore, type BlobStore } from '../../remote-agent/src/files/blobStore.ts';
import type { AgentHandlers, AgentServicesOptions } from './agent/agentServices.ts';
import type { PersonSide } from './agent/providers/personSide.ts';
import type { AppsDeps, AppsServices } from './apps/startApps.ts';
import { doctorReport } from './doctor.ts';
import { spawnRunner } from './environment.ts';
import { Journal } from './history/journal.ts';
import { createRecordWrites } from './history/recordJob.ts';
import { lazyHandlers, lazyPart } from './lazyPart.ts';
import { Consents } from './permissions/consents.ts';
import type { Projects } from './project/model.ts';
import { projectScope } from './project/scope.ts';
import { createLocalRunner, type LocalRunner } from './runners/local.ts';
import { createQuickjsRunner } from './runners/quickjs.ts';
import type { CardRunner } from './runners/cardRunner.ts';
import { createPlaceHandlers } from './runners/places/placeHandlers.ts';
import { placeFactories, type PlaceSurroundings } from './runners/places/factories.ts';
import { FindHeld, type FindTimes, type HeldThere } from './runners/places/findHeld.ts';
import { PlaceRegistry } from './runners/places/placeRegistry.ts';
import { jobsUnder } from './runners/places/remoteJobs.ts';
import { createRemoteRunner } from './runners/places/remoteRunner.ts';
import type { RunnerTransport } from './runners/places/runnerTransport.ts';
import { configuredHosts } from './runners/ssh/configuredHosts.ts';
import { KnownWorkers } from './runners/worker/knownWorkers.ts';
import { createWorkerHandlers } from './runners/worker/workerHandlers.ts';
import { openWorkerIdentity } from './runners/worker/workerIdentity.ts';
import { createTerminals } from './runners/vm/terminalHandlers.ts';
import { createVmHandlers } from './runners/vm/vmHandlers.ts';
import { vmPlace } from './runners/vm/vmPlace.ts';
import { createCodeCapture, type CodeCapture } from './runs/captureCode.ts';
import { History } from './runs/history.ts';
import { createPlaces } from './runs/place.ts';
import { createRemoteJobs, type HomeJobs } from './runs/remoteJobs.ts';
import { Slots } from './runs/slots.ts';
import { toProjectView } from './runs/projectView.ts';
import { Runs } from './runs/runs.ts';
import { cleanStore, storeUsage, type CleanOptions, type CleanResult } from './store/cleanUp.ts';
import { hasHome, openHome } from './store/home.ts';
import { watchLeases } from './store/lease.ts';
import { markDamaged } from './store/openDatabase.ts';
import { isDamage } from './store/sqliteErrors.ts';
import { openStore, type Store } from './store/store.ts';
import { createReleases } from './vault/releaseValues.ts';

type Events = typeof engineHeard;
type Connections = ParamsOf<(typeof engineTold)['connections/set']>;

/** Tells the person's side. */
export type Notify = <M extends keyof Events>(method: M, params: ParamsOf<Events[M]>) => void;

export interface EngineServicesOptions {
  /** The folder of Sallyport's state, absolute; made on first need. */
  readonly home: string;
  readonly trusted: boolean;
  readonly projects: Projects;
  /** The folder that holds the built programs: `remote-agent.cjs`, `sandbox-worker.mjs`, `quickjs.wasm`, … */
  readonly programs: string;
  readonly notify: Notify;
  /** Absent where there is no extension: then no model can be asked, and no person. */
  readonly person?: PersonSide;
  /** What goes wrong without failing anything that was asked for. */
  readonly onProblem: (problem: string) => void;
  /** Replaced in tests. */
  readonly createRunner?: (home: { readonly blobs: string; readonly scratch: string }) => LocalRunner;
  readonly createJsRunner?: (blobs: BlobStore) => CardRunner;
  readonly parallel?: number;
  readonly placeSurroundings?: Partial<PlaceSurroundings>;
  readonly blobStoreBytes?: number;
  readonly historyBytes?: number;
  readonly now?: () => number;
  readonly scopeOf?: (root: string) => string | null;
  readonly createTools?: AgentServicesOptions['createTools'];
  /** Where packages of apps come from, and what else of them is replaced in tests. */
  readonly apps?: Pick<AppsDeps, 'registry' | 'official' | 'environment'>;
  readonly setTimer?: (run: () => void, ms: number) => () => void;
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

/** What is opened when first needed. */
interface Opened {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly runner: LocalRunner;
  readonly jsRunner: CardRunner;
  /** Everywhere else. */
  readonly places: PlaceRegistry;
  readonly runs: Runs;
  /** The cards that earlier engines have left elsewhere. */
  readonly remoteJobs: HomeJobs;
  readonly history: History;
  /** The undo history; opened on first need. */
  readonly journal: () => Journal;
  readonly code: CodeCapture;
}

/** Composes the engine's services. The store, the runner and the QuickJS pool are opened on first need. */
export function createEngineServices(options: EngineServicesOptions): EngineServices {
  const { projects, notify, onProblem, now = Date.now, scopeOf = projectScope } = options;
  const limitBytes = options.blobStoreBytes ?? limits.blobStoreBytes;
  let { trusted } = options;
  let opened: Opened | undefined;
  let disposing: Promise<void> | undefined;

  const isTrusted = () => trusted;
  const projectKey = (root: string) => scopeOf(root) ?? `path:${root}`;
  // Runs ask to their last step what is accepted, also while the engine ends.
  const consentStore = () => (opened ?? open()).store;
  const consents = new Consents({ projects, scopeOf, isTrusted, now, store: consentStore });

  const releases = createReleases({
    person: options.person ?? nobody,
    scopeOf,
    isTrusted,
    accepted: (root, card) => consents.acceptedByCard(root).get(card) ?? [],
    onLocked: (card, why) => {
      const message = `The card “${card}” has started elsewhere and waits for its vault values: ${why}. Unlock the personal vault, and it goes on.`;
      notify('engine/notice', { code: 'permission-needed', message, data: {} });
    },
  });

  const problem = (error: unknown) => {
    onProblem(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (isDamage(error) && opened) markDamaged(opened.store.home.database);
    const code = error instanceof UserError ? error.code : 'internal';
    notify('engine/notice', { code, message: errorMessage(error), data: {} });
  };

  const uid = process.getuid?.() ?? -1;
  const identity = () => openWorkerIdentity(options.person, options.home, uid);

  const open = (): Opened => {
    if (disposing) throw new UserError('closed', 'The engine is ending');
    if (opened) return opened;
    const home = openHome(options.home);
    const store = openStore(home, now);
    if (store.setAside) {
      const { path, problem: what } = store.setAside;
      notify('engine/notice', {
        code: 'store-damaged',
        message: `Sallyport’s database was damaged (${what}). It was kept as ${path}, and a fresh one was begun: the history and the accepted permissions are empty, results on disk are kept.`,
        data: { path },
      });
    }
    const blobs = createBlobStore(home.blobs);
    const parallel = options.parallel ?? availableParallelism();
    const runner =
      options.createRunner?.(home) ??
      createLocalRunner({
        spawn: () => spawnRunner(join(options.programs, 'remote-agent.cjs')),
        blobs: home.blobs,
        scratch: home.scratch,
        maxJobs: parallel,
        onProblem,
      });
    const jsFiles = {
      script: join(options.programs, 'sandbox-worker.mjs'),
      wasm: join(options.programs, 'quickjs.wasm'),
      guest: join(options.programs, 'quickjs-guest.js'),
    };
    const jsRunner =
      options.createJsRunner?.(blobs) ?? createQuickjsRunner({ blobs, files: jsFiles, maxJobs: parallel });
    const code = createCodeCapture(blobs, store.results);
    const remoteJobs = createRemoteJobs({
      store,
      now,
      events: {
        delta: (seq, card, status) => {
          const summary = store.runs.summary(seq);
          if (summary) notify('run/delta', { summary, cards: [{ id: card, status }] });
        },
        log: (cardRunId, totalLines) => notify('log/appended', { cardRunId, totalLines }),
        problem,
      },
    });
    const remote = (
      transport: RunnerTransport,
      key: string = transport.place,
      shown: (own: PlaceView) => PlaceView = (own) => own,
    ) =>
      createRemoteRunner({
        transport,
        blobs,
        engine: store.remoteJobs.engine(),
        jobs: jobsUnder(key, remoteJobs),
        release: (...asked) => releases.forStarted(...asked),
        now: () => performance.now(),
        setTimer: options.setTimer ?? startTimer,
        onChange: (view) => notify('place/changed', shown(view)),
        onProblem,
      });
    const places = new PlaceRegistry({
      localSlots: new Slots(parallel),
      factories: placeFactories({
        home: options.home,
        programs: options.programs,
        person: options.person ?? nobody,
        identity,
        remote,
        onProblem,
        ...options.placeSurroundings,
      }),
    });
    let journalOpened: Journal | undefined;
    const journal = () =>
      (journalOpened ??= new Journal({
        database: store.database,
        blobs: createBlobStore(home.history),
        engine: store.engineId,
        createId: () => randomBytes(12).toString('base64url'),
        now,
        limitBytes: options.historyBytes ?? limits.historyBytes,
        onChanged: (root) => notify('history/changed', { root }),
      }));
    const runs = new Runs({
      recordWrites: createRecordWrites(journal),
      release: async (card, root, jobId, signal) => {
        if (card.vault.length === 0) return {};
        const place = card.place === localPlace ? runner : places.get(card.place);
        const info = await place.ready({ project: projectKey(root), access: card.access });
        return releases.forJob(card, root, jobId, info, signal);
      },
      store,
      blobs,
      projects,
      code,
      accepted: (root) => consents.acceptedByCard(root),
      isTrusted,
      projectKey,
      lookAtPlaces: createPlaces({
        runner,
        elsewhere: (id) => places.get(id),
        jsFiles: options.createJsRunner ? [] : Object.values(jsFiles),
      }),
      runnerFor: ({ runtime, place }) =>
        runtime === 'js' ? jsRunner : place === localPlace ? runner : places.get(place),
      slotsOf: ({ place }) => places.slots(place),
      userFolder: homedir(),
      clock: { now, monotonic: () => performance.now() },
      events: {
        delta: (summary, cards) => {
          for (let at = 0; at === 0 || at < cards.length; at += cardsPerDelta)
            notify('run/delta', { summary, cards: cards.slice(at, at + cardsPerDelta) });
        },
        log: (cardRunId, totalLines) => notify('log/appended', { cardRunId, totalLines }),
        finished: () => void keepWithinLimit().catch(problem),
        problem,
      },
    });
    opened = {
      store,
      blobs,
      runner,
      jsRunner,
      places,
      runs,
      remoteJobs,
      journal,
      history: new History(store, {
        liveStatus: (runId, card) => runs.liveStatus(runId, card) ?? remoteJobs.liveStatus(runId, card),
      }),
      code,
    };
    return opened;
  };

  /** The store is cleaned where it has outgrown its limit, between runs and rarely: looking costs a walk. */
  let lastLookAt = -Infinity;
  const keepWithinLimit = async () => {
    if (!opened || disposing || performance.now() - lastLookAt < cleanLookMs) return;
    lastLookAt = performance.now();
    let blobBytes = 0;
    for (const { sizeBytes } of opened.blobs.list()) blobBytes += sizeBytes;
    if (blobBytes <= limitBytes) return;
    try {
      await cleanStore(opened.store.database, opened.blobs, { limitBytes });
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'conflict') throw error;
    }
  };

  const statusOf = (root: string, card: string): CardStatus | null => {
    const { store, runs, remoteJobs } = open();
    const status = store.runs.latestOf(projectKey(root), card)?.status;
    if (!status) return null;
    const { runId } = status;
    return runs.liveStatus(runId, card) ?? remoteJobs.liveStatus(runId, card) ?? status;
  };

  const viewOf = (root: string) => {
    const project = projects.get(root);
    const { store } = open();
    return toProjectView(project, {
      scope: scopeOf(project.root),
      trusted,
      accepted: consents.accepted(project.root),
      runId: store.runs.latest(projectKey(project.root))?.id ?? null,
      statusOf: (card) => statusOf(project.root, card),
    });
  };

  const clean = (chosen: CleanOptions): Promise<CleanResult> => {
    const { store, blobs } = open();
    store.recover();
    return cleanStore(store.database, blobs, chosen);
  };

  let connections: Connections = { connections: [], webSearch: false, shellInternet: false };
  const agent = lazyPart(async () => {
    const current = open();
    const { startAgent: start } = await import('./agent/startAgent.ts');
    const services = start({
      opened: current,
      projects,
      consents,
      scopeOf,
      projectKey,
      isTrusted,
      person: options.person ?? nobody,
      notify,
      onProblem: problem,
      clock: { now, monotonic: () => performance.now(), setTimer: options.setTimer ?? startTimer },
      programs: options.programs,
      createTools: options.createTools,
    });
    services.setConnections(connections);
    return services;
  });
  const agentHandlers = lazyHandlers<AgentHandlers>({ ...agentRequests, ...gateRequests }, agent);

  const placeHandlers = createPlaceHandlers({
    registry: () => open().places,
    named: () => [
      ...open().store.remoteJobs.places(),
      ...projects
        .list()
        .flatMap(({ cards }) =>
          [...cards.values()].flatMap(({ manifest }) => manifest?.permissions?.executionService ?? []),
        ),
    ],
    sshHosts: () => configuredHosts(options.placeSurroundings?.ssh?.home ?? homedir()),
  });

  const workerHandlers = createWorkerHandlers({
    known: () => new KnownWorkers(open().store.home.path, uid),
    identity,
    drop: (place) => open().places.drop(place),
    now,
  });
  const terminals = createTerminals({
    place: () => open().places.get(vmPlace),
    projectKey: (root) => projectKey(projects.get(root).root),
    isTrusted,
  });
  const vmHandlers = createVmHandlers({
    home: () => open().store.home.path,
    runner: join(options.programs, 'remote-agent.cjs'),
    now,
    release: async () => {
      terminals.assertNone();
      await open().places.drop(vmPlace);
    },
    onProgress: (text, fraction) => notify('vm/progress', { text, fraction }),
    onProblem,
  });

  const apps = lazyPart(async () => {
    const current = open();
    const { startApps: start } = await import('./apps/startApps.ts');
    const services = start({
      opened: current,
      projects,
      projectKey,
      person: options.person ?? nobody,
      gate: async () => (await agent.open()).gate,
      notify,
      onProblem: problem,
      clock: { now, monotonic: () => performance.now(), setTimer: options.setTimer ?? startTimer },
      programs: options.programs,
      ...options.apps,
    });
    services.setConnections(connections.connections);
    return services;
  });
  const appHandlers = lazyHandlers<AppsServices['handlers']>(appRequests, apps);

  const isPlaceAccepted = (root: string, card: string, place: string) =>
    (consents.acceptedByCard(root).get(card) ?? []).some(
      (each) => each.name === 'execution' && each.service === place,
    );
  /** What the open projects have elsewhere. A window without a home has nothing anywhere. */
  const heldThere = (): HeldThere[] => {
    if (!trusted || disposing || !(opened || hasHome(options.home))) return [];
    const { remoteJobs } = open();
    const all = projects
      .list()
      .flatMap(({ root }) =>
        remoteJobs
          .heldCards(projectKey(root))
          .map(({ place, card }) => ({ place, isAccepted: isPlaceAccepted(root, card, place) })),
      );
    return [...Map.groupBy(all, ({ place }) => place)].map(([place, cards]) => ({
      place,
      cards: cards.length,
      isAccepted: cards.some(({ isAccepted }) => isAccepted),
    }));
  };
  const findHeld = new FindHeld({
    held: heldThere,
    get: (place) => open().places.get(place),
    setTimer: options.setTimer ?? startTimer,
    watchEngines: (changed) => opened && watchLeases(opened.store.home.leases, changed),
    hasOthers: () => opened?.store.hasOthers() ?? false,
    onProblem,
    times: options.findTimes,
  });

  const handlers: EngineServices['handlers'] = {
    ...agentHandlers,
    ...appHandlers,
    ...placeHandlers,
    ...vmHandlers,
    ...terminals.handlers,
    ...workerHandlers,
    'project/list': () => projects.list().map(({ root }) => viewOf(root)),
    'project/get': ({ root }) => viewOf(root),
    'run/start': async ({ root, ...chosen }) => ({ runId: await open().runs.start(root, chosen) }),
    'run/cancel': ({ runId }) => {
      const { runs, remoteJobs } = open();
      const isHere = runs.cancel(runId);
      return { found: remoteJobs.cancelRun(runId) || isHere };
    },
    'run/dryRun': async ({ root, cards }) => ({ cards: await open().runs.dryRun(root, cards) }),
    'run/get': ({ runId }) => open().history.view(runId),
    'run/list': ({ root, cursor, limit }) => {
      findHeld.again();
      return open().history.list(root === undefined ? undefined : projectKey(root), cursor, limit);
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
    'permissions/review': ({ root }) => consents.review(root),
    'permissions/accept': ({ root, digest, accepted }) => {
      const count = consents.accept(root, digest, accepted);
      notify('project/changed', { root });
      return { accepted: count };
    },
    'permissions/revoke': ({ root, card, key }) => {
      const revoked = consents.revoke(root, card, key);
      notify('project/changed', { root });
      return { revoked };
    },
    'egress/list': ({ root, cursor, limit }) =>
      open().history.egress(root === undefined ? undefined : projectKey(root), cursor, limit),
    'store/usage': () => storeUsage(open().store.database, open().blobs, limitBytes),
    'store/clean': ({ runsOlderThanDays }) =>
      clean(runsOlderThanDays === undefined ? {} : { forgetBefore: now() - runsOlderThanDays * dayMs }),
    'doctor/report': () => doctorReport(open()),
  };

  const close = async () => {
    findHeld.dispose();
    if (!opened) return;
    await (await apps.opened()?.catch(() => undefined))?.dispose();
    await (await agent.opened()?.catch(() => undefined))?.dispose();
    terminals.dispose();
    const { runs, runner, jsRunner, places, store } = opened;
    await Promise.all([runs.dispose(), places.dispose()]);
    await Promise.all([runner.dispose(), jsRunner.dispose()]);
    store.close();
  };

  return {
    handlers,
    setTrusted: (value) => {
      trusted = value;
      if (trusted) findHeld.schedule();
      for (const { root } of projects.list()) notify('project/changed', { root });
    },
    setConnections: (params) => {
      connections = params;
      // One that can't be opened says so to whoever asked for it.
      agent
        .opened()
        ?.then(
          (services) => services.setConnections(params),
          () => undefined,
        )
        .catch(problem);
      apps
        .opened()
        ?.then(
          (services) => services.setConnections(params.connections),
          () => undefined,
        )
        .catch(problem);
    },
    vaultChanged: () => {
      releases.changed();
      for (const { root } of projects.list()) notify('project/changed', { root });
    },
    cardStatus: (root, card) => (opened || hasHome(options.home) ? statusOf(root, card) : null),
    findHeld: () => findHeld.schedule(),
    warmUp: () =>
      void open()
        .runner.ready()
        .catch(() => undefined),
    whenFinished: async (runId) => {
      await opened?.runs.whenFinished(runId);
    },
    dispose: () => (disposing ??= close()),
  };
}

const dayMs = 24 * 60 * 60 * 1000;
const cleanLookMs = 10 * 60 * 1000;
/** A message has a largest size; a project may have many cards. */
const cardsPerDelta = 1000;

const nobody: PersonSide = {
  ask: () => Promise.reject(new UserError('closed', 'Nobody is there to ask: this needs the extension')),
};

function startTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
