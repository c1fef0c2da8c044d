/**
 * Who is still there. Each engine renews by whatever it says; one that says nothing for as long as it asked for is
 * reported once, and is asked about again when it has come back.
 */
export class Leases {
  readonly #engines = new Map<string, { leaseMs: number; heardAt: number }>();
  readonly #now: () => number;
  readonly #onEnd: (engine: string) => void;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer comes, by the same clock. */
  #lookAt = Infinity;

  /** `now` is a clock in milliseconds that only goes forward. */
  constructor(now: () => number, onEnd: (engine: string) => void) {
    this.#now = now;
    this.#onEnd = onEnd;
  }

  renew(engine: string, leaseSeconds?: number): void {
    const leaseMs =
      leaseSeconds === undefined ? this.#engines.get(engine)?.leaseMs : Math.round(leaseSeconds * 1000);
    if (leaseMs === undefined) return;
    const heardAt = this.#now();
    this.#engines.set(engine, { leaseMs, heardAt });
    if (heardAt + leaseMs < this.#lookAt) this.#arm();
  }

  /** Milliseconds left; 0 for an engine that is not known or whose lease has ended. */
  left(engine: string): number {
    const found = this.#engines.get(engine);
    return found ? Math.max(0, found.heardAt + found.leaseMs - this.#now()) : 0;
  }

  dispose(): void {
    this.#engines.clear();
    this.#arm();
  }

  /** The timer is set for the next end and looks then whether it has come: renewing costs no timer. */
  #arm(): void {
    clearTimeout(this.#timer);
    this.#lookAt = Infinity;
    const next = Math.min(...[...this.#engines.keys()].map((engine) => this.left(engine)));
    if (!Number.isFinite(next)) return;
    this.#lookAt = this.#now() + next;
    this.#timer = setTimeout(() => this.#look(), Math.min(next, longestTimerMs) + 1);
    this.#timer.unref();
  }

  /** Of a process that stood still, what was said meanwhile is heard first: it is read between a timer and this. */
  #look(): void {
    setImmediate(() => this.#endSilent());
  }

  #endSilent(): void {
    for (const engine of [...this.#engines.keys()]) {
      if (this.left(engine) > 0) continue;
      this.#engines.delete(engine);
      this.#onEnd(engine);
    }
    this.#arm();
  }
}

/** setTimeout takes no more than 2^31 - 1. */
const longestTimerMs = 2 ** 31 - 2;
