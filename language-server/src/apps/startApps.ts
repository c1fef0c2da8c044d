import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Connection } from '../../../protocol/src/agent.ts';
import type { appRequests } from '../../../protocol/src/apps.ts';
import type { RequestHandlers } from '../../../protocol/src/contract.ts';
import type { Principal } from '../../../protocol/src/gate.ts';
import type { EgressRecord } from '../../../protocol/src/runner.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { PersonSide } from '../agent/providers/personSide.ts';
import { ActCounts } from '../gate/actCounts.ts';
import { FrequentActs } from '../gate/frequentActs.ts';
import type { Gate } from '../gate/gate.ts';
import { createPluginStops } from '../plugins/pluginRecords.ts';
import type { Projects } from '../project/model.ts';
import type { LocalRunner } from '../runners/local.ts';
import type { History } from '../runs/history.ts';
import type { Store } from '../store/store.ts';
import { createValueRequests } from '../vault/valueRequests.ts';
import { openAppFiles } from './appFiles.ts';
import { createAppPlugins } from './appPlugins.ts';
import { AppRecords } from './appRecords.ts';
import { createApps, type AppNotify } from './apps.ts';
import { createBridgeCalls } from './bridge/bridgeCalls.ts';
import { countLines } from './countLines.ts';
import { createProjectResults } from './bridge/projectResults.ts';
import { gitEnvironment } from './environment.ts';
import { createGenerate } from './generate/createGenerate.ts';
import { createModelList } from './generate/modelList.ts';
import { officialSources } from './officialSources.ts';
import { createBuildPage } from './page/createBuildPage.ts';
import { createSealedFetch } from './sources/sealedFetch.ts';
import { createTakeRepository } from './sources/takeRepository.ts';

export interface AppsDeps {
  readonly opened: {
    readonly store: Store;
    readonly blobs: BlobStore;
    readonly history: History;
    readonly runner: LocalRunner;
  };
  readonly projects: Projects;
  readonly projectKey: (root: string) => string;
  readonly person: PersonSide;
  readonly gate: () => Promise<Gate>;
  readonly notify: AppNotify;
  readonly onProblem: (error: unknown) => void;
  readonly clock: {
    readonly now: () => number;
    readonly monotonic: () => number;
    readonly setTimer: (run: () => void, ms: number) => () => void;
  };
  /** The folder that holds the built programs. */
  readonly programs: string;
  /** Where packages come from; absent is the public registry. */
  readonly registry?: string | undefined;
  /** Replaced in tests. */
  readonly official?: readonly string[] | undefined;
  readonly environment?: typeof gitEnvironment | undefined;
}

export interface AppsServices {
  readonly handlers: RequestHandlers<typeof appRequests>;
  setConnections(made: { readonly connections: readonly Connection[] }): void;
  dispose(): Promise<void>;
}

/** Counted acts that the log of an app shows. */
const mostCounts = 200;

/** Composes everything of apps over the services of this engine. Its files lie below `apps/` in Sallyport's folder. */
export function startApps(deps: AppsDeps): AppsServices {
  const { opened, clock, notify, onProblem, programs, registry } = deps;
  const { store, runner } = opened;
  const files = openAppFiles(store.home.path, clock.now);
  const { blobs, storage, restoring, scratch } = files;
  const records = new AppRecords(store.database);
  const stops = createPluginStops(store.database);
  const counts = new ActCounts(store.database);
  const acts = new FrequentActs({ ...clock, counts, onProblem });
  const createId = () => randomBytes(12).toString('hex');
  let connections: readonly Connection[] = [];

  const models = createModelList(() => connections);
  const recordEgress = (by: Principal, record: EgressRecord) => store.egress.appendOf(by, by, record);
  const generate = createGenerate({ ...deps, ...clock, models, recordEgress, createId });
  const apps = createApps({
    ...{ records, blobs, storage, restoring, stops, notify, onProblem, createId, now: clock.now },
    takeRepository: createTakeRepository({
      ...{ blobs, scratch, environment: deps.environment ?? gitEnvironment },
      sealedFetch: createSealedFetch({
        ...{ runner, blobs: opened.blobs, createId, script: join(programs, 'git-job.cjs') },
        recordEgress: (record) => recordEgress('person', record),
      }),
    }),
    buildPage: createBuildPage({ files, programs, registry }),
    official: deps.official ?? officialSources,
  });
  const { library } = apps;
  const values = createValueRequests({ ...deps, createId });
  const plugins = createAppPlugins({
    ...{ library, records, stops, notify, clock, programs },
    host: {
      ...{ storage, acts, generate, values, createId },
      recordEgress: (by, _app, record) => recordEgress(by, record),
    },
  });
  apps.onChanged((app) => void plugins.stop(app).catch(onProblem));
  const bridge = createBridgeCalls({
    ...{ ...clock, library, storage, acts, generate, models, onProblem },
    results: createProjectResults({ ...deps, ...opened }),
    callPlugin: (call, signal) => plugins.call({ ...call, signal }),
    onChunk: (app, callId, text) => notify('bridge/chunk', { app, callId, text }),
  });

  return {
    handlers: {
      ...apps.handlers,
      'app/page': async (params, signal) => {
        const page = await apps.handlers['app/page'](params, signal);
        // Its first call comes soon.
        if (library.open(params.app).content.plugins.size > 0) plugins.warmUp();
        return page;
      },
      'app/log': async (params, signal) => {
        acts.flush();
        const lines = await apps.handlers['app/log'](params, signal);
        return [...lines, ...countLines(counts.ofApp(params.app, mostCounts))].sort((a, b) => a.at - b.at);
      },
      'bridge/call': async (call, signal) => ({ result: await bridge(call, signal) }),
    },
    setConnections: (made) => {
      ({ connections } = made);
    },
    dispose: async () => {
      await plugins.dispose();
      await apps.dispose();
      acts.flush();
      files.close();
    },
  };
}
