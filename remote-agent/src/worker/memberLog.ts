import { LineBudget } from './lineBudget.ts';
import type { LogEntry } from './auditLog.ts';

/** More than a person's engine comes to; a flood is counted. */
const budget = { atOnce: 300, hourly: 30 } as const;
const intervalMs = 5 * 60_000;

interface Count {
  readonly entry: LogEntry;
  readonly since: number;
  times: number;
}

/**
 * Writes a line for each thing that one identity does, and beyond a budget a count of each kind of them for five minutes, so
 * that an identity that floods the worker does not push its own first lines out either. Time is monotonic, in ms.
 */
export class MemberLog {
  readonly #write: (entry: LogEntry) => void;
  readonly #budget = new LineBudget(budget);
  readonly #counts = new Map<string, Count>();

  constructor(write: (entry: LogEntry) => void) {
    this.#write = write;
  }

  /** Throws where a line is due and can't be written. `kind` is one of few; `common` is what all of it have alike. */
  note(kind: string, common: LogEntry, own: LogEntry, now: number): void {
    this.flush(now);
    const count = this.#counts.get(kind);
    if (count) count.times += 1;
    else if (this.#budget.take(now)) this.#write({ ...common, ...own });
    else this.#counts.set(kind, { entry: common, since: now, times: 1 });
  }

  /** Writes the counts whose time is over; all with `Infinity`. Throws where one can't be written, and keeps it. */
  flush(now: number): void {
    for (const [kind, { entry, since, times }] of this.#counts) {
      if (now - since < intervalMs) continue;
      this.#write({ ...entry, times });
      this.#counts.delete(kind);
    }
  }
}
