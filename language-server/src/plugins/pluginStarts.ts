import { BridgeError } from '../../../protocol/src/bridge.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { pluginLimits, type LogLevel } from '../../../protocol/src/plugin.ts';
import { QuickjsPool } from '../runners/quickjsPool.ts';
import type { HostFunctions } from './hostFunctions/hostFunctions.ts';
import type { LivePlugin } from './livePlugins.ts';
import type { InstalledPlugin } from './installedPlugin.ts';
import { pluginMessages } from './pluginMessages.ts';
import type { PluginThread } from './pluginThread.ts';

export interface PluginStartsOptions {
  readonly hostFunctions: HostFunctions;
  readonly log: (app: string, plugin: string, level: LogLevel, text: string) => void;
  /** Reads what workers are made of, once; what it resolves with starts one that stands by. */
  readonly prepareThreads: () => Promise<() => PluginThread>;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly standby: number;
  readonly idleMs: number;
}

/** Workers that stand by, and become plugins. */
export interface PluginStarts {
  /** Rejects with `BridgeError` where it can't be started. */
  start(plugin: LivePlugin, installed: InstalledPlugin): Promise<PluginThread>;
  warmUp(): void;
  dispose(): Promise<void>;
}

/** Nothing is read or started before the first `start` or `warmUp`. */
export function createPluginStarts(options: PluginStartsOptions): PluginStarts {
  const { hostFunctions, log, standby, idleMs, setTimer } = options;
  let pool: Promise<QuickjsPool<PluginThread>> | undefined;

  /** A failed start is tried again with the next call. */
  const openPool = async (): Promise<QuickjsPool<PluginThread>> => {
    pool ??= options
      .prepareThreads()
      .then((start) => new QuickjsPool({ start, memoryPages: 0, standby, idleMs, setTimer }));
    try {
      return await pool;
    } catch (error) {
      pool = undefined;
      throw error;
    }
  };

  const start = async (plugin: LivePlugin, installed: InstalledPlugin): Promise<PluginThread> => {
    const [threads, modules] = await Promise.all([openPool(), installed.readModules()]);
    assertBounded(modules);
    const thread = threads.take(0);
    // After this turn: the call comes first, as starting a thread blocks for a moment.
    setImmediate(() => threads.refill());
    const { app, plugin: id } = plugin.identity;
    try {
      await thread.load({
        modules,
        entry: installed.entry,
        serve: (name, params, signal) => hostFunctions(plugin.identity, name, params, signal),
        log: (level, text) => log(app, id, level, pluginMessages.said(text)),
      });
      return thread;
    } catch (error) {
      await thread.end();
      throw error;
    }
  };

  return {
    start: (plugin, installed) =>
      start(plugin, installed).catch((error: unknown) => {
        throw toStartError(error);
      }),
    warmUp: () =>
      void openPool()
        .then((threads) => threads.refill())
        .catch(() => undefined),
    dispose: async () => (await pool?.catch(() => undefined))?.dispose(),
  };
}

function assertBounded(modules: Readonly<Record<string, string>>): void {
  const sources = Object.values(modules);
  const size = sources.reduce((sum, source) => sum + source.length, 0);
  if (sources.length > pluginLimits.moduleFiles || size > pluginLimits.moduleBytes)
    throw new BridgeError(
      'plugin-failed',
      `A plugin has at most ${pluginLimits.moduleFiles} modules and ${pluginLimits.moduleBytes / 1024 / 1024} MiB of them`,
    );
}

function toStartError(error: unknown): BridgeError {
  return error instanceof BridgeError
    ? error
    : new BridgeError('unavailable', `The plugin can’t be started: ${errorMessage(error)}`);
}
