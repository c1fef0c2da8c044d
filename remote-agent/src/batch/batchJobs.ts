import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { emptyResult, type JobOutcome, type JobResult, type JobSpec } from '../../../protocol/src/runner.ts';
import type { JournalEntry } from '../../../protocol/src/servedRunner.ts';
import type { BlobStore } from '../files/blobStore.ts';
import { createDeferred, type Deferred } from '../deferred.ts';
import { artifactsOf, missingBlobs, touchBlobs } from '../served/blobNeeds.ts';
import { isSameJob } from '../served/journal.ts';
import type { BatchFolder, Claim, Submit } from './batchFolder.ts';
import { BatchJob, type Listener } from './batchJob.ts';
import { describeTask, isSuccess, needsReason, outcomeWithoutResult, withReason } from './batchOutcome.ts';
import type { BatchSystem, BatchTask } from './batchSystem.ts';
import { Gather } from './gather.ts';
import { ValueCourier, type AskValues } from './valueCourier.ts';

export interface BatchTimes {
  readonly quietMs: number;
  readonly longestMs: number;
  /** Between two looks into the folder, and between two questions to the batch system: from the first to the second. */
  readonly lookMs: readonly [number, number];
  readonly askMs: readonly [number, number];
  /** How long a request of which nothing was heard may still be on its way before it is made again. */
  readonly settleMs: number;
}

export const batchTimes: BatchTimes = {
  quietMs: 150,
  longestMs: 2000,
  lookMs: [50, 1000],
  askMs: [1000, 15_000],
  settleMs: 4000,
};

export interface BatchJobsOptions {
  readonly folder: BatchFolder;
  readonly store: BlobStore;
  readonly system: BatchSystem;
  /** Whose jobs these are. */
  readonly engine: string;
  readonly expects: NonNullable<Submit['expects']>;
  readonly largest: number;
  readonly script: (name: string) => string;
  readonly times: BatchTimes;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Asks the engine for the vault values of a job that has started. */
  readonly askValues: AskValues;
  readonly onProblem: (doing: string, error: unknown) => void;
}

interface Group {
  readonly submit: Submit;
  readonly jobs: readonly BatchJob[];
  /** `unsure`: the batch system may have it or not. */
  state: 'submitting' | 'submitted' | 'unsure';
}

interface Arrival {
  readonly spec: JobSpec;
  readonly accepted: Deferred<undefined>;
  isCancelled: boolean;
}

/**
 * The jobs of one engine in a batch system, from their acceptance until they are forgotten. Holds nothing that is not in
 * the shared folder: another one, on another login node, goes on where this one ended.
 */
export class BatchJobs {
  readonly #options: BatchJobsOptions;
  readonly #groups = new Map<string, Group>();
  readonly #jobs = new Map<string, BatchJob>();
  readonly #arriving = new Map<string, Arrival>();
  readonly #gather: Gather<Arrival>;
  readonly #handing = new Set<Promise<void>>();
  readonly #toCancel = new Set<BatchJob>();
  readonly #courier: ValueCourier;
  #looking: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  #lookMs: number;
  #askMs: number;
  #isAsking = false;
  #isStopped = false;

