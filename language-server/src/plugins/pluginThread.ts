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
import { createCallsUnderWay, type CallsUnderWay, type UnderWay } from './callsUnderWay.ts';
import { createHostCalls, type ServeHostCall } from './hostCalls.ts';

/** What a worker is given when it becomes a plugin's. */
export interface PluginUse {
  /** Source text by relative path. */
  readonly modules: Readonly<Record<string, string>>;
  readonly entry: string;
  readonly serve: ServeHostCall;
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

/** Starts a thread. It does not keep the process alive until a call is under way. */
export function startPluginThread(options: PluginThreadOptions): PluginThread {
  const { now, setTimer, callMs = pluginLimits.callMs, interruptMs = pluginLimits.interruptMs } = options;
  const thread = startSandboxThread({ ...options, name: 'sallyport plugin' });
  const { worker } = thread;
  const end = (): void => void thread.end();
  let use: PluginUse | undefined;
  /** Counts what lets the plugin run: that it waits counts only where it has had the latest. */
  let seq = 0;
  let isExpired = false;
  const onExpired = (): void => {
    isExpired = true;
    end();
  };
  const clock = new CallClock({ now, setTimer, onExpired });
  const hostCalls = createHostCalls({
    server: () => (calls.size > 0 ? use?.serve : undefined),
    answer: (id, ok, text) => {
      // Before it is sent: the plugin runs from now on.
      seq++;
      if (calls.size > 0) clock.run();
      channel.notify('host/answer', { id, seq, ok, text });
    },
  });
  const calls: CallsUnderWay = createCallsUnderWay({ clock, hostCalls, worker, end, setTimer });

  let setReady = (): void => undefined;
  const standing = new Promise<void>((resolve) => (setReady = resolve));
  const channel = new Channel(portTransport(worker, end), pluginWorkerSide, {
    local: pluginWorkerEvents,
    requestHandlers: {},
    notificationHandlers: {
      'worker/ready': () => setReady(),
      'host/call': ({ id, name, params }) => {
        calls.heard();
        hostCalls.ask(id, name, params);
      },
      'plugin/waiting': (latest) => {
        calls.heard();
        if (latest.seq === seq) clock.pause();
      },
      'plugin/log': ({ level, text }) => {
        if (calls.size > 0) use?.log(level, text);
      },
    },
    onClose: () => {
      clock.stop();
      hostCalls.abort('The plugin ended');
    },
    setTimer,
  });
  // After the channel: to listen for messages takes hold of the process again.
  worker.unref();
  const ready = Promise.race([standing, thread.gone]);

  const run = async (call: UnderWay, functionName: string, input: string): Promise<CallEnd> => {
    try {
      seq++;
      calls.begin(call, callMs);
      const done = await channel.call('plugin/call', { functionName, input, interruptMs, seq });
      calls.heard();
      return done;
    } catch (error) {
      await thread.end();
      return isExpired ? expired : toEnd(thread.lastError, error, call);
    } finally {
      calls.finish(call);
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
      const call: UnderWay = { isAbandoned: false, isUntouched: false };
      const outcome = run(call, functionName, input);
      const { wallMs = pluginLimits.wallMs } = options;
      return untilGivenUp(outcome, { signal, wallMs, setTimer, onGivenUp: () => calls.abandon(call) });
    },
  };
}

const expired: CallEnd = { kind: 'killed', code: 'timeout', message: 'It ran too long' };

/** How a call ended with its worker, by what ended the worker and by how the channel failed. */
function toEnd(lastError: unknown, failure: unknown, call: UnderWay): CallEnd {
  if (lastError instanceof Error && 'code' in lastError && lastError.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return { kind: 'killed', code: 'memory', message: 'out of memory' };
  if (lastError !== undefined || (failure instanceof UserError && failure.code === 'bad-message'))
    return { kind: 'killed', code: 'broken', message: errorMessage(lastError ?? failure) };
  return { kind: call.isUntouched ? 'untouched' : 'ended' };
}

interface Patience {
  readonly signal: AbortSignal;
  readonly wallMs: number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly onGivenUp: () => void;
}

/** The end of a call; before that, that it was cancelled or waited for too long. */
function untilGivenUp(outcome: Promise<CallEnd>, patience: Patience): Promise<CallEnd> {
  const { signal, wallMs, setTimer, onGivenUp } = patience;
  return new Promise((resolve) => {
    const settle = (end: CallEnd): void => {
      stopTimer();
      signal.removeEventListener('abort', onAbort);
      resolve(end);
    };
    const giveUp = (end: CallEnd): void => {
      settle(end);
      onGivenUp();
    };
    const onAbort = (): void => giveUp({ kind: 'cancelled' });
    const stopTimer = setTimer(() => giveUp({ kind: 'waited' }), wallMs);
    signal.addEventListener('abort', onAbort, { once: true });
    void outcome.then(settle);
    if (signal.aborted) onAbort();
  });
}
