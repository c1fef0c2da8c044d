import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import type { CardState, CardStatus, Reason, RunState } from '../../../protocol/src/engine.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import type { JobResult } from '../../../protocol/src/runner.ts';
import type { AcceptedByCard } from '../permissions/review.ts';
import type { RecordWrites } from '../history/recordJob.ts';
import type { CardRunner, JobEvents, JobVault } from '../runners/cardRunner.ts';
import type { StoredOutput } from '../store/resultRecords.ts';
import type { CardRunRecord } from '../store/runRecords.ts';
import type { Store } from '../store/store.ts';
import type { KeyInput } from './cacheKey.ts';
import { queuedRecord, sumBytes, toJob, toOutputs } from './cardJob.ts';
import {
  judge,
  needsOf,
  obstacleAnywhere,
  obstacleTo,
  resolveInputs,
  type JudgeContext,
  type Verdict,
} from './judge.ts';
import { LogWriter } from './logWriter.ts';
import {
  cancelledEnding,
  leftBehind,
  lostEnding,
  notStartedEnding,
  stopped,
  toEnding,
  type Ending,
} from './outcome.ts';
import type { RunPlaces } from './place.ts';
import type { Why } from './plan.ts';
import { Schedule } from './schedule.ts';
import type { Slots } from './slots.ts';
import type { FrozenCard, Snapshot } from './snapshot.ts';

export interface Clock {
  /** Milliseconds since the epoch: for showing. */
  now(): number;
  /** Milliseconds that only grow: for durations. */
  monotonic(): number;
}

/** What a run needs from around it. */
export interface RunSurroundings {
  readonly store: Store;
  /** The turns of a place: cards at once, over all runs. */
  readonly slotsOf: (card: FrozenCard) => Slots;
  readonly clock: Clock;
  readonly runnerFor: (card: FrozenCard) => CardRunner;
  readonly projectKey: (root: string) => string;
  readonly recordWrites: RecordWrites;
  /** The vault values of a job, or what it is given them by when it has started. Rejects where there is no grant. */
  readonly release: (card: FrozenCard, root: string, jobId: string, signal: AbortSignal) => Promise<JobVault>;
  /** Read anew each time: a person may take a permission back while a run goes on. */
  readonly accepted: (root: string) => AcceptedByCard;
  readonly isTrusted: () => boolean;
  readonly hasBlob: (digest: string) => boolean;
  readonly find: JudgeContext['find'];
  /** Frozen code that was thought to be there is not. */
  readonly forgetCode: () => void;
  /** Told of every card whose status changed, at most a few times a second and at the end. */
  readonly onDelta: (cards: { id: string; status: CardStatus }[]) => void;
  readonly onLog: (cardRunId: string, totalLines: number) => void;
  readonly onProblem: (error: unknown) => void;
}

export interface RunInput {
  readonly id: string;
  readonly seq: number;
  readonly snapshot: Snapshot;
  readonly places: RunPlaces;
  readonly ignoresCache: (card: string) => boolean;
  readonly why: Why;
}

interface Entry {
  readonly card: FrozenCard;
  readonly index: number;
  record: CardRunRecord;
}

type RunVerdict = Extract<Verdict, { kind: 'run' }>;

/**
 * One run, from its frozen snapshot to the end of its last card. Every step (what ended, what that makes ready, what
 * comes from the cache, what is skipped) is one transaction: a process killed between two steps has lost neither.
 */
export class ActiveRun {
  /** Settles when the run is over and stored. Never rejects. */
  readonly finished: Promise<RunState>;
  readonly root: string;
  readonly #around: RunSurroundings;
  readonly #input: RunInput;
  readonly #entries: Map<string, Entry>;
  readonly #schedule: Schedule;
  readonly #produced = new Map<string, ReadonlyMap<string, ArtifactRef>>();
  /** Nothing more is started, and what runs here ends. */
  readonly #abort = new AbortController();
  /** What runs elsewhere ends too. */
  readonly #cancelled = new AbortController();
  /** Ready, but for the answer of their place. */
  readonly #late = new Set<Entry>();
  readonly #unsaved = new Set<Entry>();
  readonly #untold = new Set<Entry>();
  #launches: (() => Promise<void>)[] = [];
  #inFlight = 0;
  #isOver = false;
  #deltaTimer: NodeJS.Timeout | undefined;
  #settle: (state: RunState) => void = () => undefined;

