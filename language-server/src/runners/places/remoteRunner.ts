import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { parsePlace, type HeldJob, type PlaceView } from '../../../../protocol/src/places.ts';
import {
  emptyResult,
  type EgressRecord,
  type JobOutcome,
  type JobResult,
} from '../../../../protocol/src/runner.ts';
import type { JobEvent } from '../../../../protocol/src/servedRunner.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import type { CardJob, JobEvents } from '../cardRunner.ts';
import { toSpec } from '../local.ts';
import { atMost } from './atMost.ts';
import { blobsOfJob } from './blobClosure.ts';
import type { PlaceInfo, PlaceRunner, ReadyOptions, Search, TerminalWay } from './placeRunner.ts';
import { reconcile } from './reconcile.ts';
import type { LeftJob, RemoteJob, RemoteJobs } from './remoteJobs.ts';
import type { AwaitedRelease } from '../../vault/awaitedRelease.ts';
import { RemoteLink, type Greeting } from './remoteLink.ts';
import type { RunnerTransport } from './runnerTransport.ts';
import { ValueRelease, type ReleaseStarted } from './valueRelease.ts';

export interface RemoteTimes {
  /** How long jobs over there go on without hearing from this engine. */
  readonly leaseSeconds: number;
  /** Between two heartbeats while jobs are over there, and how long one may take. */
  readonly heartbeatMs: number;
  /** The first wait before connecting again, and the longest: each is twice the one before. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** How long a cancelled job waits for a connection to be told over. */
  readonly cancelMs: number;
  /** Without a job, the connection is closed after this. */
  readonly idleMs: number;
}

export const remoteTimes: RemoteTimes = {
  leaseSeconds: 60 * 60,
  heartbeatMs: 20_000,
  retryMs: 500,
  longestRetryMs: 30_000,
  cancelMs: 10_000,
  idleMs: 10 * 60_000,
};

export interface RemoteRunnerOptions {
  readonly transport: RunnerTransport;
  readonly blobs: BlobStore;
  /** Names the home of this engine: what it sent is its own again after a restart. */
  readonly engine: string;
  readonly jobs: RemoteJobs;
  /** Asks the vault for the values of a job that has started over there. */
  readonly release: ReleaseStarted;
  readonly times?: RemoteTimes;
  readonly now: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly onChange: (view: PlaceView) => void;
  readonly onProblem: (problem: string) => void;
}

/** A job that this engine looks after, from before it is sent or was taken up until its result is here. */
interface Attempt {
  readonly jobId: string;
  /** What is sent; absent where an earlier engine has sent it. */
  readonly job?: CardJob;
  readonly events: JobEvents;
  readonly logLimitBytes: number;
  readonly outputLimitBytes: number;
  readonly releaseLater: AwaitedRelease | undefined;
  lastSeq: number;
  logBytes: number;
  /** Of the network, as far as they were told. */
  requests: number;
  /** True from the first moment at which the runner there may have it. */
  isSent: boolean;
  /** The instance of the runner that it was last sent to. */
  sentTo: string;
  isDelivering: boolean;
  isCancelled: boolean;
  /** True where its end is not known here. */
  isLost: boolean;
  readonly ended: PromiseWithResolvers<JobResult>;
}

/** A connection that is being made. */
interface Connecting {
  readonly mayAsk: boolean;
  readonly link: Promise<RemoteLink>;
}

/**
 * A place at the other end of a transport. Connects when first needed and again when the connection is lost; a job is
 * sent once under its own id, so that asking again is never running again. `run` settles with what the journal over
 * there says; with `unknown` only where it can't be asked: then it is asked at the next connection.
 */
export function createRemoteRunner(options: RemoteRunnerOptions): PlaceRunner {
  return new RemoteRunner(options);
}

class RemoteRunner implements PlaceRunner {
  readonly id: string;
  readonly #options: RemoteRunnerOptions;
  readonly #times: RemoteTimes;
  readonly #attempts = new Map<string, Attempt>();
  readonly #stop = new AbortController();
  readonly #values: ValueRelease;
  #terminals = 0;
  #connecting: Connecting | undefined;
  readonly #following = new Set<Promise<void>>();
  #link: RemoteLink | undefined;
  #greeting: Greeting | undefined;
  #state: PlaceView['state'] = 'closed';
  #detail = '';
  #remedy = '';
  #latencyMs: number | null = null;
  #stopTimer: () => void = () => undefined;

