import { Worker, type ResourceLimits } from 'node:worker_threads';
import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { portTransport } from '../../../protocol/src/portTransport.ts';
import {
  workerEvents,
  workerSide,
  type JsCardJob,
  type JsCardResult,
  type SandboxWorkerData,
} from '../../../protocol/src/worker.ts';

/** How a card on a thread ended: by its own answer, or with the thread. Nothing of it runs any more in either case. */
export type ThreadEnd =
  | { readonly kind: 'answered'; readonly result: JsCardResult }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'out-of-memory' }
  | { readonly kind: 'died'; readonly detail: string };

export interface ThreadEvents {
  /** The instance stood by and the card was handed over. */
  started(): void;
  log(stream: 'stdout' | 'stderr', text: string): void;
  progress(fraction: number, text: string): void;
}

/** A thread with one QuickJS instance, for one card. */
export interface QuickjsThread {
  /** Resolves once the instance stands by or the thread has ended. */
  readonly ready: Promise<void>;
  /** True once the thread has ended. */
  readonly ended: boolean;
  /** Resolves once it has ended, for whatever reason. */
  readonly gone: Promise<void>;
  /** Runs a card, once the instance stands by, and ends the thread. `killAfterMs` is the host's own clock, which no loop in the sandbox can outlast. */
  run(job: JsCardJob, events: ThreadEvents, killAfterMs: number, signal: AbortSignal): Promise<ThreadEnd>;
  /** Resolves when the thread is gone. */
  end(): Promise<void>;
}

/**
 * V8's own bounds for a thread. They don't count WebAssembly memory, which has its own maximum. The stack must be well
 * above QuickJS's 256 KiB, or V8 runs out first and leaves a damaged instance.
 */
const standardLimits: ResourceLimits = {
  maxOldGenerationSizeMb: 160,
  maxYoungGenerationSizeMb: 16,
  codeRangeSizeMb: 16,
  stackSizeMb: 8,
};

export interface ThreadOptions {
  /** Absolute path of the worker's script. */
  readonly script: string;
  readonly data: SandboxWorkerData;
  /** For tests; what stands above is what a card gets. */
  readonly resourceLimits?: ResourceLimits;
  readonly setTimer?: (run: () => void, ms: number) => () => void;
}

/** Starts a thread. It does not keep the process alive until a card runs on it. */
export function startThread(options: ThreadOptions): QuickjsThread {
  const worker = new Worker(options.script, {
    workerData: options.data,
    name: 'sallyport js card',
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: options.resourceLimits ?? standardLimits,
  });
  let lastError: unknown;
  let ended = false;
  let events: ThreadEvents | undefined;
  let terminated: Promise<void> | undefined;
  const exited = new Promise<void>((resolve) => {
    worker.on('error', (error: unknown) => (lastError = error));
    worker.on('exit', () => {
      ended = true;
      resolve();
    });
  });
  const terminate = (): Promise<void> => (terminated ??= worker.terminate().then(() => exited));

  let setReady = (): void => undefined;
  const standing = new Promise<void>((resolve) => (setReady = resolve));
  const channel = new Channel(
    portTransport(worker, () => void terminate()),
    workerSide,
    {
      local: workerEvents,
      requestHandlers: {},
      notificationHandlers: {
        'worker/ready': () => setReady(),
        'card/log': ({ stream, text }) => events?.log(stream, text),
        'card/progress': ({ fraction, text }) => events?.progress(fraction, text),
      },
      ...(options.setTimer ? { setTimer: options.setTimer } : {}),
    },
  );

  // After the channel: to listen for messages takes hold of the process again.
  worker.unref();
  const ready = Promise.race([standing, exited]);

  return {
    ready,
    get ended() {
      return ended;
    },
    gone: exited,
    end: terminate,
    async run(job, told, killAfterMs, signal) {
      worker.ref();
      try {
        await ready;
        events = told;
        if (!signal.aborted) told.started();
        const result = await channel.call('card/run', job, { signal, timeoutMs: killAfterMs });
        return { kind: 'answered', result };
      } catch (error) {
        events = undefined;
        await terminate();
        return toEnd(error, lastError);
      } finally {
        events = undefined;
        // The card is at its end: the thread only waits for messages, so nobody has to wait for it.
        void terminate();
      }
    },
  };
}

function toEnd(error: unknown, lastError: unknown): ThreadEnd {
  const code = error instanceof UserError ? error.code : undefined;
  if (code === 'timeout' || code === 'cancelled') return { kind: code };
  if (lastError instanceof Error && 'code' in lastError && lastError.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return { kind: 'out-of-memory' };
  return { kind: 'died', detail: errorMessage(lastError ?? error) };
}
