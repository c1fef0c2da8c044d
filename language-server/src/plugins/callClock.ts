export interface CallClockOptions {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  /** Called once, when the first call has used up its time. */
  readonly onExpired: () => void;
}

/**
 * The engine's clock over the calls of one worker. It counts while the worker may be running the plugin and stands
 * still while the plugin waits for the engine, so that neither waiting nor asking buys time to run.
 */
export class CallClock {
  readonly #options: CallClockOptions;
  readonly #left = new Map<object, number>();
  /** When the worker began to run; undefined while it waits. */
  #since: number | undefined;
  #stopTimer: () => void = () => undefined;

  constructor(options: CallClockOptions) {
    this.#options = options;
  }

  /** True while the worker may be running the plugin. */
  get isRunning(): boolean {
    return this.#since !== undefined;
  }

  /** Begins to count a call, which may run for `budgetMs`. The worker runs from now on. */
  begin(call: object, budgetMs: number): void {
    this.#account();
    this.#left.set(call, budgetMs);
    this.run();
  }

  end(call: object): void {
    this.#account();
    this.#left.delete(call);
    this.#arm();
  }

  /** The worker was given something that lets the plugin run. */
  run(): void {
    this.#account();
    this.#since = this.#options.now();
    this.#arm();
  }

  /** The worker said that the plugin waits. */
  pause(): void {
    this.#account();
    this.#since = undefined;
    this.#arm();
  }

  /** Forgets every call. */
  stop(): void {
    this.#left.clear();
    this.#stopTimer();
  }

  #account(): void {
    if (this.#since === undefined) return;
    const now = this.#options.now();
    for (const [call, leftMs] of this.#left) this.#left.set(call, leftMs - (now - this.#since));
    this.#since = now;
  }

  #arm(): void {
    this.#stopTimer();
    this.#stopTimer = () => undefined;
    if (this.#since === undefined || this.#left.size === 0) return;
    const leftMs = Math.max(0, Math.min(...this.#left.values()));
    this.#stopTimer = this.#options.setTimer(() => this.#options.onExpired(), leftMs);
  }
}
