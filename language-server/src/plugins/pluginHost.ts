import { BridgeError } from '../../../protocol/src/bridge.ts';
import type { Json } from '../../../protocol/src/canonicalJson.ts';
import type { FunctionSchema } from '../../../protocol/src/functionSchema.ts';
import type { LogLevel } from '../../../protocol/src/plugin.ts';
import { toInput } from './callValues.ts';
import { judgeEnd, type SettledEnd } from './callVerdict.ts';
import type { HostFunctions } from './hostFunctions/hostFunctions.ts';
import type { InstalledPlugin } from './installedPlugin.ts';
import { LivePlugins, type LivePlugin } from './livePlugins.ts';
import { createPluginFaults } from './pluginFaults.ts';
import { pluginMessages } from './pluginMessages.ts';
import type { PluginStates, PluginStatus, PluginStops } from './pluginRecords.ts';
import { createPluginStarts } from './pluginStarts.ts';
import type { PluginThread } from './pluginThread.ts';

export interface PluginCall {
  /** Set by the side that knows whose page asks, never read from what it asks. */
  readonly app: string;
  readonly plugin: string;
  readonly functionName: string;
  /** Data from a stranger. */
  readonly input: unknown;
  readonly signal: AbortSignal;
}

export interface PluginHostOptions {
  /** Looks an installed plugin up; asked at each call. Undefined where there is none. */
  readonly find: (app: string, plugin: string) => Promise<InstalledPlugin | undefined>;
  readonly hostFunctions: HostFunctions;
  readonly states: PluginStates;
  readonly stops: PluginStops;
  readonly log: (app: string, plugin: string, level: LogLevel, text: string) => void;
  /** The state or the last error of a plugin changed. */
  readonly onChanged: (app: string, plugin: string) => void;
  /** Reads what workers are made of, once; what it resolves with starts one that stands by. */
  readonly prepareThreads: () => Promise<() => PluginThread>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly mostLive?: number;
  readonly idleMs?: number;
  readonly standby?: number;
}

/** Workers at once. Each takes some megabytes; a plugin without one starts in a blink. */
const mostLivePlugins = 16;
const mostWaiting = 64;
const defaultIdleMs = 60_000;

/** Runs the plugins of apps: each in a worker of its own, for a bounded time, with nothing but the host functions. */
export interface PluginHost {
  /**
   * Calls a function that `plugin.json` declares, and gives its result, both checked against their schemas. The result is
   * data from a stranger: objects without a prototype. Rejects with `BridgeError`.
   */
  call(call: PluginCall): Promise<Json>;
  /** Has a worker stand by, as when an app with plugins opens: its first call then need not wait for one. */
  warmUp(): void;
  state(app: string, plugin: string): PluginStatus;
  /** For a person only. Calls under way are ended. */
  switchOff(app: string, plugin: string, state?: 'off' | 'removed'): Promise<void>;
  /** For a person only. Stops that were counted are forgotten. */
  switchOn(app: string, plugin: string): void;
  /** Ends the workers of an app or of one plugin, as when its code, its rights or its data change. */
  stop(app: string, plugin?: string): Promise<void>;
  dispose(): Promise<void>;
}

/** Nothing is read or started before the first call or `warmUp`. */
export function createPluginHost(options: PluginHostOptions): PluginHost {
  const { find, states, stops, setTimer, standby = 1, idleMs = defaultIdleMs } = options;
  const live = new LivePlugins({ most: options.mostLive ?? mostLivePlugins, mostWaiting, idleMs, setTimer });
  const starts = createPluginStarts({ ...options, standby, idleMs });
  const faults = createPluginFaults({ ...options, end: (plugin) => live.end(plugin) });
  let isDisposed = false;

  const settle = (call: CheckedCall, plugin: LivePlugin, end: SettledEnd): Json => {
    const verdict = judgeEnd(end, call.schema);
    if ('value' in verdict) return verdict.value;
    const { app, plugin: id, functionName } = call;
    if (verdict.noted !== undefined) faults.note(app, id, `${functionName}: ${verdict.noted}`);
    if (verdict.stop !== undefined) faults.stop(plugin, verdict.stop, functionName);
    if (end.kind === 'ended') assertOn(states.read(app, id));
    throw verdict.error;
  };

  /** Undefined where its worker ended, for what another call did, before the plugin was entered. */
  const run = async (call: CheckedCall): Promise<{ readonly value: Json } | undefined> => {
    const { app, plugin, installed, functionName, input, signal } = call;
    const { digest, rights, installation } = installed;
    const identity = { app, plugin, rights, installation };
    const start = (added: LivePlugin) => starts.start(added, installed);
    const entered = await live.enter({ key: `${app}/${plugin}`, digest, identity, start }, signal);
    try {
      entered.identity = identity;
      const thread = await entered.thread.catch(async (error: unknown) => {
        await live.end(entered);
        throw error;
      });
      const end = await thread.call(functionName, input, signal);
      return end.kind === 'untouched' ? undefined : { value: settle(call, entered, end) };
    } finally {
      live.leave(entered);
    }
  };

  return {
    async call(request) {
      if (isDisposed) throw new BridgeError('unavailable', pluginMessages.ended());
      const installed = await find(request.app, request.plugin);
      if (!installed) throw new BridgeError('not-found', pluginMessages.unknownPlugin());
      assertOn(states.read(request.app, request.plugin));
      const checked = toCheckedCall(request, installed);
      const done = (await run(checked)) ?? (await run(checked));
      if (!done) throw new BridgeError('unavailable', pluginMessages.ended());
      return done.value;
    },
    warmUp: () => starts.warmUp(),
    state: (app, plugin) => states.read(app, plugin),
    async switchOff(app, plugin, state = 'off') {
      const reason = state === 'off' ? pluginMessages.offByPerson() : pluginMessages.removed();
      states.write(app, plugin, { ...states.read(app, plugin), state, reason });
      await live.endAll(({ identity }) => identity.app === app && identity.plugin === plugin);
      options.onChanged(app, plugin);
    },
    switchOn(app, plugin) {
      stops.clear(app, plugin);
      states.write(app, plugin, { state: 'on', reason: null, lastError: null });
      options.onChanged(app, plugin);
    },
    stop: (app, plugin) =>
      live.endAll(({ identity }) => identity.app === app && (plugin ?? identity.plugin) === identity.plugin),
    async dispose() {
      isDisposed = true;
      await live.endAll(() => true);
      await starts.dispose();
    },
  };
}

/** A call of a declared function, with an input that fits. */
interface CheckedCall extends Omit<PluginCall, 'input'> {
  readonly installed: InstalledPlugin;
  /** As JSON text. */
  readonly input: string;
  /** Of the result. */
  readonly schema: FunctionSchema;
}

/** Throws `not-found`, `bad-params`, `too-large` or `cancelled`. */
function toCheckedCall(request: PluginCall, installed: InstalledPlugin): CheckedCall {
  const { functionName, signal } = request;
  const { functions } = installed;
  const declared = Object.hasOwn(functions, functionName) ? functions[functionName] : undefined;
  if (!declared) throw new BridgeError('not-found', pluginMessages.unknownFunction(functionName));
  const input = toInput(declared.input, request.input);
  if (signal.aborted) throw new BridgeError('cancelled', pluginMessages.cancelled());
  return { ...request, installed, input, schema: declared.output };
}

function assertOn({ state, reason }: PluginStatus): void {
  if (state !== 'on') throw new BridgeError('plugin-off', pluginMessages.off(reason));
}