  constructor(options: RemoteRunnerOptions) {
    this.#options = options;
    this.#times = options.times ?? remoteTimes;
    this.id = options.transport.place;
    this.#values = new ValueRelease((jobId) => this.#awaitedOf(jobId), options.release);
  }

  async ready({ mayAsk = true, signal }: ReadyOptions = {}): Promise<PlaceInfo> {
    const { greeting } = await this.#connect(mayAsk, signal);
    const { protocol, version, platform, node, isolation, interpreters, parallel } = greeting;
    const { vaultKey, asksValues } = greeting;
    return {
      ...{ protocol, version, platform, node, isolation, interpreters, parallel },
      ...(vaultKey === undefined ? {} : { vaultKey }),
      ...(asksValues === undefined ? {} : { asksValues }),
    };
  }

  async probe() {
    const link = await this.#connect(true);
    const isolation = await link.channel.call('runner/probe', {});
    link.greeting = { ...link.greeting, isolation };
    this.#greeting = link.greeting;
    this.#tell();
    return isolation;
  }

  view(): PlaceView {
    const { kind } = parsePlace(this.id) ?? { kind: 'ssh' as const };
    const greeting = this.#greeting;
    return {
      id: this.id,
      kind,
      state: this.#state,
      detail: this.#detail,
      remedy: this.#remedy,
      facts: greeting
        ? {
            platform: greeting.platform,
            node: greeting.node,
            isolation: greeting.isolation,
            interpreters: greeting.interpreters,
            parallel: greeting.parallel,
            freeBytes: greeting.freeBytes,
          }
        : null,
      running: this.#attempts.size,
      latencyMs: this.#latencyMs,
    };
  }

  async held(): Promise<HeldJob[]> {
    const link = await this.#connect(true);
    const entries = await link.channel.call('journal/list', {});
    return entries.map(({ jobId, cardId, state, acceptedAt, leaseMs }) => ({
      jobId,
      cardId,
      state,
      acceptedAt,
      leaseMs,
      known: this.#attempts.has(jobId) || this.#options.jobs.knows(jobId),
    }));
  }

