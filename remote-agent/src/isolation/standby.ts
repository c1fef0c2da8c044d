import { limits } from '../../../protocol/src/limits.ts';
import type { PreparedSandbox } from './bubblewrapSandboxes.ts';

export interface StandbyOptions {
  /** How many are kept; never more than `limits.standbySandboxes`. */
  readonly count: number;
  readonly open: () => Promise<PreparedSandbox>;
  readonly discard: (sandbox: PreparedSandbox) => Promise<void>;
  /** A standby sandbox could not be made. The next job tries for itself and says so. */
  readonly onError: (error: unknown) => void;
  readonly setTimer?: (run: () => void, ms: number) => () => void;
}

/**
 * Sandboxes that stand ready for cards without any permission. They hold nothing of a card, their shell is blocked on
 * a pipe, and each serves one job. All are gone after `limits.standbyIdleMs` without a job, and come back with one.
 */
export class StandbyPool {
  readonly #options: StandbyOptions;
  readonly #count: number;
  readonly #ready: PreparedSandbox[] = [];
  #filling: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;
  #disposed = false;

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.#count = Math.min(options.count, limits.standbySandboxes);
  }

  get size(): number {
    return this.#ready.length;
  }

  /** A sandbox that stands, now the caller's; undefined where none is ready, so that no job waits for one. */
  take(): PreparedSandbox | undefined {
    return this.#ready.shift();
  }

  /** Makes up for what was taken, one after the other, and starts the idle time anew. Settles when full. */
  fill(): Promise<void> {
    this.#restartTimer();
    this.#filling ??= this.#fillUp().finally(() => (this.#filling = undefined));
    return this.#filling;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#stopTimer?.();
    await this.#filling;
    await this.#discardAll();
  }

  async #fillUp(): Promise<void> {
    while (!this.#disposed && this.#ready.length < this.#count) {
      try {
        const made = await this.#options.open();
        // One that ends while it waits is no longer fit for a job.
        void made.sandbox.ended.then(() => this.#drop(made));
        this.#ready.push(made);
      } catch (error) {
        this.#options.onError(error);
        return;
      }
    }
  }

  #drop(made: PreparedSandbox): void {
    const at = this.#ready.indexOf(made);
    if (at < 0) return;
    this.#ready.splice(at, 1);
    void this.#options.discard(made);
  }

  #restartTimer(): void {
    if (this.#disposed) return;
    this.#stopTimer?.();
    this.#stopTimer = this.#setTimer(() => void this.#discardAll(), limits.standbyIdleMs);
  }

  async #discardAll(): Promise<void> {
    await Promise.all(this.#ready.splice(0).map((made) => this.#options.discard(made)));
  }

  #setTimer(run: () => void, ms: number): () => void {
    if (this.#options.setTimer) return this.#options.setTimer(run, ms);
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  }
}
