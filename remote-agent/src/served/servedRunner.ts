import { statfsSync } from 'node:fs';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import { limits } from '../../../protocol/src/limits.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import {
  emptyResult,
  runnerProtocolVersion,
  type IsolationReport,
  type JobResult,
  type JobSpec,
  type runnerSide,
} from '../../../protocol/src/runner.ts';
import { createBlobStore, type BlobStore } from '../files/blobStore.ts';
import { Runner, type RunnerOptions } from '../runner.ts';
import { cleanBlobs } from './cleanBlobs.ts';
import { Journal } from './journal.ts';
import type { JournalDisk } from './journalFile.ts';
import { Leases } from './leases.ts';
import type { RunnerHome } from './runnerHome.ts';
import { ServedJobs } from './servedJobs.ts';

type Hello = ResultOf<(typeof runnerSide)['requests']['runner/hello']>;

export interface ServedRunnerOptions {
  readonly home: RunnerHome;
  readonly runner: Omit<RunnerOptions, 'events' | 'flow'>;
  readonly parallel: number;
  /** What the journal is written to; absent: a disk that outlives a power cut. */
  readonly disk?: JournalDisk | undefined;
  /** Names this start of the runner. Asked anew each time: a stored VM learns it when it is started again. */
  readonly instance: () => string;
  /** True for the path of a folder that the engine has shared with this machine; absent: none is. */
  readonly isShared?: ((path: string) => boolean) | undefined;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Called when no job runs or waits any more. */
  readonly onIdle: () => void;
}

/** A runner with a memory: what it accepted survives the loss of connections, of engines, and of itself. */
export class ServedRunner {
  readonly instance: () => string;
  readonly parallel: number;
  readonly store: BlobStore;
  readonly jobs: ServedJobs;
  readonly leases: Leases;
  readonly #home: RunnerHome;
  readonly #journal: Journal;
  readonly #runner: Runner;
  readonly #wallClock: () => number;
  readonly #isShared: (path: string) => boolean;
  readonly #greeting: Promise<Hello>;
  #report: IsolationReport | undefined;

  /** Reads the journal, probes, and goes on with what waits there. Throws `store-damaged`, `disk-full`. */
  constructor(options: ServedRunnerOptions) {
    const { home, runner, wallClock } = options;
    this.instance = options.instance;
    this.parallel = options.parallel;
    this.#home = home;
    this.#wallClock = wallClock;
    this.#isShared = options.isShared ?? (() => false);
    this.#journal = new Journal(home.journal, options.disk);
    this.store = createBlobStore(home.blobs);
    const started = new Runner({
      ...runner,
      start: options.instance,
      flow: neverCongested,
      events: {
        starting: (jobId) => this.jobs.starting(jobId),
        started: (jobId) => this.jobs.started(jobId),
        log: (jobId, stream, text) => this.jobs.tell(jobId, { kind: 'log', stream, text }),
        progress: (jobId, fraction, text) => this.jobs.tell(jobId, { kind: 'progress', fraction, text }),
        egress: (record) => this.jobs.tell(record.jobId, { kind: 'egress', record }),
      },
    });
    this.#runner = started;
    this.jobs = new ServedJobs({
      journal: this.#journal,
      store: this.store,
      eventsFolder: home.events,
      machine: { run: (job, signal) => this.#run(job, signal) },
      // Where turns are shared, the first job alone is sure of one.
      sureTurns: runner.entrance ? 1 : options.parallel,
      now: wallClock,
      onProblem: runner.onProblem,
      onIdle: options.onIdle,
    });
    this.leases = new Leases(runner.now, (engine) => this.jobs.expire(engine));
    for (const [engine, leaseSeconds] of this.jobs.engines()) this.leases.renew(engine, leaseSeconds);
    this.#greeting = this.#greet();
    this.#greeting.catch((error: unknown) => runner.onProblem('probe', error));
    void this.jobs.resume();
  }

  /** What it says of itself and of the machine; settles after the first probe. */
  async greeting(): Promise<Hello> {
    const hello = await this.#greeting;
    const { publicKey: vaultKey } = this.#runner.vaultKey;
    return { ...hello, vaultKey, isolation: this.#report ?? hello.isolation };
  }

  async probe(): Promise<IsolationReport> {
    await this.#greeting;
    this.#report = await this.#runner.handlers['runner/probe']({}, new AbortController().signal);
    return this.#report;
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#home.path);
    return bavail * bsize;
  }

  clean(keepBytes: number): { removed: number; freedBytes: number } {
    return cleanBlobs(this.store, this.jobs.neededBlobs(), keepBytes, this.#wallClock());
  }

  /** Ends every job, each with its end in the journal, and removes what was staged. */
  async dispose(): Promise<void> {
    this.leases.dispose();
    this.jobs.stop();
    await this.#runner.dispose();
    await this.jobs.settled();
    await this.#journal.close();
  }

  async #greet(): Promise<Hello> {
    const { blobs, scratch } = this.#home;
    const signal = new AbortController().signal;
    const hello = await this.#runner.handlers['runner/hello'](
      { protocol: runnerProtocolVersion, blobs, scratch, maxJobs: this.parallel },
      signal,
    );
    await this.#runner.handlers['runner/sweep']({}, signal);
    this.clean(limits.blobStoreBytes);
    return hello;
  }

  async #run(job: JobSpec, signal: AbortSignal): Promise<JobResult> {
    await whenDoneOrAborted(this.#greeting, signal);
    if (signal.aborted) return emptyResult({ kind: 'cancelled' });
    const { hostFolders, projectRoot } = job.access;
    if (projectRoot !== undefined || !hostFolders.every(({ path }) => this.#isShared(path))) {
      throw new UserError('unsafe-path', 'Folders of another machine can’t be shown to a card here');
    }
    return this.#runner.handlers['job/run'](job, signal);
  }
}

/** Events go to a file first; whoever reads it there waits on its own. */
const neverCongested = { isCongested: false, whenClear: () => Promise.resolve() };

function whenDoneOrAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(stop, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
