import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { emptyResult, type JobResult } from '../../../protocol/src/runner.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { CardJob, CardRunner, JobEvents } from './cardRunner.ts';
import { JobRefused, pagesFor, storeFailure, storeOutputs, toOutcome, toWorkerJob } from './quickjsJob.ts';
import { QuickjsPool } from './quickjsPool.ts';
import { startThread, type QuickjsThread, type ThreadEnd, type ThreadEvents } from './quickjsThread.ts';
import { Turnstile } from './turnstile.ts';

export interface QuickjsRunnerOptions {
  readonly blobs: BlobStore;
  /** Absolute paths: the worker's script, the QuickJS module and the guest's prelude. */
  readonly files: { readonly script: string; readonly wasm: string; readonly guest: string };
  /** Cards at once; the others wait. */
  readonly maxJobs?: number;
  readonly standby?: number;
  readonly idleMs?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  /** Timers of the threads (the host's clock) and of the pool (idle). */
  readonly setTimer?: (run: () => void, ms: number) => () => void;
  /** Replaces the thread in tests. */
  readonly startThread?: (memoryPages: number) => QuickjsThread;
}

/** How long after the deadline inside the host ends the thread: what no interrupt reaches ends then. */
const killGraceMs = 500;

/**
 * Runs `js` cards in QuickJS: one worker thread, one instance and one memory for each run, no authority of any kind.
 * Works on every platform. The module is read and compiled when the first card comes.
 */
export function createQuickjsRunner(options: QuickjsRunnerOptions): CardRunner {
  const { blobs, now = () => performance.now(), setTimer = unrefTimer } = options;
  const turnstile = new Turnstile(options.maxJobs ?? availableParallelism());
  const memoryPages = pagesFor(Infinity);
  let pool: Promise<QuickjsPool<QuickjsThread>> | undefined;

  const openPool = async (): Promise<QuickjsPool<QuickjsThread>> => {
    const start = options.startThread ?? (await prepareThreads(options));
    return new QuickjsPool({
      start,
      memoryPages,
      standby: options.standby ?? 2,
      idleMs: options.idleMs ?? 60_000,
      setTimer,
    });
  };

  /** A failed start is tried again with the next card. */
  const openOnce = async (): Promise<QuickjsPool<QuickjsThread>> => {
    pool ??= openPool();
    try {
      return await pool;
    } catch (error) {
      pool = undefined;
      throw error;
    }
  };

  const runJob = async (
    job: CardJob,
    events: JobEvents,
    signal: AbortSignal,
    askedAt: number,
  ): Promise<JobResult> => {
    const stagedFrom = now();
    const workerJob = toWorkerJob(job, blobs);
    const stageMs = now() - stagedFrom;
    const pages = pagesFor(job.limits.memoryMB);
    const threads = await openOnce();
    const thread = threads.take(pages);
    const told = new BoundedEvents(events, workerJob.logBytes, now);
    const end = await thread.run(workerJob, told, workerJob.deadlineMs + killGraceMs, signal);
    // After this turn: the caller's next step comes first, as starting a thread blocks for a moment.
    setImmediate(() => threads.refill());
    const endedAt = now();
    const startedAt = told.startedAt ?? endedAt;
    const taken = takeOutputs(end, job, pages);
    return {
      ...emptyResult(taken.outcome, 'quickjs'),
      ...taken,
      logBytes: told.keptBytes,
      logCutBytes: (end.kind === 'answered' ? end.result.logCutBytes : 0) + told.cutBytes,
      waitMs: startedAt - askedAt - stageMs,
      runMs: endedAt - startedAt,
      stageMs,
      collectMs: now() - endedAt,
    };
  };

  const takeOutputs = (
    end: ThreadEnd,
    job: CardJob,
    pages: number,
  ): Partial<JobResult> & Pick<JobResult, 'outcome'> => {
    const outcome = toOutcome(end, job, pages);
    if (end.kind !== 'answered' || end.result.kind !== 'ok') return { outcome };
    try {
      return { outcome, ...storeOutputs(job, end.result.outputs, blobs) };
    } catch (error) {
      return { outcome: storeFailure(error) };
    }
  };

  return {
    async run(job, events, signal) {
      const askedAt = now();
      const leave = await turnstile.enter(signal);
      if (leave === undefined) return emptyResult({ kind: 'cancelled' }, 'quickjs');
      try {
        if (signal.aborted) return emptyResult({ kind: 'cancelled' }, 'quickjs');
        return await runJob(job, events, signal, askedAt);
      } catch (error) {
        return emptyResult(error instanceof JobRefused ? error.outcome : storeFailure(error), 'quickjs');
      } finally {
        leave();
      }
    },
    async dispose() {
      const opened = await pool?.catch(() => undefined);
      await opened?.dispose();
    },
  };
}

/** Reads and compiles what every thread shares. Rejects where a file of the installation is missing. */
async function prepareThreads(
  options: QuickjsRunnerOptions,
): Promise<(memoryPages: number) => QuickjsThread> {
  const { files, setTimer } = options;
  const [wasm, guestSource] = await Promise.all([readFile(files.wasm), readFile(files.guest, 'utf8')]);
  const wasmModule = await WebAssembly.compile(wasm);
  return (memoryPages) =>
    startThread({
      script: files.script,
      data: { wasmModule, guestSource, memoryPages },
      ...(setTimer ? { setTimer } : {}),
    });
}

/** The worker bounds its log too; this holds where it does not. */
class BoundedEvents implements ThreadEvents {
  keptBytes = 0;
  cutBytes = 0;
  readonly #events: JobEvents;
  readonly #limitBytes: number;
  readonly #now: () => number;
  startedAt: number | undefined;

  constructor(events: JobEvents, limitBytes: number, now: () => number) {
    this.#events = events;
    this.#limitBytes = limitBytes;
    this.#now = now;
  }

  started(): void {
    this.startedAt = this.#now();
    this.#events.started();
  }

  log(stream: 'stdout' | 'stderr', text: string): void {
    const size = Buffer.byteLength(text);
    if (this.cutBytes > 0 || this.keptBytes + size > this.#limitBytes) {
      this.cutBytes += size;
      return;
    }
    this.keptBytes += size;
    this.#events.log(stream, text);
  }

  progress(fraction: number, text: string): void {
    this.#events.progress(fraction, text);
  }
}

function unrefTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
