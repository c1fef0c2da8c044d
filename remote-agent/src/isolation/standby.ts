import { limits } from '../../../protocol/src/limits.ts';
import type { Sandbox } from './sandbox.ts';

/** What of a sandbox its pool needs to know. */
export interface Standing {
  readonly prepared: { readonly sandbox: Pick<Sandbox, 'ended'> };
}

export interface StandbyOptions<Made extends Standing> {
  /** How many are kept; never more than `limits.standbySandboxes`. */
  readonly count: number;
  /** What the first ones are made for: megabytes of outputs. */
  readonly outputMB: number;
  readonly open: (outputMB: number) => Promise<Made>;
  readonly discard: (sandbox: Made) => Promise<void>;
  /** A standby sandbox could not be made. The next job tries for itself and says so. */
  readonly onError: (error: unknown) => void;
  readonly setTimer?: (run: () => void, ms: number) => () => void;
}

/**
 * Sandboxes that stand ready for cards without any permission. They hold nothing of a card, their shell is blocked on
 * a pipe, and each serves one job. They are made for the sizes of outputs that the last jobs had, as the cards of a project
 * ask for few different ones. All are gone after `limits.standbyIdleMs` without a job, and come back with one.
 */
export class StandbyPool<Made extends Standing> {
  readonly #options: StandbyOptions<Made>;
  /** Sizes of outputs, those of the newest jobs first; one sandbox is kept for each. */
  #wanted: readonly number[];
  readonly #ready: { readonly outputMB: number; readonly made: Made }[] = [];
  #filling: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;
  #disposed = false;

  constructor(options: StandbyOptions<Made>) {
    this.#options = options;
    const count = Math.min(options.count, limits.standbySandboxes);
    this.#wanted = Array.from({ length: count }, () => options.outputMB);
  }

  get size(): number {
    return this.#ready.length;
  }

  /** A sandbox that stands, now the caller's; undefined where none fits, so that no job waits for one. */
  take(outputMB: number): Made | undefined {
    this.#wanted = [outputMB, ...this.#wanted].slice(0, this.#wanted.length);
    const at = this.#ready.findIndex((each) => each.outputMB === outputMB);
    return at < 0 ? undefined : this.#ready.splice(at, 1)[0]?.made;
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
    const next = () => compare(this.#wanted, this.#ready);
    for (
      let { missing, spare } = next();
      missing !== undefined && !this.#disposed;
      { missing, spare } = next()
    ) {
      try {
        if (spare >= 0)
          await Promise.all(this.#ready.splice(spare, 1).map(({ made }) => this.#options.discard(made)));
        const made = await this.#options.open(missing);
        // One that ends while it waits is no longer fit for a job.
        void made.prepared.sandbox.ended.then(() => this.#drop(made));
        this.#ready.push({ outputMB: missing, made });
      } catch (error) {
        this.#options.onError(error);
        return;
      }
    }
  }

  #drop(made: Made): void {
    const at = this.#ready.findIndex((each) => each.made === made);
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
    await Promise.all(this.#ready.splice(0).map(({ made }) => this.#options.discard(made)));
  }

  #setTimer(run: () => void, ms: number): () => void {
    if (this.#options.setTimer) return this.#options.setTimer(run, ms);
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  }
}

/** The first wanted size that none is ready for, and the index of one that nothing wants, or -1. */
function compare(
  wanted: readonly number[],
  ready: readonly { readonly outputMB: number }[],
): { missing: number | undefined; spare: number } {
  const left = ready.map(({ outputMB }) => outputMB);
  const missing = wanted.filter((size) => {
    const at = left.indexOf(size);
    if (at >= 0) left[at] = NaN;
    return at < 0;
  });
  return { missing: missing[0], spare: left.findIndex((size) => !Number.isNaN(size)) };
}
