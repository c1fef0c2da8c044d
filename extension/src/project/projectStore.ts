import type { ProjectView, RunSummary } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { Emitter } from '../emitter.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';
import {
  emptyState,
  runningRuns,
  withDelta,
  withProject,
  withProjects,
  type ProjectState,
  type RunDelta,
} from './projectState.ts';
import type { Disposable } from '../disposable.ts';

/** The projects of this window as the engine last told them, kept up to date by its events. */
export class ProjectStore implements Disposable {
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #changed: Emitter<ProjectState>;
  readonly #moved: Emitter<RunDelta>;
  readonly #forgot: Emitter<void>;
  readonly #subscriptions: Disposable[];
  readonly #reading = new Map<string, { again: boolean }>();
  #state: ProjectState = emptyState;
  #loaded: Promise<readonly ProjectView[]> | undefined;

  constructor(engine: Engine, log: Log) {
    this.#engine = engine;
    this.#log = log;
    const onError = (error: unknown) => log.error('A listener failed', error);
    this.#changed = new Emitter(onError);
    this.#moved = new Emitter(onError);
    this.#forgot = new Emitter(onError);
    this.#subscriptions = [
      engine.on('project/changed', ({ root }) => void this.#readAgain(root)),
      engine.on('run/delta', (delta) => {
        this.#set(withDelta(this.#state, delta));
        this.#moved.fire(delta);
      }),
    ];
  }

  get state(): ProjectState {
    return this.#state;
  }

  get running(): RunSummary[] {
    return runningRuns(this.#state);
  }

  readonly onDidChange = (listener: (state: ProjectState) => void): Disposable => this.#changed.on(listener);

  /** The engine went: what was under way has no more news. */
  readonly onDidForget = (listener: () => void): Disposable => this.#forgot.on(listener);

  readonly onDidMoveRun = (listener: (delta: RunDelta) => void): Disposable => this.#moved.on(listener);

  /** The open projects, asked for once. Rejects with `UserError` where the engine can't tell. */
  async projects(): Promise<readonly ProjectView[]> {
    await (this.#loaded ??= this.refresh());
    return this.#state.projects;
  }

  /** Asks the engine for all projects again: at the start, after a restart, when folders come and go. */
  refresh(): Promise<readonly ProjectView[]> {
    const loaded = this.#engine.call('project/list', {}).then((projects) => {
      this.#set(withProjects(this.#state, projects));
      return projects;
    });
    this.#loaded = loaded;
    loaded.catch(() => {
      if (this.#loaded === loaded) this.#loaded = undefined;
    });
    return loaded;
  }

  /** The engine is gone, for good or for a moment: what it ran has ended, what it knew is asked for again. */
  forget(isForGood: boolean): void {
    this.#loaded = undefined;
    this.#set(isForGood ? emptyState : { ...this.#state, runs: new Map() });
    this.#forgot.fire();
  }

  dispose(): void {
    for (const each of this.#subscriptions) each.dispose();
    this.#changed.dispose();
    this.#moved.dispose();
    this.#forgot.dispose();
  }

  /** One read at a time for each project; events during it lead to one more. */
  async #readAgain(root: string): Promise<void> {
    const reading = this.#reading.get(root);
    if (reading) {
      reading.again = true;
      return;
    }
    const mine = { again: true };
    this.#reading.set(root, mine);
    try {
      while (mine.again) {
        mine.again = false;
        this.#set(withProject(this.#state, root, await this.#read(root)));
      }
    } catch (error) {
      this.#log.error(`Failed to read the project ${root}`, error);
    } finally {
      this.#reading.delete(root);
    }
  }

  async #read(root: string): Promise<ProjectView | null> {
    try {
      return await this.#engine.call('project/get', { root });
    } catch (error) {
      if (error instanceof UserError && error.code === 'no-project') return null;
      throw error;
    }
  }

  #set(state: ProjectState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#changed.fire(state);
  }
}
