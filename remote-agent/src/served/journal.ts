import * as z from 'zod/mini';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import { jobResult, jobSpec, type JobResult, type JobSpec } from '../../../protocol/src/runner.ts';
import { openJournalFile, type JournalDisk, type JournalFile } from './journalFile.ts';

const record = z.discriminatedUnion('t', [
  z.strictObject({
    t: z.literal('accepted'),
    at: z.number(),
    engine: z.string(),
    leaseSeconds: z.int(),
    job: jobSpec,
  }),
  z.strictObject({ t: z.literal('started'), jobId: z.string() }),
  z.strictObject({ t: z.literal('ended'), jobId: z.string(), seq: z.int(), result: jobResult }),
  z.strictObject({ t: z.literal('forgotten'), jobId: z.string() }),
]);
type JournalRecord = z.infer<typeof record>;

/** A job that was accepted and not forgotten. */
export interface JournalJob {
  readonly job: JobSpec;
  readonly engine: string;
  readonly leaseSeconds: number;
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** True from before its program is started: it must never be started again. */
  started: boolean;
  ended: { readonly seq: number; readonly result: JobResult } | undefined;
}

/**
 * What this runner has taken on, durably. A job is accepted on the disk before anyone is told so, and `started` on the
 * disk before its program is; `ended` is with the system before its result is told; `forgotten` comes only when the
 * engine said that it has the result. So after any crash a job has either not started, or is known to have; and a power
 * cut in the very moment of its end leaves it `unknown` to whoever was not told.
 */
export class Journal {
  readonly jobs = new Map<string, JournalJob>();
  readonly #file: JournalFile;

  constructor(path: string, disk?: JournalDisk) {
    const { file } = openJournalFile(path, (records) => this.#load(records), disk);
    this.#file = file;
  }

  /** The entry at once, and what settles when it is durable. One that could not be written is none. */
  accept(
    job: JobSpec,
    engine: string,
    leaseSeconds: number,
    at: number,
  ): { readonly entry: JournalJob; readonly durable: Promise<void> } {
    const entry: JournalJob = { job, engine, leaseSeconds, acceptedAt: at, started: false, ended: undefined };
    this.jobs.set(job.jobId, entry);
    const durable = this.#append({ t: 'accepted', at, engine, leaseSeconds, job }).catch((error: unknown) => {
      this.jobs.delete(job.jobId);
      throw error;
    });
    return { entry, durable };
  }

  async start(entry: JournalJob): Promise<void> {
    await this.#append({ t: 'started', jobId: entry.job.jobId });
    entry.started = true;
  }

  /** The job has ended whether or not that could be written; the error is the caller's to tell. */
  async end(entry: JournalJob, seq: number, result: JobResult): Promise<void> {
    const record: JournalRecord = { t: 'ended', jobId: entry.job.jobId, seq, result };
    try {
      await this.#file.hand(record);
    } finally {
      entry.ended = { seq, result };
    }
  }

  async forget(jobId: string): Promise<void> {
    await this.#append({ t: 'forgotten', jobId });
    this.jobs.delete(jobId);
  }

  /** Settles when everything that was told to it is on the disk. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #append(value: JournalRecord): Promise<void> {
    return this.#file.append(value);
  }

  #load(records: readonly unknown[]): JournalRecord[] {
    for (const each of records) {
      const parsed = record.parse(each);
      if (parsed.t === 'accepted') {
        const { job, engine, leaseSeconds, at } = parsed;
        this.jobs.set(job.jobId, {
          job,
          engine,
          leaseSeconds,
          acceptedAt: at,
          started: false,
          ended: undefined,
        });
        continue;
      }
      const entry = this.jobs.get(parsed.jobId);
      if (!entry) continue;
      if (parsed.t === 'started') entry.started = true;
      else if (parsed.t === 'ended') entry.ended = { seq: parsed.seq, result: parsed.result };
      else this.jobs.delete(parsed.jobId);
    }
    return [...this.jobs.values()].flatMap(({ job, engine, leaseSeconds, acceptedAt, started, ended }) => [
      { t: 'accepted' as const, at: acceptedAt, engine, leaseSeconds, job },
      ...(started ? [{ t: 'started' as const, jobId: job.jobId }] : []),
      ...(ended ? [{ t: 'ended' as const, jobId: job.jobId, ...ended }] : []),
    ]);
  }
}

/** True where both are the same job in every field. */
export function isSameJob(one: JobSpec, other: JobSpec): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
