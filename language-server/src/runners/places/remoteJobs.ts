import type { JobResult } from '../../../../protocol/src/runner.ts';
import type { JobEvent } from '../../../../protocol/src/servedRunner.ts';
import type { AwaitedRelease } from '../../vault/awaitedRelease.ts';
import type { CardJob } from '../cardRunner.ts';

/** A job that this home has sent to a place and whose result it has not stored, or has not said so there. */
export interface RemoteJob {
  readonly jobId: string;
  readonly state: 'sent' | 'settled';
  /** True where a person cancelled it while nobody over there could be told. */
  readonly cancelled: boolean;
  /** Bytes that its outputs may have together. */
  readonly outputLimitBytes: number;
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
   * Stores the end of a job that an earlier engine had sent, once. `undefined` where it turned out never to have been
   * accepted. The log is all that the job wrote.
   */
  adopt(
    jobId: string,
    result: JobResult | undefined,
    log: readonly Extract<JobEvent, { kind: 'log' }>[],
  ): void;
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
    adopt: (jobId, result, log) => jobs.adopt(jobId, result, log),
  };
}
