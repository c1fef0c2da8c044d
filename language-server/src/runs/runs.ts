import { randomBytes } from 'node:crypto';
import type { CardStatus, PlannedCard, RunState, RunSummary } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { widening } from '../../../protocol/src/permissions.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AcceptedByCard } from '../permissions/review.ts';
import type { LoadedProject, Projects } from '../project/model.ts';
import type { RecordWrites } from '../history/recordJob.ts';
import type { CardRunner } from '../runners/cardRunner.ts';
import type { StoredResult } from '../store/resultRecords.ts';
import type { Store } from '../store/store.ts';
import { ActiveRun, type Clock, type RunSurroundings } from './activeRun.ts';
import type { RunPlaces } from './place.ts';
import { planCards } from './plan.ts';
import type { Slots } from './slots.ts';
import type { CodeCapture } from './captureCode.ts';
import { freeze, type FrozenCard, type Snapshot } from './snapshot.ts';
import { createWhy } from './why.ts';

/** What is told while runs go on. */
export interface RunEvents {
  delta(summary: RunSummary, cards: { id: string; status: CardStatus }[]): void;
  log(cardRunId: string, totalLines: number): void;
  /** A run is over and stored. */
  finished(runId: string, state: RunState): void;
  problem(error: unknown): void;
}

export interface RunsOptions {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly projects: Projects;
  readonly code: CodeCapture;
  readonly accepted: (root: string) => AcceptedByCard;
  readonly isTrusted: () => boolean;
  /** What history hangs on: the project's scope, or its path where it has none. */
  readonly projectKey: (root: string) => string;
  /** What each card finds where it runs. Only places that these cards may use are asked, and so started. */
  readonly lookAtPlaces: (cards: readonly FrozenCard[]) => Promise<RunPlaces>;
  readonly runnerFor: (card: FrozenCard) => CardRunner;
  /** Cards at once at a place, over all runs. */
  readonly slotsOf: (card: FrozenCard) => Slots;
  /** Around each job: what it may write outside its sandbox is recorded first. */
  readonly recordWrites: RecordWrites;
  /** As `RunSurroundings`. */
  readonly release: RunSurroundings['release'];
  readonly userFolder: string;
  readonly clock: Clock;
  readonly events: RunEvents;
}

export interface StartOptions {
  /** These cards and what they need; absent means all. */
  readonly cards?: readonly string[] | undefined;
  /** Runs the named cards (all where none is named) though a result is there. */
  readonly ignoreCache?: boolean | undefined;
}

