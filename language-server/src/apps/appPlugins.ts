import { join } from 'node:path';
import { createHostFunctions, type HostFunctionOptions } from '../plugins/hostFunctions/hostFunctions.ts';
import { createPluginHost, type PluginHost } from '../plugins/pluginHost.ts';
import type { PluginStops } from '../plugins/pluginRecords.ts';
import { preparePluginThreads } from '../plugins/preparePluginThreads.ts';
import type { AppLibrary } from './appLibrary.ts';
import type { AppRecords } from './appRecords.ts';
import type { AppNotify } from './apps.ts';
import { createFindPlugin } from './installedPlugins.ts';

export interface AppPluginsOptions {
  readonly library: AppLibrary;
  readonly records: AppRecords;
  readonly stops: PluginStops;
  readonly host: Omit<HostFunctionOptions, 'now'>;
  readonly notify: AppNotify;
  readonly clock: {
    readonly now: () => number;
    readonly monotonic: () => number;
    readonly setTimer: (run: () => void, ms: number) => () => void;
  };
  /** The folder that holds the built programs. */
  readonly programs: string;
}

/** Composes what runs the plugins of the installed apps. */
export function createAppPlugins(options: AppPluginsOptions): PluginHost {
  const { library, records, stops, host, notify, clock, programs } = options;
  const { now, monotonic, setTimer } = clock;
  const files = {
    script: join(programs, 'plugin-worker.mjs'),
    wasm: join(programs, 'quickjs.wasm'),
    guest: join(programs, 'quickjs-plugin-guest.js'),
  };
  return createPluginHost({
    find: createFindPlugin(library),
    hostFunctions: createHostFunctions({ ...host, now }),
    states: {
      read: (app, plugin) => library.pluginState(app, plugin),
      write: (app, plugin, status) => records.setPlugin(app, plugin, status),
    },
    stops,
    log: (app, plugin, level, text) =>
      records.log(app, now(), level === 'error' ? 'error' : 'plugin', `${plugin}: ${text}`),
    onChanged: (app) => notify('app/changed', { app }),
    prepareThreads: () => preparePluginThreads(files, { now: monotonic, setTimer }),
    now,
    setTimer,
  });
}