  constructor(around: RunSurroundings, input: RunInput) {
    const { cards, root } = input.snapshot;
    this.#around = around;
    this.#input = input;
    this.root = root;
    this.#entries = new Map(
      cards.map((card, index) => [card.id, { card, index, record: queuedRecord(input.id, card, index) }]),
    );
    this.#schedule = new Schedule(cards.map((card) => ({ id: card.id, needs: needsOf(card) })));
    this.finished = new Promise((resolve) => (this.#settle = resolve));
  }

  /**
   * Stores all cards, settles what the cache, permissions and faults decide at once, and starts the rest. Cards of a
   * place that has not answered wait for it, and nothing else does.
   */
  begin(): void {
    const entries = [...this.#entries.values()];
    const byAnswer = Map.groupBy(entries, ({ card }) => this.#input.places.awaits(card));
    byAnswer.delete(undefined);
    this.#inFlight += byAnswer.size;
    this.#step(() => {
      for (const entry of entries) this.#unsaved.add(entry);
      this.#stopRefused(entries);
    });
    for (const [answer, late] of byAnswer) void this.#whenAnswered(answer, late);
  }

  /** Ends what runs and starts nothing more. The run is over when `finished` settles. */
  cancel(): void {
    this.#cancelled.abort();
    this.leave();
  }

  /**
   * Ends what runs here and starts nothing more, as this engine ends. What runs elsewhere goes on: its place lets go of
   * it, and the next engine asks how it ended.
   */
  leave(): void {
    this.#abort.abort();
    if (this.#inFlight === 0 && !this.#isOver) this.#step(() => this.#dropRemaining());
  }

  /** The current status of a card, progress included. */
  statusOf(card: string): CardStatus | undefined {
    return this.#entries.get(card)?.record.status;
  }

  /** False where nothing was stored: the run is over, or is by this. */
  #step(change: () => void): boolean {
    if (this.#isOver) return false;
    try {
      this.#around.store.database.transaction(() => {
        change();
        this.#advance();
        this.#save();
        if (this.#inFlight + this.#launches.length === 0) this.#end();
      });
    } catch (error) {
      this.#break(error);
      return false;
    }
    const launches = this.#launches;
    this.#launches = [];
    for (const launch of launches) {
      this.#inFlight += 1;
      void launch();
    }
    this.#tell();
    return true;
  }

  async #whenAnswered(answer: Promise<void> | undefined, entries: readonly Entry[]): Promise<void> {
    const { signal } = this.#abort;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    if (!signal.aborted) await Promise.race([answer, aborted]);
    this.#settleCard(() => {
      const isOpen = ({ record }: Entry) => record.status.state === 'queued';
      if (!signal.aborted) this.#stopRefused(entries.filter(isOpen));
      const context = this.#context();
      for (const entry of entries) if (this.#late.delete(entry) && isOpen(entry)) this.#visit(entry, context);
    });
  }

  #stopRefused(entries: readonly Entry[]): void {
    const context = this.#context();
    this.#stopAll(
      entries.flatMap((entry) => {
        const refuses = this.#input.places.awaits(entry.card) ? obstacleAnywhere : obstacleTo;
        const refusal = refuses(entry.card, context);
        return refusal ? [[entry, stopped(refusal)] as const] : [];
      }),
    );
  }

  #advance(): void {
    const context = this.#context();
    for (let ready = this.#schedule.takeReady(); ready.length > 0; ready = this.#schedule.takeReady()) {
      for (const id of ready) {
        const entry = this.#entries.get(id);
        if (entry) this.#visit(entry, context);
      }
    }
  }

  #visit(entry: Entry, context: JudgeContext): void {
    if (this.#abort.signal.aborted) {
      this.#stop(entry, cancelledEnding);
      return;
    }
    if (this.#input.places.awaits(entry.card)) {
      this.#late.add(entry);
      this.#progress(entry, 0, `Waiting for ${entry.card.place}`);
      return;
    }
    const resolved = resolveInputs(entry.card, this.#produced);
    if ('missing' in resolved) {
      const detail = `its source ${resolved.missing.card}/${resolved.missing.port} was not written`;
      this.#stop(entry, { state: 'skipped', reason: upstream(detail), exitCode: null });
      return;
    }
    const verdict = judge(entry.card, resolved.inputs, context);
    switch (verdict.kind) {
      case 'blocked':
      case 'refused':
        this.#stop(entry, stopped(verdict));
        return;
      case 'cached': {
        const { outputs, id } = verdict.result;
        this.#update(
          entry,
          { state: 'done', cached: true, outputBytes: sumBytes(outputs) },
          { key: verdict.key, result: id },
        );
        this.#succeed(entry, outputs);
        return;
      }
      case 'run': {
        this.#around.store.results.saveParts(verdict.key, canonicalJson(verdict.parts));
        this.#update(entry, {}, { key: verdict.key, why: this.#input.why(entry.card, verdict) });
        this.#launches.push(() => this.#launch(entry, verdict, resolved.inputs));
      }
    }
  }

  async #launch(entry: Entry, verdict: RunVerdict, inputs: readonly KeyInput[]): Promise<void> {
    const { clock, slotsOf } = this.#around;
    const readyAt = clock.monotonic();
    const release = await slotsOf(entry.card).take(this.#abort.signal);
    try {
      if (!release) {
        this.#settleCard(() => this.#stop(entry, cancelledEnding));
        return;
      }
      const waitMs = clock.monotonic() - readyAt;
      const refusal = obstacleTo(entry.card, this.#context());
      if (refusal) {
        this.#settleCard(() => this.#stop(entry, stopped(refusal)));
        return;
      }
      this.#step(() =>
        this.#update(entry, { state: 'running', startedAt: clock.now(), waitMs, progress: null }),
      );
      if (this.#isOver) return;
      await this.#runJob(entry, verdict, inputs, waitMs);
    } catch (error) {
      this.#break(error);
    } finally {
      release?.();
    }
  }

  async #runJob(
    entry: Entry,
    verdict: RunVerdict,
    inputs: readonly KeyInput[],
    waitMs: number,
  ): Promise<void> {
    const { store, runnerFor, recordWrites, onLog, onProblem } = this.#around;
    const { cardRunId: jobId } = entry.record.status;
    const key = { run: this.#input.seq, index: entry.index };
    const log = new LogWriter(store.logs, key, (totalLines) => onLog(jobId, totalLines), onProblem);
    let result: JobResult | undefined;
    let ending: Ending;
    let onStored: () => void = () => undefined;
    try {
      this.#assertCode(entry.card);
      const job = toJob(jobId, this.#around.projectKey(this.root), entry.card, inputs);
      const events: JobEvents = {
        started: () => undefined,
        log: (stream, text) => log.push(stream, text),
        progress: (fraction, text) => this.#progress(entry, fraction, text),
        egress: (record) => this.#attempt(() => store.egress.append(key.run, entry.card.id, record)),
      };
      const runner = runnerFor(entry.card);
      const vault = await this.#release(entry.card, jobId);
      onStored = () => runner.settled?.(jobId);
      if (this.#abort.signal.aborted) throw new NotStarted(new UserError('cancelled', 'The run is over'));
      const { signal } = isElsewhere(entry.card) ? this.#cancelled : this.#abort;
      const run = () => runner.run({ ...job, ...vault }, events, signal);
      result = await recordWrites(this.root, job, run);
      ending = this.#checked(toEnding(result, entry.card), result);
    } catch (error) {
      ending = error instanceof NotStarted ? notStartedEnding(error.cause) : lostEnding(error);
    }
    log.close(leftBehind(result?.outputProblems ?? []));
    const isStored = this.#settleCard(() => {
      const outputs = ending.state === 'done' && result ? toOutputs(entry.card, result.outputs) : [];
      this.#update(
        entry,
        {
          state: ending.state,
          reason: ending.reason,
          exitCode: ending.exitCode,
          isolation: result && ending.reason?.kind !== 'isolation-missing' ? result.isolation : null,
          runMs: result?.runMs ?? null,
          waitMs: waitMs + (result?.waitMs ?? 0),
          outputBytes: sumBytes(outputs),
        },
        {
          result: ending.state === 'done' ? store.results.add(verdict.key, outputs) : null,
          logLines: log.totalLines,
          logCutBytes: result?.logCutBytes ?? 0,
        },
      );
      if (ending.state === 'done') this.#succeed(entry, outputs);
      else this.#skipBelow([entry]);
      if (ending.state !== 'unknown') store.remoteJobs.settle(jobId);
    });
    // What is not stored here must be kept over there.
    if (isStored && ending.state !== 'unknown') onStored();
  }

  async #release(card: FrozenCard, jobId: string): Promise<JobVault> {
    try {
      return await this.#around.release(card, this.root, jobId, this.#abort.signal);
    } catch (error) {
      throw new NotStarted(error);
    }
  }

  #assertCode(card: FrozenCard): void {
    if (this.#around.hasBlob(card.code.digest)) return;
    this.#around.forgetCode();
    throw new UserError('not-found', 'the frozen copy of its code was removed from the store');
  }

  /** A success whose blobs are not there is none. */
  #checked(ending: Ending, result: JobResult): Ending {
    if (ending.state !== 'done') return ending;
    const lost = Object.entries(result.outputs).find(
      ([, artifact]) => !this.#around.hasBlob(artifact.digest),
    );
    if (!lost) return ending;
    return {
      state: 'failed',
      reason: { kind: 'internal', detail: `output “${lost[0]}” was not stored` },
      exitCode: ending.exitCode,
    };
  }

  #settleCard(change: () => void): boolean {
    this.#inFlight -= 1;
    return this.#step(change);
  }

  #succeed(entry: Entry, outputs: readonly StoredOutput[]): void {
    this.#produced.set(entry.card.id, new Map(outputs.map(({ port, artifact }) => [port, artifact])));
    this.#schedule.succeed(entry.card.id);
  }

  #stop(entry: Entry, ending: Ending): void {
    this.#stopAll([[entry, ending]]);
  }

  #stopAll(endings: readonly (readonly [Entry, Ending])[]): void {
    for (const [entry, ending] of endings) this.#update(entry, ending);
    this.#skipBelow(endings.map(([entry]) => entry));
  }

  #skipBelow(entries: readonly Entry[]): void {
    for (const { id, because } of this.#schedule.fail(entries.map(({ card }) => card.id))) {
      const below = this.#entries.get(id);
      if (!below) continue;
      const state = this.statusOf(because)?.state ?? 'unknown';
      if (this.#abort.signal.aborted) this.#update(below, cancelledEnding);
      else
        this.#update(below, {
          state: 'skipped',
          reason: upstream(`it needs “${because}”, ${sourceWords[state]}`),
        });
    }
  }

  #dropRemaining(): void {
    const left = this.#schedule.remaining().flatMap((id) => this.#entries.get(id) ?? []);
    this.#stopAll(left.map((entry) => [entry, cancelledEnding]));
  }

  #update(
    entry: Entry,
    status: Partial<CardStatus>,
    rest: Partial<Omit<CardRunRecord, 'status'>> = {},
  ): void {
    const isEnd = status.state !== undefined && status.state !== 'running';
    entry.record = {
      ...entry.record,
      ...rest,
      status: {
        ...entry.record.status,
        ...status,
        ...(isEnd ? { finishedAt: this.#around.clock.now(), progress: null } : {}),
      },
    };
    this.#unsaved.add(entry);
  }

  #progress(entry: Entry, fraction: number, text: string): void {
    const shown = {
      fraction: Math.min(1, Math.max(0, fraction || 0)),
      text: text.slice(0, progressCharacters),
    };
    entry.record = { ...entry.record, status: { ...entry.record.status, progress: shown } };
    this.#untold.add(entry);
    this.#tell();
  }

  #save(): void {
    for (const entry of this.#unsaved) {
      this.#around.store.runs.saveCard({ run: this.#input.seq, index: entry.index }, entry.record);
      this.#untold.add(entry);
    }
    this.#unsaved.clear();
  }

  #tell(): void {
    if (this.#isOver) this.#tellNow();
    else this.#deltaTimer ??= setTimeout(() => this.#tellNow(), deltaMs);
  }

  #tellNow(): void {
    clearTimeout(this.#deltaTimer);
    this.#deltaTimer = undefined;
    const cards = [...this.#untold].map(({ card, record }) => ({ id: card.id, status: record.status }));
    this.#untold.clear();
    this.#attempt(() => this.#around.onDelta(cards));
    if (this.#isOver) this.#settle(this.#state());
  }

  #end(): void {
    this.#dropRemaining();
    this.#save();
    this.#around.store.runs.finish(this.#input.seq, this.#state(), this.#around.clock.now());
    this.#isOver = true;
  }

  /** The store can't be written: nothing more is started, what runs is ended, and what can't be told is `unknown`. */
  #break(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort.abort();
    this.#launches = [];
    this.#around.onProblem(error);
    const { store } = this.#around;
    store.abandon(this.#input.seq);
    this.#attempt(() => {
      store.recover();
      // What a step changed in memory was rolled back with it.
      for (const stored of store.runs.cards(this.#input.seq)) {
        const entry = this.#entries.get(stored.card);
        if (entry) entry.record = stored;
      }
    });
    const reason: Reason = { kind: 'interrupted', detail: errorMessage(error) };
    for (const entry of this.#entries.values()) {
      const { state } = entry.record.status;
      if (state === 'queued' || state === 'running') this.#update(entry, { state: 'unknown', reason });
      this.#untold.add(entry);
    }
    this.#tellNow();
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#around.onProblem(error);
    }
  }

  #state(): RunState {
    const states = new Set([...this.#entries.values()].map(({ record }) => record.status.state));
    if (states.has('queued') || states.has('running') || states.has('unknown')) return 'unknown';
    if (states.has('cancelled')) return 'cancelled';
    return states.has('failed') ? 'failed' : 'done';
  }

  #context(): JudgeContext {
    const { accepted, isTrusted, find } = this.#around;
    const { places, ignoresCache } = this.#input;
    const placeOf = (card: FrozenCard) => places.of(card);
    return { accepted: accepted(this.root), isTrusted: isTrusted(), placeOf, find, ignoresCache };
  }
}

/** A job that was not given to its runner. */
class NotStarted extends Error {
  constructor(cause: unknown) {
    super('The job was not started', { cause });
  }
}

function isElsewhere({ runtime, place }: FrozenCard): boolean {
  return runtime !== 'js' && place !== localPlace;
}

const deltaMs = 50;
const progressCharacters = 200;

/** How the words for a card that waited in vain go on after the name of its source. */
const sourceWords: Readonly<Record<CardState, string>> = {
  queued: 'which did not run',
  running: 'which did not end',
  done: 'which is done',
  failed: 'which failed',
  cancelled: 'which was cancelled',
  skipped: 'which was skipped',
  blocked: 'which is blocked',
  unknown: 'whose end is unknown',
};

function upstream(detail: string): Reason {
  return { kind: 'upstream', detail };
}