/** The runs of this engine. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #active = new Map<string, ActiveRun>();
  #isDisposed = false;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  /**
   * Freezes the project and starts a run of it; what can be settled at once (all of an unchanged project) is settled
   * when this resolves. Throws `not-trusted`, `bad-project`, `not-found`, `disk-full`.
   */
  async start(root: string, { cards, ignoreCache = false }: StartOptions = {}): Promise<string> {
    const { store, clock, events } = this.#options;
    this.#assertMayRun(root);
    const project = this.#options.projects.refresh(root);
    store.recover();
    const id = `r${randomBytes(8).toString('hex')}`;
    // Recorded before a blob is touched: a clean-up anywhere sees it and keeps its hands off.
    const seq = store.runs.insert({
      id,
      engine: store.engineId,
      project: this.#options.projectKey(project.root),
      root: project.root,
      projectName: project.manifest?.name ?? '',
      startedAt: clock.now(),
    });
    if (store.results.forgetRemoved()) this.#options.code.forget();
    try {
      const { snapshot, places } = await this.#prepare(project, cards);
      // Nobody would wait for it.
      if (this.#isDisposed) throw ending();
      const chosen = cards && new Set(cards);
      const run = new ActiveRun(this.#surroundings(seq), {
        id,
        seq,
        snapshot,
        places,
        ignoresCache: (card) => ignoreCache && (chosen?.has(card) ?? true),
        why: this.#why(project.root, seq),
      });
      this.#active.set(id, run);
      void run.finished.then((state) => {
        this.#active.delete(id);
        events.finished(id, state);
      });
      run.begin();
      return id;
    } catch (error) {
      store.runs.remove(seq);
      throw error;
    }
  }

  /** What a run would do. Nothing is run and nothing recorded. */
  async dryRun(root: string, cards?: readonly string[]): Promise<PlannedCard[]> {
    this.#assertMayRun(root);
    const project = this.#options.projects.refresh(root);
    const { snapshot, places } = await this.#prepare(project, cards);
    await places.all;
    const context = {
      isTrusted: this.#options.isTrusted(),
      accepted: this.#options.accepted(project.root),
      placeOf: (card: FrozenCard) => places.of(card),
      find: (key: string) => this.#find(key),
      ignoresCache: () => false,
    };
    return planCards(snapshot.cards, context, this.#why(project.root, Number.MAX_SAFE_INTEGER));
  }

  /** False where this engine has no such run going on. */
  cancel(runId: string): boolean {
    const run = this.#active.get(runId);
    run?.cancel();
    return run !== undefined;
  }

  /** The end of a run of this engine; undefined where it is over or another's. */
  whenFinished(runId: string): Promise<RunState> | undefined {
    return this.#active.get(runId)?.finished;
  }

  /** The status with its progress, while the run goes on. */
  liveStatus(runId: string, card: string): CardStatus | undefined {
    return this.#active.get(runId)?.statusOf(card);
  }

  /** Ends what goes on here and waits until all of it is stored; places let go of what goes on elsewhere meanwhile. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const run of this.#active.values()) run.leave();
    await Promise.all([...this.#active.values()].map((run) => run.finished));
  }

  async #prepare(
    project: LoadedProject,
    cards: readonly string[] | undefined,
  ): Promise<{ snapshot: Snapshot; places: RunPlaces }> {
    const { code, userFolder } = this.#options;
    const snapshot = await freeze(project, cards, (folder) => code.capture(folder), userFolder);
    const accepted = this.#options.accepted(project.root);
    // A place is asked only for what may run there: a card that nobody has accepted connects nowhere.
    const may = snapshot.cards.filter(
      ({ id, runtime, fault, asked }) =>
        runtime !== 'js' && !fault && widening(accepted.get(id) ?? [], asked).length === 0,
    );
    return { snapshot, places: await this.#options.lookAtPlaces(may) };
  }

  #assertMayRun(root: string): void {
    if (this.#isDisposed) throw ending();
    if (this.#options.isTrusted()) return;
    throw new UserError(
      'not-trusted',
      'Nothing runs in Restricted Mode. Trust this workspace first (Workspaces: Manage Workspace Trust).',
      { root },
    );
  }

  #why(root: string, before: number) {
    const { store, blobs, projectKey } = this.#options;
    return createWhy(store, blobs, projectKey(root), before);
  }

  #find(key: string): StoredResult | undefined {
    const result = this.#options.store.results.find(key);
    return result?.outputs.every(({ artifact }) => this.#options.blobs.has(artifact.digest))
      ? result
      : undefined;
  }

  #surroundings(seq: number): ConstructorParameters<typeof ActiveRun>[0] {
    const {
      store,
      blobs,
      clock,
      code,
      runnerFor,
      slotsOf,
      recordWrites,
      release,
      accepted,
      isTrusted,
      events,
    } = this.#options;
    return {
      projectKey: this.#options.projectKey,
      store,
      slotsOf,
      clock,
      runnerFor,
      recordWrites,
      release,
      accepted,
      isTrusted,
      hasBlob: (digest) => blobs.has(digest),
      forgetCode: () => code.forget(),
      find: (key) => this.#find(key),
      onDelta: (cards) => {
        const summary = store.runs.summary(seq);
        if (summary) events.delta(summary, cards);
      },
      onLog: (cardRunId, totalLines) => events.log(cardRunId, totalLines),
      onProblem: (error) => events.problem(error),
    };
  }
}

function ending(): UserError {
  return new UserError('closed', 'The engine is ending');
}
