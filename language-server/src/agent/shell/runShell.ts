import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../../../protocol/src/errors.ts';
import type { ShellFetch, ShellFetchAnswer, ShellMessage, ShellReply, ShellTask } from './shellMessages.ts';

/** How a command of the shell ended. Only `exited` has a status, and only then is anything of it kept. */
export type ShellEnd =
  | Extract<ShellMessage, { kind: 'end' }>
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'memory' }
  | { readonly kind: 'fault'; readonly message: string };

export interface RunShellOptions {
  /** The built worker: `shell-worker.mjs`. */
  readonly script: string;
  readonly signal: AbortSignal;
  /** Makes a request of the shell or rejects with words for it. Absent: there is no internet. */
  readonly fetch: ((request: ShellFetch, signal: AbortSignal) => Promise<ShellFetchAnswer>) | undefined;
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

const memoryMB = 512;

/**
 * Runs one command in a thread of its own, which is gone afterwards: nothing of one command reaches the next. The
 * thread has no environment and is ended from outside when its time is over, whatever it does. Never rejects.
 */
export function runShell(task: ShellTask, options: RunShellOptions): Promise<ShellEnd> {
  const { signal, fetch, setTimer } = options;
  if (signal.aborted) return Promise.resolve({ kind: 'cancelled' });
  const worker = new Worker(options.script, {
    workerData: task,
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMB, stackSizeMb: 4 },
  });
  const requests = new AbortController();
  return new Promise<ShellEnd>((resolve) => {
    let isEnded = false;
    const end = (how: ShellEnd) => {
      if (isEnded) return;
      isEnded = true;
      stopTimer();
      signal.removeEventListener('abort', cancel);
      requests.abort();
      void worker.terminate().then(() => resolve(how));
    };
    const cancel = () => end({ kind: 'cancelled' });
    const stopTimer = setTimer(
      () => end({ kind: 'timeout', seconds: task.limits.seconds }),
      task.limits.seconds * 1000,
    );
    signal.addEventListener('abort', cancel, { once: true });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? { kind: 'memory' } : faultOf(error));
    });
    worker.on('exit', () => end({ kind: 'fault', message: 'its thread ended without an answer' }));
    worker.on('message', (message: ShellMessage) => {
      if (message.kind !== 'fetch') return end(message);
      const { id, request } = message;
      const reply = (answer: ShellReply) => {
        if (!isEnded) worker.postMessage(answer);
      };
      if (!fetch) return reply({ id, refused: 'there is no internet in this shell' });
      fetch(request, requests.signal).then(
        (answer) => reply({ id, answer }),
        (error: unknown) => reply({ id, refused: errorMessage(error) }),
      );
    });
  });
}

function faultOf(error: unknown): ShellEnd {
  return { kind: 'fault', message: errorMessage(error) };
}
