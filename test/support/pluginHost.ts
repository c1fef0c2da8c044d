import { join } from 'node:path';
import { createAppStorage, type AppStorage } from '../../language-server/src/plugins/appStorage.ts';
import type { Generate } from '../../language-server/src/plugins/generate.ts';
import {
  createHostFunctions,
  type HostFunctionOptions,
} from '../../language-server/src/plugins/hostFunctions/hostFunctions.ts';
import type { InstalledPlugin } from '../../language-server/src/plugins/installedPlugin.ts';
import {
  createPluginHost,
  type PluginHost,
  type PluginHostOptions,
} from '../../language-server/src/plugins/pluginHost.ts';
import type {
  PluginStates,
  PluginStatus,
  PluginStops,
} from '../../language-server/src/plugins/pluginRecords.ts';
import { preparePluginThreads } from '../../language-server/src/plugins/preparePluginThreads.ts';
import type { PluginRights } from '../../language-server/src/plugins/rights.ts';
import { BridgeError } from '../../protocol/src/bridge.ts';
import type { Json } from '../../protocol/src/canonicalJson.ts';
import type { FunctionSchema } from '../../protocol/src/functionSchema.ts';
import type { EgressRecord } from '../../protocol/src/runner.ts';
import { quickjsFiles } from './quickjsFiles.ts';
import { noValueRequests } from './valueRequests.ts';
import { createFrequentActs } from './frequentActs.ts';

/** What the plugin runtime needs, from the sources. */
export const pluginFiles = {
  script: join(import.meta.dirname, '../../sandbox-worker/src/pluginWorker.ts'),
  guest: join(import.meta.dirname, '../../sandbox-worker/src/pluginGuest.js'),
  wasm: quickjsFiles.wasm,
} as const;

export interface TestPlugin {
  readonly source: string;
  readonly modules?: Readonly<Record<string, string>>;
  readonly rights?: PluginRights;
  readonly digest?: string;
  readonly installation?: string;
  /** By function; `run` with any JSON, unless said otherwise. */
  readonly functions?: Readonly<Record<string, { input: FunctionSchema; output: FunctionSchema }>>;
}

export interface PluginHarnessOptions {
  readonly folder: string;
  /** Running time of a call; the interrupt comes at 95 % of it. */
  readonly callMs?: number;
  readonly wallMs?: number;
  readonly interruptMs?: number;
  readonly script?: string;
  readonly generate?: Generate;
  readonly host?: Partial<HostFunctionOptions>;
  readonly changes?: Partial<PluginHostOptions>;
}

/** A plugin host over real workers, with everything around it in memory. */
export interface PluginHarness {
  readonly host: PluginHost;
  readonly storage: AppStorage;
  readonly log: string[];
  readonly egress: (EgressRecord & { readonly by: string })[];
  readonly generated: { readonly by: string; readonly kind: string; readonly params: unknown }[];
  /** Milliseconds since the epoch, as the host sees them. */
  clock: number;
  install(name: string, plugin: TestPlugin | string): void;
  uninstall(name: string): void;
  /** Calls `app/plugin`'s function `run`, unless another one is named. */
  call(
    name: string,
    input?: unknown,
    options?: { functionName?: string; signal?: AbortSignal },
  ): Promise<Json>;
  /** `code: message` of the refusal of a call, or what it gave as JSON. */
  outcome(
    name: string,
    input?: unknown,
    options?: { functionName?: string; signal?: AbortSignal },
  ): Promise<string>;
  dispose(): Promise<void>;
}

const anything = { input: {}, output: {} };

export function createPluginHarness(options: PluginHarnessOptions): PluginHarness {
  const installed = new Map<string, InstalledPlugin>();
  const log: string[] = [];
  const egress: PluginHarness['egress'] = [];
  const generated: PluginHarness['generated'] = [];
  const storage = createAppStorage({ folder: join(options.folder, 'app-data'), now: () => harness.clock });
  let nextId = 1;

  const generate: Generate = (by, kind, params, more) => {
    generated.push({ by, kind, params });
    if (options.generate) return options.generate(by, kind, params, more);
    return Promise.reject(new BridgeError('no-model', 'No connection is chosen for this'));
  };
  const host = createPluginHost({
    find: (app, plugin) => Promise.resolve(installed.get(`${app}/${plugin}`)),
    hostFunctions: createHostFunctions({
      storage,
      acts: createFrequentActs().acts,
      generate,
      values: noValueRequests,
      recordEgress: (by, _app, record) => egress.push({ ...record, by }),
      now: () => harness.clock,
      createId: () => `request-${nextId++}`,
      ...options.host,
    }),
    states: memoryStates(),
    stops: memoryStops(),
    log: (app, plugin, level, text) => log.push(`${app}/${plugin} ${level}: ${text}`),
    onChanged: () => undefined,
    prepareThreads: () =>
      preparePluginThreads(
        { ...pluginFiles, script: options.script ?? pluginFiles.script },
        {
          now: () => performance.now(),
          setTimer: startTimer,
          ...(options.callMs === undefined
            ? {}
            : { callMs: options.callMs, interruptMs: options.interruptMs ?? options.callMs * 0.95 }),
          ...(options.wallMs === undefined ? {} : { wallMs: options.wallMs }),
        },
      ),
    now: () => harness.clock,
    setTimer: startTimer,
    standby: 0,
    ...options.changes,
  });

  const harness: PluginHarness = {
    host,
    storage,
    log,
    egress,
    generated,
    clock: 1_800_000_000_000,
    install(name, plugin) {
      const {
        source,
        modules = {},
        rights = [],
        installation = 'i',
        functions,
        digest,
      } = typeof plugin === 'string' ? { source: plugin } : plugin;
      const all = { 'index.js': source, ...modules };
      installed.set(name, {
        digest: digest ?? JSON.stringify(all),
        entry: 'index.js',
        functions: functions ?? { run: anything },
        rights,
        installation,
        readModules: () => Promise.resolve(all),
      });
    },
    uninstall: (name) => void installed.delete(name),
    call(name, input = null, { functionName = 'run', signal = new AbortController().signal } = {}) {
      const [app = '', plugin = ''] = name.split('/');
      return host.call({ app, plugin, functionName, input, signal });
    },
    async outcome(name, input, more) {
      try {
        return JSON.stringify(await harness.call(name, input, more));
      } catch (error) {
        if (error instanceof BridgeError) return `${error.code}: ${error.message}`;
        throw error;
      }
    },
    async dispose() {
      await host.dispose();
      storage.close();
    },
  };
  return harness;
}

export function startTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

function memoryStates(): PluginStates {
  const kept = new Map<string, PluginStatus>();
  return {
    read: (app, plugin) => kept.get(`${app}/${plugin}`) ?? { state: 'on', reason: null, lastError: null },
    write: (app, plugin, status) => void kept.set(`${app}/${plugin}`, status),
  };
}

function memoryStops(): PluginStops {
  let kept: { key: string; at: number }[] = [];
  return {
    add(app, plugin, at, since) {
      kept = kept.filter((stop) => stop.key !== `${app}/${plugin}` || stop.at >= since);
      kept.push({ key: `${app}/${plugin}`, at });
      return kept.filter((stop) => stop.key === `${app}/${plugin}`).length;
    },
    clear: (app, plugin) =>
      void (kept = kept.filter(({ key }) =>
        plugin === undefined ? !key.startsWith(`${app}/`) : key !== `${app}/${plugin}`,
      )),
  };
}