  /** Reads what earlier ones left. */
  constructor(options: BatchJobsOptions) {
    this.#options = options;
    const { times, folder, largest, askValues, onProblem } = options;
    this.#courier = new ValueCourier({ folder, ask: askValues, onProblem });
    this.#lookMs = times.lookMs[0];
    this.#askMs = times.askMs[0];
    this.#gather = new Gather(
      times,
      () => largest,
      (arrivals) => this.#accept(arrivals),
    );
    this.#readSubmits();
    this.#wake();
  }

  /** True until the job is forgotten. */
  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  /** Accepts a job durably, once; undefined then, else the blobs that must be put first. */
  async submit(spec: JobSpec): Promise<readonly string[] | undefined> {
    const { store, now } = this.#options;
    const { jobId } = spec;
    if (spec.access.hostFolders.length > 0 || spec.access.projectRoot !== undefined)
      throw new UserError('unsafe-path', 'Folders of another machine can’t be shown to a card here');
    if (spec.vault && spec.vault.length > 0)
      throw new UserError('bad-message', 'A card in a queue asks for its vault values when it has started');
    const known = this.#jobs.get(jobId)?.spec ?? this.#arriving.get(jobId)?.spec;
    if (known) {
      if (!isSameJob(known, spec)) throw new UserError('conflict', `Another job was accepted as ${jobId}`);
      await this.#arriving.get(jobId)?.accepted.promise;
      return undefined;
    }
    const missing = missingBlobs(store, artifactsOf(spec));
    if (missing.length > 0) return missing.slice(0, mostNamed);
    touchBlobs(store, artifactsOf(spec), now());
    const arrival = { spec, accepted: createDeferred<undefined>(), isCancelled: false };
    this.#arriving.set(jobId, arrival);
    this.#gather.add(canonicalJson({ limits: spec.limits, waitSeconds: waitSecondsOf(spec) }), arrival);
    return arrival.accepted.promise;
  }

  /** Tells the events after `afterSeq` to the end. Throws `not-found`. */
  follow(jobId: string, listener: Listener, signal: AbortSignal): JournalEntry['state'] {
    const job = this.#need(jobId);
    job.listen(listener, signal);
    this.#wake();
    return this.#stateOf(job, this.#options.folder.runFiles());
  }

  /** False where there is no such job that could be ended. One that is not there at all never runs after this. */
  cancel(jobId: string): boolean {
    const { folder } = this.#options;
    if (!this.#jobs.has(jobId)) this.#readSubmits();
    const job = this.#jobs.get(jobId);
    const arrival = this.#arriving.get(jobId);
    if (arrival) {
      arrival.isCancelled = true;
      return true;
    }
    if (!job) folder.takeClaim(jobId, loginClaim());
    if (!job || job.ended) return false;
    job.isCancelled = true;
    folder.mark(jobId, 'cancel');
    // Who has the claim decides: then no node starts it any more.
    if (this.#claim(job)) this.#end(job, { kind: 'cancelled' });
    else job.say(`${this.#options.system.title} is asked to end it`);
    this.#toCancel.add(job);
    this.#wake();
    return true;
  }

  /** Drops a job that has ended. False where there is none. Throws `conflict` for one that has not. */
  forget(jobId: string): boolean {
    const { folder } = this.#options;
    const job = this.#jobs.get(jobId);
    if (!job) return false;
    if (!job.ended && folder.resultOf(jobId) === undefined)
      throw new UserError('conflict', `The job ${jobId} has not ended`);
    folder.removeRun(job.name, job.index, jobId);
    this.#jobs.delete(jobId);
    this.#tidy(job.name);
    return true;
  }

  list(): JournalEntry[] {
    const { engine, folder } = this.#options;
    // A connection that was given up may have brought some since.
    this.#readSubmits();
    const files = folder.runFiles();
    return [...this.#jobs.values()].map((job) => ({
      jobId: job.spec.jobId,
      cardId: job.spec.cardId,
      engine,
      state: this.#stateOf(job, files),
      acceptedAt: this.#groups.get(job.name)?.submit.acceptedAt ?? 0,
      leaseMs: null,
      lastSeq: job.ended ? job.ended.lastSeq + 1 : 0,
    }));
  }

  /** Follows nothing any more. Settles when no request to the batch system is on its way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#gather.stop();
    clearTimeout(this.#looking);
    clearTimeout(this.#asking);
    await Promise.all(this.#handing);
  }

  /** Removes a group of which nothing is wanted any more, here or in the batch system. */
  #tidy(name: string): void {
    const group = this.#groups.get(name);
    if (!group || this.#isToCancel(group)) return;
    if (group.jobs.some(({ spec }) => this.#jobs.has(spec.jobId))) return;
    this.#options.folder.removeSubmit(name, group.submit.jobs);
    this.#groups.delete(name);
  }

  /** Opens what is in the folder and not open yet. */
  #readSubmits(): void {
    const { folder, engine } = this.#options;
    for (const name of folder.submitNames()) {
      if (this.#groups.has(name)) continue;
      const submit = this.#readSubmit(name);
      if (!submit?.expects || submit.engine !== engine) continue;
      this.#open(submit);
      this.#tidy(name);
    }
  }

  #readSubmit(name: string): Submit | undefined {
    try {
      return this.#options.folder.readSubmit(name);
    } catch (error) {
      this.#options.onProblem(`read ${name}`, error);
      return undefined;
    }
  }

  /** Jobs of a file that is there, each followed from here on. */
  #open(submit: Submit, state: Group['state'] = 'unsure'): Group {
    const { folder } = this.#options;
    const files = folder.runFiles();
    const jobs = submit.jobs.map(
      (spec, index) => new BatchJob(folder, spec, submit.name, index, files.has(`${spec.jobId}.cancel`)),
    );
    const group: Group = {
      submit,
      jobs,
      state: folder.submitId(submit.name) === undefined ? state : 'submitted',
    };
    this.#groups.set(submit.name, group);
    for (const job of jobs) {
      if (files.has(`${job.spec.jobId}.gone`)) continue;
      this.#jobs.set(job.spec.jobId, job);
      if (job.isCancelled) this.#toCancel.add(job);
    }
    return group;
  }

  #accept(arrivals: readonly Arrival[]): void {
    try {
      const files = this.#options.folder.runFiles();
      const late = arrivals.filter(
        ({ spec, isCancelled }) => isCancelled || this.#isBarred(spec.jobId, files),
      );
      for (const { accepted, spec } of late)
        accepted.reject(
          new UserError(
            'conflict',
            `The job ${spec.jobId} was ended here before it was accepted; it is not run`,
          ),
        );
      this.#take(arrivals.filter((each) => !late.includes(each)));
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      for (const { accepted } of arrivals) accepted.reject(reason);
    }
    for (const { spec } of arrivals) this.#arriving.delete(spec.jobId);
  }

  /** True where it was cancelled before it was there: nobody has an end for it. */
  #isBarred(jobId: string, files: ReadonlySet<string>): boolean {
    if (!files.has(`${jobId}.claim`) || files.has(`${jobId}.result`)) return false;
    return this.#options.folder.claimOf(jobId)?.by === 'login';
  }

  /** Throws `disk-full`. */
  #take(arrivals: readonly Arrival[]): void {
    const { folder, system, engine, expects, now } = this.#options;
    const [first] = arrivals;
    if (!first) return;
    const submit: Submit = {
      version: 1,
      name: `sallyport-${now().toString(36)}-${randomBytes(6).toString('hex')}`,
      engine,
      limits: first.spec.limits,
      acceptedAt: now(),
      chosen: system.chosen,
      expects,
      jobs: arrivals.map(({ spec }) => spec),
    };
    folder.writeSubmit(submit);
    const group = this.#open(submit, 'submitting');
    for (const { accepted } of arrivals) accepted.resolve(undefined);
    this.#hand(group);
  }

  #hand(group: Group): void {
    const done = this.#handOver(group)
      .catch((error: unknown) => this.#options.onProblem('hand jobs over', error))
      .finally(() => this.#handing.delete(done));
    this.#handing.add(done);
  }

  async #handOver(group: Group): Promise<void> {
    const { system, script, folder } = this.#options;
    const { name, jobs, limits } = group.submit;
    group.state = 'submitting';
    for (const job of group.jobs) {
      job.absentSince = undefined;
      job.say(`Handing it to ${system.title}`);
    }
    const waitSeconds = Math.max(...jobs.map(waitSecondsOf));
    const answer = await system.submit({
      name,
      count: jobs.length,
      limits,
      waitSeconds,
      script: script(name),
    });
    if (answer.kind === 'submitted') {
      folder.writeSubmitId(name, answer.id);
      group.state = 'submitted';
    } else if (answer.kind === 'unsure') {
      group.state = 'unsure';
      for (const job of group.jobs)
        job.say(`${system.title} has not answered; trying again (${answer.detail})`);
    } else {
      group.state = 'submitted';
      for (const job of group.jobs)
        if (this.#claim(job))
          this.#end(job, {
            kind: 'refused',
            code: 'internal',
            detail: `${system.title} refused it: ${answer.detail}`,
            remedy: `Change the card’s limits. ${system.advice.refused}`,
          });
    }
    this.#wake();
  }

  /** True where the job's program was not started and, from now on, never is. */
  #claim({ spec }: BatchJob): boolean {
    const { folder } = this.#options;
    if (folder.takeClaim(spec.jobId, loginClaim())) return true;
    return folder.claimOf(spec.jobId)?.by === 'login';
  }

  /** Gives the job its end, unless it has one already, which then is the one that counts. */
  #end(job: BatchJob, outcome: JobOutcome): void {
    const { folder } = this.#options;
    folder.writeResult(job.spec.jobId, { lastSeq: 0, result: emptyResult(outcome) });
    job.ended = folder.resultOf(job.spec.jobId);
  }

  /** Looks and asks soon again: something has changed or is about to. */
  #wake(): void {
    const { lookMs, askMs } = this.#options.times;
    [this.#lookMs, this.#askMs] = [lookMs[0], askMs[0]];
    this.#scheduleLook();
    this.#scheduleAsk();
  }

  #scheduleLook(): void {
    clearTimeout(this.#looking);
    const isNeeded = [...this.#jobs.values()].some((job) => !job.ended || job.isHeard);
    if (this.#isStopped || !isNeeded) return;
    this.#looking = setTimeout(() => this.#look(), this.#lookMs);
  }

  #scheduleAsk(): void {
    clearTimeout(this.#asking);
    const isNeeded = this.#toCancel.size > 0 || [...this.#jobs.values()].some((job) => !job.ended);
    if (this.#isStopped || this.#isAsking || !isNeeded) return;
    this.#asking = setTimeout(() => void this.#ask(), this.#askMs);
  }

  /** Asks no later than that from now. */
  #askWithin(ms: number): void {
    if (this.#askMs <= ms && ms > 0) return;
    this.#askMs = ms;
    this.#scheduleAsk();
  }

  #look(): void {
    const { folder, onProblem, times } = this.#options;
    let isNew = false;
    try {
      const files = folder.runFiles();
      for (const job of this.#jobs.values()) isNew = this.#lookAt(job, files) || isNew;
    } catch (error) {
      onProblem('look into the shared folder', error);
    }
    this.#lookMs = isNew ? times.lookMs[0] : Math.min(this.#lookMs * 1.3, times.lookMs[1]);
    this.#scheduleLook();
  }

  /** True where something is new. A file that can't be read for now is its own job's alone. */
  #lookAt(job: BatchJob, files: ReadonlySet<string>): boolean {
    const { now, onProblem } = this.#options;
    const { jobId, awaitsVault } = job.spec;
    try {
      const hasEnded = !job.ended && files.has(`${jobId}.result`) && this.#takeResult(job);
      const isNew = job.look(files, now());
      if (awaitsVault) this.#courier.look(jobId, job.ended || job.isCancelled ? nothing : files);
      return hasEnded || isNew;
    } catch (error) {
      onProblem('look for what a job tells', error);
      return false;
    }
  }

  /** Takes a result as the end, but for one whose reason only the batch system can tell. */
  #takeResult(job: BatchJob, tasks?: readonly BatchTask[]): boolean {
    const { folder, system, now, times } = this.#options;
    const kept = folder.resultOf(job.spec.jobId);
    if (!kept) return false;
    const isWell = isSuccess(kept.result);
    const isPutBack = tasks?.some(({ end, isRunning }) => end === undefined && !isRunning) ?? false;
    if (!needsReason(kept) || (isWell && (isPutBack || job.isCancelled))) {
      job.ended = kept;
      return true;
    }
    if (job.isCancelled) {
      job.ended = { ...kept, result: { ...kept.result, outcome: { kind: 'cancelled' } } };
      return true;
    }
    if (job.reasonSince === undefined) {
      job.reasonSince = now();
      // Of many that ended well all are asked about in one question.
      const isUrgent = !isWell || kept.killedForMemory === true;
      this.#askWithin(isUrgent ? 0 : times.askMs[0]);
    }
    if (isPutBack) {
      const detail = `${system.title} put its job back into the queue while it ran; it is not run again by itself`;
      job.ended = { ...kept, result: { ...kept.result, outcome: { kind: 'cancelled', detail } } };
      this.#toCancel.add(job);
      return true;
    }
    const task = tasks?.find(({ end }) => end !== undefined);
    const isLate = now() - job.reasonSince > reasonMs;
    if (!task && !isLate && !(tasks && tasks.length === 0)) return false;
    const result: JobResult = withReason(kept, task, system.title, job.spec.limits.seconds);
    job.ended = { ...kept, result };
    return true;
  }

  async #ask(): Promise<void> {
    const { system, times, folder, onProblem } = this.#options;
    const groups = [...this.#groups.values()].filter(
      (group) =>
        group.state !== 'submitting' &&
        (this.#isToCancel(group) || group.jobs.some((job) => this.#isLive(job))),
    );
    this.#isAsking = true;
    try {
      const tasks = await system.states(groups.map(({ submit }) => submit.name));
      await this.#cancelTasks(groups, tasks);
      for (const group of groups)
        this.#judge(
          group,
          tasks.filter(({ name }) => name === group.submit.name),
        );
    } catch (error) {
      for (const job of this.#jobs.values())
        if (!job.ended && folder.claimOf(job.spec.jobId) === undefined)
          job.say(`${errorMessage(error)}; it is asked again`);
      if (!(error instanceof UserError)) onProblem('ask the batch system', error);
    } finally {
      this.#isAsking = false;
    }
    this.#askMs = Math.min(Math.max(2 * this.#askMs, times.askMs[0]), times.askMs[1]);
    this.#scheduleAsk();
    this.#lookMs = times.lookMs[0];
    this.#scheduleLook();
  }

  #judge(group: Group, tasks: readonly BatchTask[]): void {
    const { folder, system } = this.#options;
    const [found] = tasks;
    if (found && group.state === 'unsure') {
      folder.writeSubmitId(group.submit.name, found.handle.replace(/_.*$/, ''));
      group.state = 'submitted';
    }
    let isAbsent = false;
    for (const job of group.jobs) {
      if (!this.#isLive(job)) continue;
      const own = tasks.filter(({ index }) => index === job.index);
      if (folder.resultOf(job.spec.jobId)) {
        this.#takeResult(job, own);
        continue;
      }
      const live = own.find(({ end }) => end === undefined);
      if (live) {
        job.absentSince = undefined;
        if (!job.isCancelled && !(live.isRunning && this.#tellsItself(job)))
          job.say(describeTask(live, system.title));
      } else if (own.length > 0) this.#endWithoutResult(job, own.at(-1));
      else isAbsent = this.#isAbsent(job) || isAbsent;
    }
    if (!isAbsent) return;
    if (group.state === 'submitted')
      for (const job of group.jobs) {
        if (this.#isLive(job) && this.#isAbsent(job)) this.#endWithoutResult(job, undefined);
      }
    // It never came there. Those whose end is known by now have a claim, and run no more.
    else this.#hand(group);
  }

  /** True where the batch system has not known of it for long enough to count. */
  #isAbsent(job: BatchJob): boolean {
    const { now, times } = this.#options;
    job.absentSince ??= now();
    return now() - job.absentSince >= times.settleMs;
  }

  #endWithoutResult(job: BatchJob, task: BatchTask | undefined): void {
    const { folder, system } = this.#options;
    const wasStarted = !this.#claim(job);
    const outcome = outcomeWithoutResult({
      task,
      wasStarted,
      title: system.title,
      seconds: job.spec.limits.seconds,
      said: folder.saidOf(job.name, job.index),
      folder: folder.path,
      otherFolder: system.advice.otherFolder,
    });
    this.#end(job, job.isCancelled ? { kind: 'cancelled' } : outcome);
  }

  async #cancelTasks(groups: readonly Group[], tasks: readonly BatchTask[]): Promise<void> {
    const { system } = this.#options;
    const asked = new Set(groups.map(({ submit }) => submit.name));
    const chosen = [...this.#toCancel].filter(({ name }) => asked.has(name));
    const handles = tasks.flatMap(({ name, index, end, handle }) =>
      end === undefined && chosen.some((job) => job.name === name && job.index === index) ? [handle] : [],
    );
    if (handles.length > 0) await system.cancel(handles);
    for (const job of chosen) this.#toCancel.delete(job);
    for (const { submit } of groups) this.#tidy(submit.name);
  }

  #isToCancel({ jobs }: Group): boolean {
    return jobs.some((job) => this.#toCancel.has(job));
  }

  /** True where what a person sees of the job comes from the node by now. */
  #tellsItself({ spec: { jobId } }: BatchJob): boolean {
    const { folder } = this.#options;
    return folder.claimOf(jobId) !== undefined || folder.progressOf(jobId) !== undefined;
  }

  #isLive(job: BatchJob): boolean {
    return !job.ended && this.#jobs.get(job.spec.jobId) === job;
  }

  #stateOf(job: BatchJob, files: ReadonlySet<string>): JournalEntry['state'] {
    const { jobId } = job.spec;
    if (job.ended || files.has(`${jobId}.result`)) return 'ended';
    return files.has(`${jobId}.claim`) ? 'running' : 'queued';
  }

  #need(jobId: string): BatchJob {
    const job = this.#jobs.get(jobId);
    if (!job) throw new UserError('not-found', `There is no job ${jobId} here`);
    return job;
  }
}

const nothing: ReadonlySet<string> = new Set();

function waitSecondsOf({ awaitsVault }: JobSpec): number {
  return awaitsVault?.waitSeconds ?? 0;
}

function loginClaim(): Claim {
  return { by: 'login', task: '', host: hostname() };
}

/** How long a result waits for the batch system's reason. */
const reasonMs = 30_000;
/** An answer has a largest size; who is told that this many are missing asks for all of them. */
const mostNamed = 1000;