  async release(jobIds: readonly string[] | undefined): Promise<number> {
    const link = await this.#connect(true);
    const entries = await link.channel.call('journal/list', {});
    const chosen = entries.filter(({ jobId }) => jobIds?.includes(jobId) ?? !this.#attempts.has(jobId));
    for (const { jobId, state } of chosen) {
      const isAttended = this.#isAttended(jobId);
      if (state !== 'ended') await this.#endThere(link, jobId);
      if (isAttended) continue;
      await link.channel.call('job/forget', { jobId });
      this.#options.jobs.remove(jobId);
    }
    return chosen.length;
  }

  async openTerminal(clientKey: string, { mayAsk = true, signal }: ReadyOptions = {}): Promise<TerminalWay> {
    const link = await this.#connect(mayAsk, signal);
    this.#terminals += 1;
    this.#watch();
    const done = () => {
      this.#terminals -= 1;
      this.#watch();
    };
    try {
      const { hostKey } = await link.channel.call('terminal/offer', { clientKey });
      const stream = await link.openTerminal();
      stream.once('close', done);
      return { hostKey, stream };
    } catch (error) {
      done();
      throw error;
    }
  }

  disconnect(): void {
    this.#link?.close('disconnected');
    this.#set('closed');
  }

  async run(job: CardJob, events: JobEvents, signal: AbortSignal): Promise<JobResult> {
    if (signal.aborted || this.#stop.signal.aborted) return emptyResult({ kind: 'cancelled' });
    const { jobId, limits, releaseLater } = job;
    this.#options.jobs.send(this.id, job);
    const attempt = newAttempt({
      ...{ jobId, job, events, releaseLater },
      logLimitBytes: limits.logMB * megabyte,
      outputLimitBytes: limits.outputMB * megabyte,
    });
    return this.#attend(attempt, signal, (result) => this.#withOutputs(attempt, result));
  }

  async find(search: Search): Promise<void> {
    await this.#connect(false, undefined, search);
  }

  say(detail: string, remedy: string): void {
    if (this.#state === 'closed') this.#set('closed', detail, remedy);
  }

  /** True where an engine of this home looks after the job, this one from now on or another: it stores its end. */
  #isAttended(jobId: string): boolean {
    const { jobs } = this.#options;
    if (this.#attempts.has(jobId)) return true;
    const job = jobs.left(this.id).find((each) => each.jobId === jobId);
    if (!job) return jobs.knows(jobId);
    const left = job.state === 'sent' ? jobs.takeUp(jobId) : 'nobody';
    if (typeof left === 'string') return left === 'another';
    void this.#follow(job, left);
    return true;
  }

  /** Looks after a job that an earlier engine has sent, and stores its end. Never rejects. */
  #follow(job: RemoteJob, left: LeftJob): Promise<void> {
    const followed: Promise<void> = this.#followed(job, left).finally(() => this.#following.delete(followed));
    this.#following.add(followed);
    return followed;
  }

  async #followed({ jobId, outputLimitBytes }: RemoteJob, left: LeftJob): Promise<void> {
    const { awaited: releaseLater, logLimitBytes } = left;
    const attempt = newAttempt({ jobId, events: left, logLimitBytes, outputLimitBytes, releaseLater });
    attempt.isSent = true;
    try {
      const isStored = await this.#attend(attempt, left.signal, async (result) => {
        if (!attempt.isLost) return left.ended(await this.#withWhatIsRight(attempt, result));
        left.left(lostDetail(result));
        return false;
      });
      if (isStored) this.settled(jobId);
    } catch (error) {
      left.left(errorMessage(error));
      if (!isLost(error)) this.#options.onProblem(`${this.id}: ${errorMessage(error)}`);
    }
  }

