import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { emptyResult, type JobResult, type JobSpec } from '../../../protocol/src/runner.ts';
import type { JobEvent, JournalEntry } from '../../../protocol/src/servedRunner.ts';
import type { BlobStore } from '../files/blobStore.ts';
import type { Flow } from '../jobLog.ts';
import { toRefusal } from '../jobs.ts';
import { artifactsOf, blobsOf, missingBlobs, touchBlobs } from './blobNeeds.ts';
import { EventLog } from './eventLog.ts';
import { isSameJob, type Journal, type JournalJob } from './journal.ts';

/** What runs a job to its end; the part of `Runner` that this needs. */
export interface JobMachine {
  run(job: JobSpec, signal: AbortSignal): Promise<JobResult>;
}

export interface ServedJobsOptions {
  readonly journal: Journal;
  readonly store: BlobStore;
  /** Holds a file of events for each job. */
  readonly eventsFolder: string;
  readonly machine: JobMachine;
  /** How many jobs begin at once without waiting for a turn. */
  readonly sureTurns: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onProblem: (doing: string, error: unknown) => void;
  /** Called when nothing runs or waits any more. */
  readonly onIdle: () => void;
}

interface ServedJob {
  readonly entry: JournalJob;
  readonly log: EventLog;
  readonly abort: AbortController;
  /** Why it was ended, where it was not its engine that asked. */
  endedBecause: string | undefined;
  readonly watchers: Set<(seq: number, event: JobEvent) => void>;
  /** Settles when the journal says durably that it was started; undefined until that was asked for. */
  starting: Promise<void> | undefined;
}

/**
 * The jobs of a served runner, from their acceptance until they are forgotten. What a crash interrupted is settled when
 * this is made: a job that had not started runs now, one that had is `unknown`, for nobody saw its end.
 */
export class ServedJobs {
  readonly #options: ServedJobsOptions;
  readonly #jobs = new Map<string, ServedJob>();
  readonly #accepting = new Map<string, { readonly job: JobSpec; readonly done: Promise<void> }>();
  /** Jobs that are taken no more, the newest last: a connection that was given up may bring one late. */
  readonly #past = new Set<string>();
  readonly #launched = new Set<Promise<void>>();
  #isStopping = false;

  constructor(options: ServedJobsOptions) {
    this.#options = options;
    const { journal, eventsFolder } = options;
    for (const name of readdirSync(eventsFolder))
      if (!journal.jobs.has(name)) rmSync(join(eventsFolder, name));
    for (const entry of journal.jobs.values()) this.#jobs.set(entry.job.jobId, this.#open(entry));
  }

