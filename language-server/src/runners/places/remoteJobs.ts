import type { JobResult } from '../../../../protocol/src/runner.ts';
import type { AwaitedRelease } from '../../vault/awaitedRelease.ts';
import type { CardJob, JobEvents } from '../cardRunner.ts';

/** A job that this home has sent to a place and whose result it has not stored, or has not said so there. */
export interface RemoteJob {
  readonly jobId: string;
  readonly state: 'sent' | 'settled';
  /** True where a person cancelled it while nobody over there could be told. */
  readonly cancelled: boolean;
  /** Bytes that its outputs may have together. */
  readonly outputLimitBytes: number;
}

/**
 * A job that an earlier engine had sent, taken up by this one: what it did and does goes to the run that it belongs to,
 * from its first line on. One of `ended` and `left` is called, once, and nothing after it.
 */
export interface LeftJob extends JobEvents {
  /** Bytes that its log may have. */
  readonly logLimitBytes: number;
  /** What its vault values are asked for with. */
  readonly awaited: AwaitedRelease | undefined;
  /** Aborted where a person cancels its run. */
  readonly signal: AbortSignal;
  /** Stores its end. False where that failed: then it must be kept over there. */
  ended(result: JobResult): boolean;
  /** Nothing more is heard of it for now, and why: its end is not known. */
  left(why: string): void;
}

/** What this home remembers durably of jobs elsewhere. */
export interface RemoteJobs {
  /** Before anything of the job is sent. */
  send(place: string, job: CardJob): void;
  cancel(jobId: string): void;
  /** Nothing of the job is held over there any more. */
  remove(jobId: string): void;
  /** The jobs of a place that no living engine looks after, and those that are settled here. */
  left(place: string): RemoteJob[];
  knows(jobId: string): boolean;
  /** What the vault values of a job are asked for with, where no living engine looks after it and nobody cancelled it. */
  awaited(jobId: string): AwaitedRelease | undefined;
  /**
   * Takes up a job that an earlier engine had sent. `nobody` where nothing here waits for its end: its run is forgotten,
   * or its end is stored. `another` where another engine looks after it.
   */
  takeUp(jobId: string): LeftJob | 'nobody' | 'another';
  /** The place says that it has no such job: it did not run. */
  neverAccepted(jobId: string): void;
}

/** The same, with everything that a runner sends remembered under `key` in place of its place's id. */
export function jobsUnder(key: string, jobs: RemoteJobs): RemoteJobs {
  return {
    send: (_place, job) => jobs.send(key, job),
    left: () => jobs.left(key),
    cancel: (jobId) => jobs.cancel(jobId),
    remove: (jobId) => jobs.remove(jobId),
    knows: (jobId) => jobs.knows(jobId),
    awaited: (jobId) => jobs.awaited(jobId),
    takeUp: (jobId) => jobs.takeUp(jobId),
    neverAccepted: (jobId) => jobs.neverAccepted(jobId),
  };
}
