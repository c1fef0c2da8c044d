import { BridgeError } from '../../../protocol/src/bridge.ts';
import type { Json } from '../../../protocol/src/canonicalJson.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { findMismatch, type FunctionSchema } from '../../../protocol/src/functionSchema.ts';
import { NotPlain, parsePlainJson, toPlainJson } from '../../../protocol/src/plainJson.ts';
import { pluginLimits, type LogLevel } from '../../../protocol/src/plugin.ts';
import { QuickjsPool } from '../runners/quickjsPool.ts';
import type { HostFunctions } from './hostFunctions/hostFunctions.ts';
import { LivePlugins, type LivePlugin } from './livePlugins.ts';
import { pluginMessages } from './pluginMessages.ts';
import type { PluginStates, PluginStatus, PluginStops } from './pluginRecords.ts';
import type { CallEnd, PluginThread } from './pluginThread.ts';
import type { PluginRights } from './rights.ts';

/** A plugin as it was reviewed and installed. */
export interface InstalledPlugin {
  /** Of exactly this code: another digest is another worker. */
  readonly digest: string;
  /** A key of the modules. */
  readonly entry: string;
  readonly functions: Readonly<Record<string, { input: FunctionSchema; output: FunctionSchema }>>;
  /** What a person accepted and the manifest asks for. */
  readonly rights: PluginRights;
  /** What grants of the vault are bound to. */
  readonly installation: string;
  /** Source text of its `.js` and `.mjs` files by path below its folder, as they were frozen. */
  readModules(): Promise<Readonly<Record<string, string>>>;
}

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
export const mostLivePlugins = 16;
const mostWaiting = 64;
/** So often within a day a plugin may have to be stopped before it is switched off. */
const mostStops = 3;
const dayMs = 24 * 60 * 60 * 1000;
const defaultIdleMs = 60_000;
/** A plugin that fails at each call is not told of at each. */
const noteMs = 1000;

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
  const { find, hostFunctions, states, stops, now, setTimer, standby = 1, idleMs = defaultIdleMs } = options;
  const live = new LivePlugins({ most: options.mostLive ?? mostLivePlugins, mostWaiting, idleMs, setTimer });
  let pool: Promise<QuickjsPool<PluginThread>> | undefined;
  let isDisposed = false;

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
        log: (level, text) => options.log(app, id, level, pluginMessages.said(text)),
      });
      return thread;
    } catch (error) {
      await thread.end();
      throw error;
    }
  };

  const notedAt = new Map<string, number>();
  /** Keeps what went wrong for people, where it is not what is kept. */
  const note = (app: string, plugin: string, lastError: string): void => {
    options.log(app, plugin, 'error', lastError);
    const status = states.read(app, plugin);
    const key = `${app}/${plugin}`;
    if (status.lastError === lastError || Math.abs(now() - (notedAt.get(key) ?? -Infinity)) < noteMs) return;
    notedAt.set(key, now());
    states.write(app, plugin, { ...status, lastError });
    options.onChanged(app, plugin);
  };

  /** Ends a worker that had to be stopped and counts it once, whatever number of calls it took with it. */
  const countStop = (plugin: LivePlugin, code: StopCode, functionName: string): void => {
    if (plugin.isStopped) return;
    plugin.isStopped = true;
    void live.end(plugin);
    const { app, plugin: id } = plugin.identity;
    const at = now();
    const count = stops.add(app, id, at, at - dayMs);
    const lastError = `${functionName}: ${pluginMessages.stopped(code)}`;
    options.log(app, id, 'error', lastError);
    const status = states.read(app, id);
    const isOver = count >= mostStops && status.state === 'on';
    states.write(app, id, {
      state: isOver ? 'switched-off' : status.state,
      reason: isOver ? pluginMessages.switchedOff(count, code, functionName) : status.reason,
      lastError,
    });
    options.onChanged(app, id);
  };

  const settle = (request: PluginCall, schema: FunctionSchema, plugin: LivePlugin, end: SettledEnd): Json => {
    const { app, plugin: id, functionName } = request;
    const failed = (text: string): BridgeError => {
      note(app, id, `${functionName}: ${text}`);
      return new BridgeError('plugin-failed', text);
    };
    switch (end.kind) {
      case 'ok': {
        const output = parseOutput(end.output);
        const problem = output instanceof NotPlain ? output.message : findMismatch(schema, output, 'output');
        if (problem !== undefined || output instanceof NotPlain)
          throw failed(pluginMessages.output(problem ?? ''));
        return output;
      }
      case 'error':
      case 'killed': {
        const { code } = end;
        if (code === 'timeout' || code === 'memory' || code === 'broken') {
          countStop(plugin, code, functionName);
          throw new BridgeError(
            code === 'timeout' ? 'timeout' : 'plugin-failed',
            pluginMessages.stopped(code),
          );
        }
        if (code === 'too-large') throw new BridgeError('too-large', pluginMessages.said(end.message));
        throw failed(pluginMessages.said(end.message));
      }
      case 'ended': {
        assertOn(states.read(app, id));
        throw new BridgeError('unavailable', pluginMessages.ended());
      }
      case 'cancelled':
        throw new BridgeError('cancelled', pluginMessages.cancelled());
      case 'waited':
        throw new BridgeError('timeout', pluginMessages.waited());
    }
  };

  /** Undefined where its worker ended, for what another call did, before the plugin was entered. */
  const run = async (
    request: PluginCall,
    installed: InstalledPlugin,
    { input, schema }: { readonly input: string; readonly schema: FunctionSchema },
  ): Promise<{ readonly value: Json } | undefined> => {
    const { app, plugin, functionName, signal } = request;
    const { rights, installation } = installed;
    const identity = { app, plugin, rights, installation };
    const entered = await live.enter(
      {
        key: `${app}/${plugin}`,
        digest: installed.digest,
        identity,
        start: (added) => start(added, installed),
      },
      signal,
    );
    try {
      entered.identity = identity;
      const thread = await entered.thread.catch(async (error: unknown) => {
        await live.end(entered);
        throw toStartError(error);
      });
      const end = await thread.call(functionName, input, signal);
      return end.kind === 'untouched' ? undefined : { value: settle(request, schema, entered, end) };
    } finally {
      live.leave(entered);
    }
  };

  return {
    async call(request) {
      const { app, plugin, functionName, signal } = request;
      if (isDisposed) throw new BridgeError('unavailable', pluginMessages.ended());
      const installed = await find(app, plugin);
      if (!installed) throw new BridgeError('not-found', pluginMessages.unknownPlugin());
      assertOn(states.read(app, plugin));
      const { functions } = installed;
      const declared = Object.hasOwn(functions, functionName) ? functions[functionName] : undefined;
      if (!declared) throw new BridgeError('not-found', pluginMessages.unknownFunction(functionName));
      const input = toInput(declared.input, request.input);
      if (signal.aborted) throw new BridgeError('cancelled', pluginMessages.cancelled());
      const checked = { input, schema: declared.output };
      const done = (await run(request, installed, checked)) ?? (await run(request, installed, checked));
      if (!done) throw new BridgeError('unavailable', pluginMessages.ended());
      return done.value;
    },
    warmUp: () =>
      void openPool()
        .then((threads) => threads.refill())
        .catch(() => undefined),
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
      await (await pool?.catch(() => undefined))?.dispose();
    },
  };
}

type SettledEnd = Exclude<CallEnd, { kind: 'untouched' }>;
type StopCode = 'timeout' | 'memory' | 'broken';

function assertOn({ state, reason }: PluginStatus): void {
  if (state !== 'on') throw new BridgeError('plugin-off', pluginMessages.off(reason));
}

/** The JSON text that the plugin is given. Throws `bad-params` or `too-large`. */
function toInput(schema: FunctionSchema, value: unknown): string {
  let input: Json;
  try {
    input = toPlainJson(value ?? null, pluginLimits.depth);
  } catch (error) {
    if (error instanceof NotPlain) throw new BridgeError('bad-params', pluginMessages.input(error.message));
    throw error;
  }
  const problem = findMismatch(schema, input, 'input');
  if (problem !== undefined) throw new BridgeError('bad-params', pluginMessages.input(problem));
  const text = JSON.stringify(input);
  if (text.length > pluginLimits.textLength)
    throw new BridgeError('too-large', `An input has at most ${pluginLimits.textLength} characters of JSON`);
  return text;
}

function parseOutput(text: string): Json | NotPlain {
  try {
    return parsePlainJson(text, pluginLimits.depth);
  } catch (error) {
    if (error instanceof NotPlain) return error;
    throw error;
  }
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
