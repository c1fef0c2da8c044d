/** Calls `run` once, `delayMs` after the last `schedule`. Nothing ticks while nothing is scheduled. */
export class Debounce {
  readonly #run: () => void;
  readonly #delayMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(run: () => void, delayMs: number) {
    this.#run = run;
    this.#delayMs = delayMs;
  }

  schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), this.#delayMs);
  }

  /** Runs now what is scheduled; does nothing where nothing is. */
  flush(): void {
    if (this.#timer === undefined) return;
    this.dispose();
    this.#run();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