  /** Keeps at a job until what is done with its result is done. */
  async #attend<T>(
    attempt: Attempt,
    signal: AbortSignal,
    use: (result: JobResult) => Promise<T>,
  ): Promise<T> {
    this.#attempts.set(attempt.jobId, attempt);
    const cancel = () => this.#cancel(attempt);
    signal.addEventListener('abort', cancel, { once: true });
    this.#watch();
    try {
      void this.#deliver(attempt);
      return await use(await attempt.ended.promise);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#attempts.delete(attempt.jobId);
      this.#values.forget(attempt.jobId);
      this.#tell();
      this.#watch();
    }
  }

  /** The result of a job is stored here: over there it may be forgotten. */
  settled(jobId: string): void {
    const { channel } = this.#link ?? {};
    void channel
      ?.call('job/forget', { jobId })
      .then(() => this.#options.jobs.remove(jobId))
      .catch(() => undefined);
  }

  async dispose(): Promise<void> {
    this.#stop.abort();
    this.#stopTimer();
    this.#link?.close('the engine is ending');
    for (const attempt of this.#attempts.values()) {
      if (attempt.isSent) this.#lose(attempt, 'Sallyport ended');
      else
        attempt.ended.resolve(
          emptyResult({ kind: 'cancelled', detail: 'Sallyport ended before it was sent' }),
        );
    }
    await Promise.all(this.#following);
    await this.#whenNotConnecting();
    await this.#options.transport.dispose();
  }

  /** What is being opened has been told to stop; nothing of it may be going on when its place is let go of. */
  async #whenNotConnecting(): Promise<void> {
    const { link } = this.#connecting ?? {};
    if (link) await atMost(link, openEndsMs, this.#options.setTimer);
  }

  /** Brings the job there and keeps at it until its end is known or nobody can be reached. */
  async #deliver(attempt: Attempt): Promise<void> {
    if (attempt.isDelivering) return;
    attempt.isDelivering = true;
    try {
      await this.#keepDelivering(attempt);
    } finally {
      attempt.isDelivering = false;
    }
  }

  async #keepDelivering(attempt: Attempt): Promise<void> {
    const { jobId } = attempt;
    const startedAt = this.#options.now();
    for (let waitMs = this.#times.retryMs; this.#attempts.get(jobId) === attempt;) {
      try {
        const link = await this.#connect(mayAskFor(attempt));
        await this.#submit(link, attempt);
        // A connection that ended in the turn of its answer told nobody that it has to be delivered again.
        if (this.#link === link) return;
        continue;
      } catch (error) {
        if (this.#attempts.get(jobId) !== attempt) return;
        if (!isLost(error)) {
          this.#refuse(attempt, error);
          return;
        }
        // Their lease has ended by now, whatever became of the connection.
        if (this.#options.now() - startedAt > this.#times.leaseSeconds * 1000) {
          this.#lose(attempt, errorMessage(error));
          return;
        }
        attempt.events.progress(0, `${this.id} can’t be reached; trying again`);
      }
      await this.#wait(waitMs);
      waitMs = Math.min(2 * waitMs, this.#times.longestRetryMs);
    }
  }

  async #submit(link: RemoteLink, attempt: Attempt): Promise<void> {
    const { job, jobId } = attempt;
    if (job) await this.#send(link, attempt, job);
    else await link.channel.call('job/attach', { jobId, afterSeq: attempt.lastSeq });
    if (attempt.isCancelled) await link.channel.call('job/cancel', { jobId });
  }

  async #send(link: RemoteLink, attempt: Attempt, job: CardJob): Promise<void> {
    const spec = toSpec(job);
    const isCancelled = () => attempt.isCancelled;
    for (let round = 0; ; round++) {
      if (isCancelled() && !attempt.isSent) {
        attempt.ended.resolve(emptyResult({ kind: 'cancelled' }));
        return;
      }
      const { instance } = link.greeting;
      if (attempt.isSent && attempt.sentTo !== instance && this.#options.transport.forgets) {
        this.#lose(attempt, `${this.id} ended with the card in it`);
        return;
      }
      if (isCancelled()) {
        // Sent once more it would start, where it had not come there before.
        await this.#attachCancelled(link, attempt);
        return;
      }
      attempt.isSent = true;
      attempt.sentTo = instance;
      const answer = await link.channel.call('job/submit', { job: spec, afterSeq: attempt.lastSeq });
      if (answer.kind === 'accepted') break;
      attempt.isSent = false;
      if (isCancelled()) continue;
      // What is said to be missing after everything was sent would be asked for for ever.
      if (round >= submitRounds)
        throw new UserError('store-damaged', `${this.id} loses what is copied to it`);
      attempt.events.progress(0, `Copying to ${this.id}`);
      await link.put(blobsOfJob(this.#options.blobs, job));
    }
  }

  /** What is not there by now is not accepted any more; what is there ends. */
  async #attachCancelled({ channel }: RemoteLink, { jobId, lastSeq, ended }: Attempt): Promise<void> {
    await channel.call('job/cancel', { jobId });
    try {
      await channel.call('job/attach', { jobId, afterSeq: lastSeq });
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'not-found') throw error;
      ended.resolve(emptyResult({ kind: 'cancelled' }));
    }
  }

  #hear(jobId: string, seq: number, event: JobEvent): void {
    const attempt = this.#attempts.get(jobId);
    if (!attempt) return;
    if (event.kind === 'progress') {
      attempt.events.progress(event.fraction, event.text);
      return;
    }
    // A machine that lost its power may have fewer lines than it told; the end counts whatever its number.
    if (seq <= attempt.lastSeq && event.kind !== 'ended') return;
    attempt.lastSeq = seq;
    switch (event.kind) {
      case 'started':
        attempt.events.started();
        return;
      case 'log':
        attempt.logBytes += event.text.length;
        if (attempt.logBytes <= attempt.logLimitBytes + logSlackBytes)
          attempt.events.log(event.stream, event.text);
        return;
      case 'egress':
        if (isRequest(event.record, jobId) && (attempt.requests += 1) <= mostRequests)
          attempt.events.egress(event.record);
        return;
      case 'ended':
        attempt.ended.resolve(event.result);
    }
  }

  /** The result with its outputs in the store here. */
  async #withOutputs(attempt: Attempt, result: JobResult): Promise<JobResult> {
    const artifacts = Object.values(result.outputs);
    for (let waitMs = this.#times.retryMs; artifacts.length > 0;) {
      try {
        const link = await this.#connect(mayAskFor(attempt));
        await link.fetch(artifacts, attempt.outputLimitBytes);
        break;
      } catch (error) {
        if (attempt.isCancelled)
          return { ...emptyResult({ kind: 'cancelled' }), isolation: result.isolation };
        if (!isLost(error) || this.#stop.signal.aborted) throw error;
        attempt.events.progress(1, `${this.id} can’t be reached; its result is fetched when it can`);
      }
      await this.#wait(waitMs);
      waitMs = Math.min(2 * waitMs, this.#times.longestRetryMs);
    }
    return result;
  }

  /** The same; a result whose outputs can't be had is told as what it is. */
  async #withWhatIsRight(attempt: Attempt, result: JobResult): Promise<JobResult> {
    try {
      return await this.#withOutputs(attempt, result);
    } catch (error) {
      if (!(error instanceof UserError) || isLost(error) || error.code === 'cancelled') throw error;
      const outcome = { kind: 'refused', code: 'bad-input', detail: error.message } as const;
      return { ...result, outcome, outputs: {} };
    }
  }

  /** Of a job of this engine, or of one before it: never of another that is alive, or of a job that is to end. */
  #awaitedOf(jobId: string): AwaitedRelease | undefined {
    const attempt = this.#attempts.get(jobId);
    if (!attempt) return this.#options.jobs.awaited(jobId);
    return attempt.isCancelled ? undefined : attempt.releaseLater;
  }

  #cancel(attempt: Attempt): void {
    const { jobId } = attempt;
    attempt.isCancelled = true;
    if (!attempt.isSent) {
      attempt.ended.resolve(emptyResult({ kind: 'cancelled' }));
      return;
    }
    this.#options.jobs.cancel(jobId);
    this.#link?.channel.call('job/cancel', { jobId }).catch(() => undefined);
    this.#loseLater(attempt);
  }

  /** A person who has cancelled waits no longer than this for a connection. */
  #loseLater(attempt: Attempt): void {
    this.#options.setTimer(() => {
      if (this.#attempts.get(attempt.jobId) === attempt && !this.#link)
        this.#lose(attempt, `${this.id} can’t be reached, so the card could not be stopped there yet`);
    }, this.#times.cancelMs);
  }

  #lose(attempt: Attempt, why: string): void {
    const detail = `${why}. How the card ended is asked at the next connection to ${this.id}`;
    attempt.isLost = true;
    attempt.ended.resolve(attempt.isSent ? emptyResult({ kind: 'unknown', detail }) : unsent(this.id, why));
  }

  /** Something that only a person can mend. What may have been accepted stays to be asked about. */
  #refuse(attempt: Attempt, error: unknown): void {
    if (attempt.isSent && !(error instanceof UserError && settledRefusals.has(error.code))) {
      this.#lose(attempt, errorMessage(error));
      return;
    }
    // Its end came there before it.
    const isLate = attempt.isCancelled && error instanceof UserError && error.code === 'conflict';
    attempt.ended.resolve(emptyResult(isLate ? { kind: 'cancelled' } : toRefusal(error)));
  }

  async #endThere(link: RemoteLink, jobId: string): Promise<void> {
    await link.channel.call('job/cancel', { jobId });
    for (let waitMs = 10; ; waitMs = Math.min(2 * waitMs, 500)) {
      const entries = await link.channel.call('journal/list', {});
      if (entries.every((entry) => entry.jobId !== jobId || entry.state === 'ended')) return;
      await this.#wait(waitMs);
    }
  }

  #connect(mayAsk: boolean, signal?: AbortSignal, search?: Search): Promise<RemoteLink> {
    if (this.#stop.signal.aborted) return Promise.reject(new UserError('cancelled', 'The engine is ending'));
    if (this.#link) return Promise.resolve(this.#link);
    const made = this.#made(mayAsk, search);
    return signal ? untilAborted(made, signal) : made;
  }

  /** The connection that is being made. One that asks nobody is not the answer to a person. */
  #made(mayAsk: boolean, search?: Search): Promise<RemoteLink> {
    const { mayAsk: asks, link } = this.#connecting ?? {};
    if (link && (asks || !mayAsk)) return link;
    if (link) return link.catch(() => this.#connect(mayAsk));
    const connecting = {
      mayAsk,
      link: this.#open(mayAsk, search).finally(() => {
        if (this.#connecting === connecting) this.#connecting = undefined;
      }),
    };
    this.#connecting = connecting;
    return connecting.link;
  }

  async #open(mayAsk: boolean, search?: Search): Promise<RemoteLink> {
    const { transport, blobs, engine, onProblem } = this.#options;
    const doing = search?.looking ?? '';
    this.#set('connecting', doing);
    let opened: RemoteLink | undefined;
    let lost: string | undefined;
    try {
      const { signal } = this.#stop;
      const onStep = (step: string) => this.#set('connecting', doing || step);
      const link = await transport.open({ signal, mayAsk, onStep });
      const at = this.#options.now();
      opened = await RemoteLink.open({
        link,
        blobs,
        engine,
        leaseSeconds: this.#times.leaseSeconds,
        onValues: (asked, signal) => this.#values.answer(asked, signal),
        onEvent: (jobId, seq, event) => this.#hear(jobId, seq, event),
        onClose: (reason) => {
          lost = reason;
          this.#closed(opened, reason);
        },
        onProblem,
      });
      if (signal.aborted) opened.close('the engine is ending');
      // Also in the turn of its greeting, before it was anybody's link.
      if (lost !== undefined) throw new UserError('closed', `${this.id} ended the connection: ${lost}`);
      this.#latencyMs = this.#options.now() - at;
      this.#link = opened;
      this.#greeting = opened.greeting;
      this.#set('ready');
      this.#watch();
      void this.#reconcile(opened);
      return opened;
    } catch (error) {
      const { state, detail, remedy } = trouble(error, mayAsk, search);
      this.#set(state, detail, remedy);
      throw error;
    }
  }

  /** Takes up what is left there, beside what the link is used for. */
  #reconcile(link: RemoteLink): Promise<void> {
    const { jobs, setTimer, onProblem } = this.#options;
    return reconcile({
      ...{ link, jobs, setTimer },
      place: this.id,
      isOwn: (jobId) => this.#attempts.has(jobId),
      isCurrent: () => this.#link === link,
      follow: (job, left) => this.#follow(job, left),
      patienceMs: this.#times.longestRetryMs,
      wait: (ms) => this.#wait(ms),
      onFailed: (jobId, error) => {
        const what = jobId === undefined ? 'what it holds' : `the job ${jobId} there`;
        onProblem(`${this.id}: ${what} could not be taken up yet: ${errorMessage(error)}`);
      },
    });
  }

  #closed(link: RemoteLink | undefined, reason: string): void {
    if (!link || this.#link !== link) return;
    this.#link = undefined;
    this.#stopTimer();
    if (this.#stop.signal.aborted) return;
    const waiting = [...this.#attempts.values()];
    this.#set(waiting.length > 0 ? 'lost' : 'closed', waiting.length > 0 ? reason : '');
    for (const attempt of waiting) {
      if (!attempt.isSent) continue;
      attempt.events.progress(0, `The connection to ${this.id} was lost; the card goes on there`);
      if (attempt.isCancelled) this.#loseLater(attempt);
      void this.#deliver(attempt);
    }
  }

  /** While jobs or terminals are over there their lease is renewed; without any, the connection is given up after a while. */
  #watch(): void {
    this.#stopTimer();
    const link = this.#link;
    if (!link) return;
    const { heartbeatMs, idleMs } = this.#times;
    if (this.#attempts.size === 0 && this.#terminals === 0) {
      this.#stopTimer = this.#options.setTimer(() => this.disconnect(), idleMs);
      return;
    }
    this.#stopTimer = this.#options.setTimer(() => void this.#beat(link), heartbeatMs);
  }

  async #beat(link: RemoteLink): Promise<void> {
    const at = this.#options.now();
    try {
      await link.channel.call('lease/renew', {}, { timeoutMs: this.#times.heartbeatMs });
      this.#latencyMs = this.#options.now() - at;
      if (this.#link === link) this.#watch();
    } catch (error) {
      link.close(`no answer to a heartbeat: ${errorMessage(error)}`);
    }
  }

  /** Less where the engine is ending. */
  #wait(ms: number): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        stopTimer();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const stopTimer = this.#options.setTimer(done, ms);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #set(state: PlaceView['state'], detail = '', remedy = ''): void {
    this.#state = state;
    this.#detail = detail;
    this.#remedy = remedy;
    this.#tell();
  }

  #tell(): void {
    if (!this.#stop.signal.aborted) this.#options.onChange(this.view());
  }
}

type NewAttempt = Pick<
  Attempt,
  'jobId' | 'job' | 'events' | 'logLimitBytes' | 'outputLimitBytes' | 'releaseLater'
>;

function newAttempt(given: NewAttempt): Attempt {
  return {
    ...given,
    lastSeq: 0,
    logBytes: 0,
    requests: 0,
    isSent: false,
    sentTo: '',
    isDelivering: false,
    isCancelled: false,
    isLost: false,
    ended: Promise.withResolvers<JobResult>(),
  };
}

/** A person who has started a run may be asked for it; nobody is asked for what was found again. */
function mayAskFor({ job }: Attempt): boolean {
  return job !== undefined;
}

function lostDetail({ outcome }: JobResult): string {
  return outcome.kind === 'unknown' ? outcome.detail : 'it is not known how the card ended';
}

/** How a place that could not be connected to is shown. */
function trouble(
  error: unknown,
  mayAsk: boolean,
  search?: Search,
): Pick<PlaceView, 'state' | 'detail' | 'remedy'> {
  const message = errorMessage(error);
  const told = error instanceof UserError ? error.data['remedy'] : undefined;
  const remedy = typeof told === 'string' ? told : '';
  if (isLost(error)) {
    const detail = search ? `${message.replace(/[.]$/, '')}. ${search.notReached}` : message;
    return { state: 'lost', detail, remedy };
  }
  const asks = !mayAsk && error instanceof UserError && ['host-key', 'sign-in'].includes(error.code);
  if (!asks) return { state: 'refused', detail: message, remedy };
  // A key that is another one than the known is nothing to say yes to.
  const isNothingToAsk = error.code === 'host-key' && error.data['isUnknown'] !== true;
  return { state: 'asks', detail: message, remedy: isNothingToAsk ? remedy : 'Check Place asks you.' };
}

/** A runner records no more of one job (`EgressBounds.requests`), and no longer ones; a place may say anything. */
const mostRequests = 10_000;
const requestCharacters = 8 * 1024;

function isRequest(record: EgressRecord, jobId: string): boolean {
  return record.jobId === jobId && JSON.stringify(record).length <= requestCharacters;
}

const megabyte = 1024 * 1024;
const submitRounds = 3;
/** Opening ends much sooner when it is told to. */
const openEndsMs = 5_000;
const logSlackBytes = 64 * 1024;

/** Refusals of the runner itself: it said that it has not accepted the job. */
const settledRefusals: ReadonlySet<string> = new Set([
  'conflict',
  'disk-full',
  'bad-message',
  'too-large',
  'unsafe-path',
]);

/** True where trying again may help. */
function isLost(error: unknown): boolean {
  return error instanceof UserError && ['unreachable', 'closed', 'timeout'].includes(error.code);
}

function toRefusal(error: unknown): JobOutcome {
  const code = error instanceof UserError ? error.code : 'internal';
  const remedy = error instanceof UserError ? error.data['remedy'] : undefined;
  const known =
    code === 'disk-full' || code === 'isolation-missing' || code === 'unsafe-path' ? code : 'internal';
  return {
    kind: 'refused',
    code: code === 'store-damaged' || code === 'not-found' ? 'bad-input' : known,
    detail: errorMessage(error),
    ...(typeof remedy === 'string' ? { remedy } : {}),
  };
}

function unsent(place: string, why: string): JobResult {
  return emptyResult({
    kind: 'refused',
    code: 'internal',
    detail: `${place} could not be reached, so the card was not started: ${why}`,
    remedy: 'Run it again when the place can be reached.',
  });
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new UserError('cancelled', 'It was cancelled'));
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
