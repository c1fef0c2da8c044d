import { BridgeError } from '../../../protocol/src/bridge.ts';
import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import {
  pluginLimits,
  pluginWorkerEvents,
  pluginWorkerSide,
  type LogLevel,
  type PluginEnd,
} from '../../../protocol/src/plugin.ts';
import { portTransport } from '../../../protocol/src/portTransport.ts';
import type { PooledThread } from '../runners/quickjsPool.ts';
import { startSandboxThread, type SandboxThreadOptions } from '../runners/sandboxThread.ts';
import { CallClock } from './callClock.ts';

/** What a worker is given when it becomes a plugin's. */
export interface PluginUse {
  /** Source text by relative path. */
  readonly modules: Readonly<Record<string, string>>;
  readonly entry: string;
  /** Does what a host function does: JSON text in and out. Rejects with `BridgeError`. */
  serve(name: string, params: string, signal: AbortSignal): Promise<string>;
  log(level: LogLevel, text: string): void;
}

/** How a call ended: by the plugin, with the worker, or because nobody waits for it any more. */
export type CallEnd =
  | PluginEnd
  | { readonly kind: 'killed'; readonly code: 'timeout' | 'memory' | 'broken'; readonly message: string }
  /** The worker was ended, for no fault of the plugin. */
  | { readonly kind: 'ended' }
  /** So it was, before the plugin was entered for this call: it may be made again. */
  | { readonly kind: 'untouched' }
  | { readonly kind: 'cancelled' }
  /** It waited for host functions for too long. */
  | { readonly kind: 'waited' };

/** One worker thread with one instance: standing by, and then one plugin's until it ends. */
export interface PluginThread extends PooledThread {
  /** Gives it its plugin, once. Rejects with `BridgeError` where it can't be one. */
  load(use: PluginUse): Promise<void>;
  /** Never rejects. An aborted `signal` answers at once; what the plugin still does then is ended soon after. */
  call(functionName: string, input: string, signal: AbortSignal): Promise<CallEnd>;
  /** Calls under way, those that nobody waits for included. */
  readonly calls: number;
}

export interface PluginThreadOptions extends Omit<SandboxThreadOptions, 'name'> {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  /** Replaced in tests. */
  readonly callMs?: number;
  readonly interruptMs?: number;
  readonly wallMs?: number;
}

/** How long a plugin may go on with a call that nobody waits for. */
const abandonedMs = 500;

interface Call {
  isAbandoned: boolean;
  isUntouched: boolean;
}

