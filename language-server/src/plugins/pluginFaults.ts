import type { LogLevel } from '../../../protocol/src/plugin.ts';
import type { LivePlugin } from './livePlugins.ts';
import { pluginMessages } from './pluginMessages.ts';
import type { PluginStates, PluginStops } from './pluginRecords.ts';

/** Why a plugin had to be stopped. */
export type StopCode = 'timeout' | 'memory' | 'broken';

export interface PluginFaultsOptions {
  readonly states: PluginStates;
  readonly stops: PluginStops;
  readonly log: (app: string, plugin: string, level: LogLevel, text: string) => void;
  /** The state or the last error of a plugin changed. */
  readonly onChanged: (app: string, plugin: string) => void;
  /** Ends the plugin's worker. */
  readonly end: (plugin: LivePlugin) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What goes wrong with plugins, as people are told of it. */
export interface PluginFaults {
  /** Keeps what went wrong, where it is not what is kept. */
  note(app: string, plugin: string, lastError: string): void;
  /** Ends a plugin that had to be stopped; one that is stopped too often is switched off. */
  stop(plugin: LivePlugin, code: StopCode, functionName: string): void;
}

/** So often within a day a plugin may have to be stopped before it is switched off. */
const mostStops = 3;
const dayMs = 24 * 60 * 60 * 1000;
/** A plugin that fails at each call is not told of at each. */
const noteMs = 1000;

export function createPluginFaults(options: PluginFaultsOptions): PluginFaults {
  const { states, stops, log, onChanged, end, now } = options;
  const notedAt = new Map<string, number>();
  return {
    note: (app, plugin, lastError) => {
      log(app, plugin, 'error', lastError);
      const status = states.read(app, plugin);
      const key = `${app}/${plugin}`;
      if (status.lastError === lastError || Math.abs(now() - (notedAt.get(key) ?? -Infinity)) < noteMs)
        return;
      notedAt.set(key, now());
      states.write(app, plugin, { ...status, lastError });
      onChanged(app, plugin);
    },
    stop: (plugin, code, functionName) => {
      if (plugin.isStopped) return;
      plugin.isStopped = true;
      void end(plugin);
      const { app, plugin: id } = plugin.identity;
      const at = now();
      const count = stops.add(app, id, at, at - dayMs);
      const lastError = `${functionName}: ${pluginMessages.stopped(code)}`;
      log(app, id, 'error', lastError);
      const status = states.read(app, id);
      const isOver = count >= mostStops && status.state === 'on';
      states.write(app, id, {
        state: isOver ? 'switched-off' : status.state,
        reason: isOver ? pluginMessages.switchedOff(count, code, functionName) : status.reason,
        lastError,
      });
      onChanged(app, id);
    },
  };
}
