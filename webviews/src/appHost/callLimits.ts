import type { Lane } from './shellTable.ts';

const windowMs = 10_000;
/** At once, and in any ten seconds. A person is asked one thing at a time. */
const limits: Readonly<Record<Lane, { readonly atOnce: number; readonly perWindow: number }>> = {
  quick: { atOnce: 32, perWindow: 2000 },
  plugin: { atOnce: 8, perWindow: 2000 },
  model: { atOnce: 4, perWindow: 60 },
  person: { atOnce: 1, perWindow: 5 },
};

interface Count {
  running: number;
  started: number;
  windowStart: number;
}

/** Counts the calls of one app, whatever page it has loaded: a reload gives no fresh start. */
export class CallLimits {
  readonly #now: () => number;
  readonly #counts = new Map<Lane, Count>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** False where one more is too many; else the caller calls `leave` when the call is over. */
  enter(lane: Lane): boolean {
    const now = this.#now();
    const count = this.#counts.get(lane) ?? { running: 0, started: 0, windowStart: now };
    this.#counts.set(lane, count);
    if (now - count.windowStart >= windowMs) {
      count.windowStart = now;
      count.started = 0;
    }
    const { atOnce, perWindow } = limits[lane];
    if (count.running >= atOnce || count.started >= perWindow) return false;
    count.running++;
    count.started++;
    return true;
  }

  leave(lane: Lane): void {
    const count = this.#counts.get(lane);
    if (count) count.running--;
  }
}