/** Starts a thread. It does not keep the process alive until a call is under way. */
export function startPluginThread(options: PluginThreadOptions): PluginThread {
  const { now, setTimer } = options;
  const thread = startSandboxThread({ ...options, name: 'sallyport plugin' });
  const { worker } = thread;
  const calls = new Set<Call>();
  const asked = new Map<number, AbortController>();
  /** Host functions that may still be asked for: each call under way brings some. */
  let mayAsk = 0;
  /** What is asked begins one after the other, each in a turn of its own: the engine has other things to do in between. */
  let turn = Promise.resolve();
  let seq = 0;
  let use: PluginUse | undefined;
  let killed = false;
  /** Counts what came from the worker: as long as nothing comes, it does one and the same thing. */
  let heard = 0;

  const clock = new CallClock({
    now,
    setTimer,
    onExpired: () => {
      killed = true;
      void thread.end();
    },
  });

  const abortAsked = (why: BridgeError): void => {
    for (const controller of asked.values()) controller.abort(why);
  };

  const answer = (id: number, ok: boolean, text: string): void => {
    // Before it is sent: the plugin runs from now on.
    seq++;
    if (calls.size > 0) clock.run();
    channel.notify('host/answer', { id, seq, ok, text });
  };

  const refuse = (id: number, error: unknown): void => {
    const { code, message } =
      error instanceof BridgeError ? error : new BridgeError('internal', 'Sallyport failed to do this');
    answer(id, false, JSON.stringify({ code, message: message.slice(0, pluginLimits.messageLength) }));
  };

  const serve = async (id: number, name: string, params: string): Promise<void> => {
    if (!use || calls.size === 0) {
      refuse(id, new BridgeError('cancelled', 'No call is under way'));
      return;
    }
    if (asked.has(id) || asked.size >= pluginLimits.hostCalls || --mayAsk < 0) {
      refuse(id, new BridgeError('too-many', 'Too many host functions at once, or in one call'));
      return;
    }
    const controller = new AbortController();
    asked.set(id, controller);
    try {
      await (turn = turn.then(nextTurn));
      controller.signal.throwIfAborted();
      const value = await use.serve(name, params, controller.signal);
      if (value.length > pluginLimits.textLength)
        throw new BridgeError('too-large', 'What came is larger than a plugin can take');
      asked.delete(id);
      answer(id, true, value);
    } catch (error) {
      asked.delete(id);
      refuse(id, controller.signal.aborted ? controller.signal.reason : error);
    }
  };

  let setReady = (): void => undefined;
  const standing = new Promise<void>((resolve) => (setReady = resolve));
  const channel = new Channel(
    portTransport(worker, () => void thread.end()),
    pluginWorkerSide,
    {
      local: pluginWorkerEvents,
      requestHandlers: {},
      notificationHandlers: {
        'worker/ready': () => setReady(),
        'host/call': ({ id, name, params }) => {
          heard++;
          void serve(id, name, params);
        },
        'plugin/waiting': (latest) => {
          heard++;
          if (latest.seq === seq) clock.pause();
        },
        'plugin/log': ({ level, text }) => {
          if (calls.size > 0) use?.log(level, text);
        },
      },
      onClose: () => {
        clock.stop();
        abortAsked(new BridgeError('cancelled', 'The plugin ended'));
      },
      setTimer,
    },
  );
  // After the channel: to listen for messages takes hold of the process again.
  worker.unref();
  const ready = Promise.race([standing, thread.gone]);

  const finish = (call: Call): void => {
    clock.end(call);
    calls.delete(call);
    if (calls.size > 0) return;
    mayAsk = 0;
    abortAsked(new BridgeError('cancelled', 'The call is over'));
    worker.unref();
  };

  /**
   * Nobody waits for this call. Where that holds for all, what they wait for is taken back. Soon after, the worker ends
   * if nobody waits for any, or if it has done nothing since but run: calls that came later were not begun then.
   */
  const abandon = (call: Call): void => {
    call.isAbandoned = true;
    const isAlone = (): boolean => [...calls].every((each) => each.isAbandoned);
    if (isAlone()) abortAsked(new BridgeError('cancelled', 'The call was cancelled'));
    const [heardThen, wasRunning, begun] = [heard, clock.isRunning, new Set(calls)];
    const decide = (): void => {
      const isStuck = wasRunning && heard === heardThen;
      if (!calls.has(call) || (!isAlone() && !isStuck)) return;
      for (const each of calls) each.isUntouched = isStuck && !begun.has(each);
      void thread.end();
    };
    // A turn later: what came while the engine was busy is heard first.
    setTimer(() => setImmediate(decide), abandonedMs);
  };

  const toEnd = (call: Call, error: unknown): CallEnd => {
    const { lastError } = thread;
    if (killed) return { kind: 'killed', code: 'timeout', message: 'It ran too long' };
    if (lastError instanceof Error && 'code' in lastError && lastError.code === 'ERR_WORKER_OUT_OF_MEMORY')
      return { kind: 'killed', code: 'memory', message: 'out of memory' };
    if (lastError !== undefined || (error instanceof UserError && error.code === 'bad-message'))
      return { kind: 'killed', code: 'broken', message: errorMessage(lastError ?? error) };
    return { kind: call.isUntouched ? 'untouched' : 'ended' };
  };

  const run = async (call: Call, functionName: string, input: string): Promise<CallEnd> => {
    const { callMs = pluginLimits.callMs, interruptMs = pluginLimits.interruptMs } = options;
    try {
      calls.add(call);
      mayAsk += pluginLimits.hostCallsPerCall;
      worker.ref();
      seq++;
      clock.begin(call, callMs);
      const end = await channel.call('plugin/call', { functionName, input, interruptMs, seq });
      heard++;
      return end;
    } catch (error) {
      await thread.end();
      return toEnd(call, error);
    } finally {
      finish(call);
    }
  };

  return {
    get ended() {
      return thread.ended;
    },
    get calls() {
      return calls.size;
    },
    gone: thread.gone,
    end: () => thread.end(),
    async load(plugin) {
      worker.ref();
      try {
        await ready;
        const { modules, entry } = plugin;
        const { problem } = await channel.call('plugin/load', { modules, entry });
        if (problem !== null) throw new BridgeError('plugin-failed', problem);
        use = plugin;
      } finally {
        if (calls.size === 0) worker.unref();
      }
    },
    call(functionName, input, signal) {
      const call: Call = { isAbandoned: false, isUntouched: false };
      const outcome = run(call, functionName, input);
      return new Promise((settle) => {
        const giveUp = (end: CallEnd): void => {
          done();
          settle(end);
          abandon(call);
        };
        const onAbort = (): void => giveUp({ kind: 'cancelled' });
        const stopTimer = setTimer(() => giveUp({ kind: 'waited' }), options.wallMs ?? pluginLimits.wallMs);
        const done = (): void => {
          stopTimer();
          signal.removeEventListener('abort', onAbort);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        void outcome.then((end) => {
          done();
          settle(end);
        });
        if (signal.aborted) onAbort();
      });
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
