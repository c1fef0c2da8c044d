export interface GatherTimes {
  /** A group is closed when nothing was added for so long, and after `longestMs` in any case. */
  readonly quietMs: number;
  readonly longestMs: number;
}

interface Open<T> {
  readonly items: T[];
  readonly endBy: number;
  timer: NodeJS.Timeout;
}

/** Collects what arrives at nearly the same time under equal keys, so that many become one request. */
export class Gather<T> {
  readonly #times: GatherTimes;
  readonly #largest: () => number;
  readonly #give: (items: readonly T[]) => void;
  readonly #open = new Map<string, Open<T>>();

  constructor(times: GatherTimes, largest: () => number, give: (items: readonly T[]) => void) {
    this.#times = times;
    this.#largest = largest;
    this.#give = give;
  }

  add(key: string, item: T): void {
    const { quietMs, longestMs } = this.#times;
    const now = performance.now();
    const open = this.#open.get(key);
    if (open) {
      open.items.push(item);
      clearTimeout(open.timer);
      if (open.items.length >= this.#largest()) this.#close(key);
      else open.timer = setTimeout(() => this.#close(key), Math.min(quietMs, Math.max(0, open.endBy - now)));
      return;
    }
    const timer = setTimeout(() => this.#close(key), quietMs);
    this.#open.set(key, { items: [item], endBy: now + longestMs, timer });
    if (this.#largest() <= 1) this.#close(key);
  }

  /** Drops what was not given yet. */
  stop(): void {
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
  }

  #close(key: string): void {
    const open = this.#open.get(key);
    if (!open) return;
    clearTimeout(open.timer);
    this.#open.delete(key);
    this.#give(open.items);
  }
}
