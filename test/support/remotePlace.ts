import type { PlaceView } from '../../protocol/src/places.ts';
import { UserError } from '../../protocol/src/errors.ts';
import type { JobResult } from '../../protocol/src/runner.ts';
import { createBlobStore, type BlobStore } from '../../remote-agent/src/files/blobStore.ts';
import type { CardJob, JobEvents } from '../../language-server/src/runners/cardRunner.ts';
import type { PlaceRunner } from '../../language-server/src/runners/places/placeRunner.ts';
import type { LeftJob, RemoteJob, RemoteJobs } from '../../language-server/src/runners/places/remoteJobs.ts';
import {
  createRemoteRunner,
  remoteTimes,
  type RemoteTimes,
} from '../../language-server/src/runners/places/remoteRunner.ts';
import type { ReleaseStarted } from '../../language-server/src/runners/places/valueRelease.ts';
import type { RunnerTransport } from '../../language-server/src/runners/places/runnerTransport.ts';

/** A job that was taken up from an engine before. */
export class TakenJob implements LeftJob {
  readonly logLimitBytes = 1024 * 1024;
  readonly awaited: LeftJob['awaited'];
  readonly stop = new AbortController();
  readonly signal = this.stop.signal;
  readonly texts: string[] = [];
  readonly reasons: string[] = [];
  readonly #store: (result: JobResult, log: string) => void;
  /** What `ended` answers. */
  isStored = true;
  written = '';

  constructor(awaited: LeftJob['awaited'], store: (result: JobResult, log: string) => void) {
    this.awaited = awaited;
    this.#store = store;
  }

  started(): void {
    // Nothing hangs on it.
  }
  log(_stream: 'stdout' | 'stderr', text: string): void {
    this.written += text;
  }
  progress(_fraction: number, text: string): void {
    this.texts.push(text);
  }
  egress(): void {
    // Nothing hangs on it.
  }
  ended(result: JobResult): boolean {
    if (this.isStored) this.#store(result, this.written);
    return this.isStored;
  }
  left(why: string): void {
    this.reasons.push(why);
  }
}

/** What an engine remembers of jobs elsewhere, in memory: it outlives the engine that a test kills. */
export class RememberedJobs implements RemoteJobs {
  readonly rows = new Map<string, { place: string } & RemoteJob>();
  readonly adopted: { jobId: string; result: JobResult | undefined; log: string }[] = [];
  readonly taken = new Map<string, TakenJob>();

  send(place: string, job: CardJob): void {
    const outputLimitBytes = job.limits.outputMB * 1024 * 1024;
    this.rows.set(job.jobId, { place, jobId: job.jobId, state: 'sent', cancelled: false, outputLimitBytes });
  }
  cancel(jobId: string): void {
    const row = this.rows.get(jobId);
    if (row) this.rows.set(jobId, { ...row, cancelled: true });
  }
  remove(jobId: string): void {
    this.rows.delete(jobId);
  }
  left(place: string): RemoteJob[] {
    return [...this.rows.values()].filter((row) => row.place === place);
  }
  knows(jobId: string): boolean {
    return this.rows.has(jobId);
  }
  awaited: RemoteJobs['awaited'] = () => undefined;
  takeUp(jobId: string): LeftJob | 'nobody' {
    if (this.rows.get(jobId)?.state !== 'sent') return 'nobody';
    const taken = new TakenJob(this.awaited(jobId), (result, log) => this.store(jobId, result, log));
    this.taken.set(jobId, taken);
    return taken;
  }
  neverAccepted(jobId: string): void {
    this.store(jobId, undefined, '');
  }
  /** Stores an end, once. */
  store(jobId: string, result: JobResult | undefined, log: string): void {
    const row = this.rows.get(jobId);
    if (row?.state !== 'sent') return;
    this.rows.set(jobId, { ...row, state: 'settled' });
    this.adopted.push({ jobId, result, log });
  }
}

/**
 * Short times for tests that wait for what takes long in life. A heartbeat that is not answered in its time cuts the
 * connection, so it has the time of a busy machine; a test about one that stays out gives it less.
 */
export const quickTimes: RemoteTimes = {
  ...remoteTimes,
  heartbeatMs: 10_000,
  retryMs: 20,
  longestRetryMs: 100,
  cancelMs: 300,
};

export interface TestPlace {
  readonly runner: PlaceRunner;
  readonly blobs: BlobStore;
  readonly jobs: RememberedJobs;
  readonly views: PlaceView[];
  readonly problems: string[];
}

export function openPlace(
  transport: RunnerTransport,
  blobsFolder: string,
  more: { jobs?: RememberedJobs; times?: RemoteTimes; engine?: string; release?: ReleaseStarted } = {},
): TestPlace {
  const blobs = createBlobStore(blobsFolder);
  const jobs = more.jobs ?? new RememberedJobs();
  const views: PlaceView[] = [];
  const problems: string[] = [];
  const runner = createRemoteRunner({
    transport,
    blobs,
    engine: more.engine ?? 'engine-of-tests',
    jobs,
    release:
      more.release ?? (() => Promise.reject(new UserError('permission-needed', 'There is no vault here'))),
    times: more.times ?? quickTimes,
    now: () => performance.now(),
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    onChange: (view) => views.push(view),
    onProblem: (problem) => problems.push(problem),
  });
  return { runner, blobs, jobs, views, problems };
}

/** All that a job told. */
export class Heard implements JobEvents {
  stdout = '';
  stderr = '';
  starts = 0;
  readonly progressTexts: string[] = [];
  readonly records: unknown[] = [];

  started(): void {
    this.starts += 1;
  }
  log(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text;
  }
  progress(_fraction: number, text: string): void {
    this.progressTexts.push(text);
  }
  egress(record: unknown): void {
    this.records.push(record);
  }
}
