import type { Approval } from '../../../protocol/src/gate.ts';
import { Emitter } from '../emitter.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';
import type { Disposable } from '../disposable.ts';
import type { PersonQuestion } from './personQuestions.ts';

/** What waits for a person: acts to allow or decline, and questions to answer. Oldest first. */
export interface Waiting {
  readonly approvals: readonly Approval[];
  readonly questions: readonly PersonQuestion[];
}

/** Keeps what waits in step with the engine. */
export class WaitingList implements Disposable {
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #changed: Emitter<Waiting>;
  readonly #subscription: Disposable;
  #approvals: readonly Approval[] = [];
  #questions: readonly PersonQuestion[] = [];
  #reading: { again: boolean } | undefined;

  constructor(engine: Engine, log: Log) {
    this.#engine = engine;
    this.#log = log;
    this.#changed = new Emitter((error) => log.error('A listener failed', error));
    this.#subscription = engine.on('approval/changed', ({ waiting }) => {
      if (waiting === 0) this.clear();
      else void this.refresh();
    });
  }

  readonly onDidChange = (listener: (waiting: Waiting) => void): Disposable => this.#changed.on(listener);

  get waiting(): Waiting {
    return { approvals: this.#approvals, questions: this.#questions };
  }

  get count(): number {
    return this.#approvals.length + this.#questions.length;
  }

  /** Asks the engine again. One read at a time; a call during one leads to one more. */
  async refresh(): Promise<void> {
    if (this.#reading) {
      this.#reading.again = true;
      return;
    }
    const mine = { again: true };
    this.#reading = mine;
    try {
      while (mine.again) {
        mine.again = false;
        this.#approvals = await this.#engine.call('approval/list', {});
        this.#changed.fire(this.waiting);
      }
    } catch (error) {
      this.#log.error('Failed to read what waits', error);
    } finally {
      this.#reading = undefined;
    }
  }

  setQuestions(questions: readonly PersonQuestion[]): void {
    this.#questions = questions;
    this.#changed.fire(this.waiting);
  }

  /** No act waits any more: all were answered, or the engine that asked is gone. */
  clear(): void {
    if (this.#reading) this.#reading.again = true;
    if (this.#approvals.length === 0) return;
    this.#approvals = [];
    this.#changed.fire(this.waiting);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
