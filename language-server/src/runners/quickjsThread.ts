import type { ResourceLimits } from 'node:worker_threads';
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
import { startSandboxThread } from './sandboxThread.ts';

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
  const { script, data, resourceLimits } = options;
  const thread = startSandboxThread({
    script,
    data,
    name: 'sallyport js card',
    ...(resourceLimits ? { resourceLimits } : {}),
  });
  const { worker } = thread;
  let events: ThreadEvents | undefined;

  let setReady = (): void => undefined;
  const standing = new Promise<void>((resolve) => (setReady = resolve));
  const channel = new Channel(
    portTransport(worker, () => void thread.end()),
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
  const ready = Promise.race([standing, thread.gone]);

  return {
    ready,
    get ended() {
      return thread.ended;
    },
    gone: thread.gone,
    end: () => thread.end(),
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
        await thread.end();
        return toEnd(error, thread.lastError);
      } finally {
        events = undefined;
        // The card is at its end: the thread only waits for messages, so nobody has to wait for it.
        void thread.end();
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
