export interface ProgressPumpOptions {
  readonly send: (fraction: number, text: string) => void;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** Milliseconds between two reports. */
const everyMs = 50;

/** Thins progress out: the latest report counts, at most one goes out in a while, and the last one always does. */
export class ProgressPump {
  readonly #options: ProgressPumpOptions;
  #held: readonly [number, string] | undefined;
  #sentAt = -Infinity;

  constructor(options: ProgressPumpOptions) {
    this.#options = options;
  }

  write(fraction: number, text: string): void {
    this.#held = [fraction, text];
    this.tick();
  }

  /** To be called now and then while the card computes. */
  tick(): void {
    if (this.#options.now() - this.#sentAt >= everyMs) this.flush();
  }

  flush(): void {
    if (this.#held === undefined) return;
    this.#options.send(...this.#held);
    this.#held = undefined;
    this.#sentAt = this.#options.now();
  }
}