  /** Runs what was accepted and never started, and settles what was started and not seen to its end. */
  async resume(): Promise<void> {
    for (const job of [...this.#jobs.values()]) {
      if (job.entry.ended) continue;
      if (job.entry.started) {
        const detail = 'The runner there was ended while the card ran, so its end was not seen';
        await this.#end(job, emptyResult({ kind: 'unknown', detail }));
      } else this.#launch(job);
    }
  }

  /** Jobs that run or wait. */
  get live(): number {
    return [...this.#jobs.values()].filter(({ entry }) => !entry.ended).length;
  }

  /** True until the job is forgotten. */
  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  /** Accepts a job durably, once. Returns what is missing instead where something is. Throws `conflict`, `disk-full`. */
  async submit(job: JobSpec, engine: string, leaseSeconds: number): Promise<readonly string[] | undefined> {
    const known = this.#jobs.get(job.jobId);
    if (known || this.#accepting.has(job.jobId)) {
      const before = known?.entry.job ?? this.#accepting.get(job.jobId)?.job;
      if (!before || !isSameJob(before, job) || (known && known.entry.engine !== engine))
        throw new UserError('conflict', `Another job was accepted as ${job.jobId}`);
      await this.#accepting.get(job.jobId)?.done;
      return undefined;
    }
    if (this.#past.has(pastName(engine, job.jobId)))
      throw new UserError('conflict', `The job ${job.jobId} was ended here; it is not run again`);
    if (this.#isStopping) throw new UserError('closed', 'The runner is ending');
    const { journal, store, now } = this.#options;
    const missing = missingBlobs(store, artifactsOf(job));
    if (missing.length > 0) return missing.slice(0, mostNamed);
    touchBlobs(store, artifactsOf(job), now());
    // What can't be logged is not accepted.
    const log = this.#openLog(job.jobId);
    const { entry, durable } = journal.accept(job, engine, leaseSeconds, now());
    this.#accepting.set(job.jobId, { job, done: durable });
    try {
      const opened = this.#open(entry, log);
      this.#jobs.set(job.jobId, opened);
      // With a turn free, both records share one sync, and the sandbox is made ready meanwhile.
      if (this.live <= this.#options.sureTurns) this.#start(opened).catch(() => undefined);
      this.#launch(opened);
      await durable;
      return undefined;
    } catch (error) {
      this.#drop(job.jobId);
      throw error;
    } finally {
      this.#accepting.delete(job.jobId);
    }
  }

  #start(job: ServedJob): Promise<void> {
    return (job.starting ??= this.#options.journal.start(job.entry));
  }

  /** A job that was not accepted after all; its program was not started, for that waits for the journal. */
  #drop(jobId: string): void {
    const job = this.#jobs.get(jobId);
    if (!job) return;
    this.#jobs.delete(jobId);
    job.abort.abort();
    job.log.close();
    job.log.remove();
  }

  /** Tells the events of a job after `afterSeq`, to its end or until the signal aborts. Throws `not-found`. */
  follow(
    jobId: string,
    engine: string,
    afterSeq: number,
    tell: (seq: number, event: JobEvent) => void,
    flow: Flow,
    signal: AbortSignal,
  ): JournalEntry['state'] {
    const job = this.#need(jobId, engine);
    const { entry, log, watchers } = job;
    const leave = () => void watchers.delete(tell);
    watchers.add(tell);
    signal.addEventListener('abort', leave, { once: true });
    void log
      .follow(afterSeq, tell, flow, () => entry.ended !== undefined, signal)
      .finally(() => {
        leave();
        signal.removeEventListener('abort', leave);
      })
      .then(() => {
        if (entry.ended && !signal.aborted)
          tell(entry.ended.seq, { kind: 'ended', result: entry.ended.result });
      })
      .catch((error: unknown) => this.#options.onProblem('read the log of a job', error));
    return stateOf(entry);
  }

  /** False where there is no such job that could be ended. One that is not there at all is not accepted after this. */
  cancel(jobId: string, engine: string, because?: string): boolean {
    const job = this.#jobs.get(jobId);
    if (!job) this.#leaveBehind(engine, jobId);
    if (!job || job.entry.engine !== engine || job.entry.ended) return false;
    job.endedBecause ??= because;
    job.abort.abort();
    return true;
  }

  /** Ends every job of an engine that was not heard of for longer than it asked. */
  expire(engine: string): void {
    for (const { entry } of this.#jobs.values()) {
      if (entry.engine !== engine) continue;
      this.cancel(
        entry.job.jobId,
        engine,
        'its lease ended: nothing was heard of the engine that started it',
      );
    }
  }

  /** Drops a job that has ended. False where there is none. Throws `conflict` for one that has not. */
  async forget(jobId: string, engine: string): Promise<boolean> {
    const job = this.#jobs.get(jobId);
    if (!job || job.entry.engine !== engine) return false;
    if (!job.entry.ended) throw new UserError('conflict', `The job ${jobId} has not ended`);
    await this.#options.journal.forget(jobId);
    // Two may be asked for at once.
    if (!this.#jobs.delete(jobId)) return false;
    this.#leaveBehind(engine, jobId);
    job.log.close();
    job.log.remove();
    return true;
  }

  list(engine: string, leaseMs: number): JournalEntry[] {
    return [...this.#jobs.values()]
      .filter(({ entry }) => entry.engine === engine)
      .map(({ entry, log }) => ({
        jobId: entry.job.jobId,
        cardId: entry.job.cardId,
        engine: entry.engine,
        state: stateOf(entry),
        acceptedAt: entry.acceptedAt,
        leaseMs: entry.ended ? null : leaseMs,
        lastSeq: entry.ended?.seq ?? log.lastSeq,
      }));
  }

  /** The engines whose jobs run or wait, with the longest lease that each asked for. */
  engines(): Map<string, number> {
    const found = new Map<string, number>();
    for (const { entry } of this.#jobs.values()) {
      if (!entry.ended) found.set(entry.engine, Math.max(found.get(entry.engine) ?? 0, entry.leaseSeconds));
    }
    return found;
  }

  /** Every blob that a job of the journal needs. */
  neededBlobs(): Set<string> {
    const all = [...this.#jobs.values()].flatMap(({ entry }) => [
      ...blobsOf(this.#options.store, entry.job, entry.ended?.result),
    ]);
    return new Set(all);
  }

  started(jobId: string): void {
    this.#jobs.get(jobId)?.log.append({ kind: 'started' });
  }

  /** Keeps an event of a job that runs, or tells it at once where it is worth nothing later. */
  tell(jobId: string, event: JobEvent): void {
    const job = this.#jobs.get(jobId);
    if (!job || job.entry.ended) return;
    if (event.kind === 'progress') for (const watcher of job.watchers) watcher(job.log.lastSeq, event);
    else job.log.append(event);
  }

  /** The last step before a program is started: from here on the job is never started again. */
  async starting(jobId: string): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (job) await this.#start(job);
  }

  /** Ends every job and says so in the journal. */
  stop(): void {
    this.#isStopping = true;
    for (const { entry } of this.#jobs.values())
      this.cancel(entry.job.jobId, entry.engine, 'the runner there was stopped');
  }

  /** Settles when every job that was launched has its end in the journal. */
  async settled(): Promise<void> {
    await Promise.all(this.#launched);
  }

  #launch(job: ServedJob): void {
    const launched = this.#run(job).finally(() => this.#launched.delete(launched));
    this.#launched.add(launched);
  }

  /** Never rejects. */
  async #run(job: ServedJob): Promise<void> {
    let result: JobResult;
    try {
      result = await this.#options.machine.run(job.entry.job, job.abort.signal);
    } catch (error) {
      result = emptyResult(toRefusal(error));
    }
    if (this.#jobs.get(job.entry.job.jobId) !== job) return;
    const { endedBecause: detail } = job;
    if (result.outcome.kind === 'cancelled' && detail !== undefined)
      result = { ...result, outcome: { kind: 'cancelled', detail } };
    await this.#end(job, result);
    if (this.live === 0) this.#options.onIdle();
  }

  async #end(job: ServedJob, result: JobResult): Promise<void> {
    try {
      await this.#options.journal.end(job.entry, job.log.lastSeq + 1, result);
    } catch (error) {
      this.#options.onProblem('write that a job ended', error);
    }
    job.log.wake();
  }

  #leaveBehind(engine: string, jobId: string): void {
    this.#past.add(pastName(engine, jobId));
    if (this.#past.size <= mostPast) return;
    const [oldest = ''] = this.#past;
    this.#past.delete(oldest);
  }

  #openLog(jobId: string): EventLog {
    return new EventLog(join(this.#options.eventsFolder, jobId));
  }

  #open(entry: JournalJob, log = this.#openLog(entry.job.jobId)): ServedJob {
    return {
      entry,
      log,
      abort: new AbortController(),
      endedBecause: undefined,
      watchers: new Set(),
      starting: undefined,
    };
  }

  #need(jobId: string, engine: string): ServedJob {
    const job = this.#jobs.get(jobId);
    if (!job || job.entry.engine !== engine)
      throw new UserError('not-found', `There is no job ${jobId} here`);
    return job;
  }
}

/** An answer has a largest size; who is told that this many are missing asks for all of them. */
const mostNamed = 1000;
/** A connection that was given up brings what it was given within minutes or never. */
const mostPast = 10_000;

function pastName(engine: string, jobId: string): string {
  return `${engine} ${jobId}`;
}

function stateOf(entry: JournalJob): JournalEntry['state'] {
  return entry.ended ? 'ended' : entry.started ? 'running' : 'queued';
}
