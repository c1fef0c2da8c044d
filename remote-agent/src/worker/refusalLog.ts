import { LineBudget } from './lineBudget.ts';

/** One refusal, as it stands in the worker's log. */
export type Refusal = Readonly<Record<'refusal' | 'why' | 'from', string>>;

/** How often a refusal of one kind is written at most; what comes between is counted. */
const intervalMs = 60_000;
/** So many are written by name at once, and so many more in an hour, whoever comes from however many addresses. */
const mostNamed = { atOnce: 1000, hourly: 300 } as const;
const whyCharacters = 300;

interface Tally {
  readonly last: Refusal;
  readonly since: number;
  times: number;
}

/**
 * Writes the first refusal of a kind at once and counts those alike for a minute, so that whoever is refused fills
 * neither the disk nor the log: every one is in it, most of them as a number. Time is monotonic, in milliseconds.
 */
export class RefusalLog {
  readonly #write: (refusal: Refusal & { readonly times?: number }) => void;
  readonly #tallies = new Map<string, Tally>();
  readonly #names = new LineBudget(mostNamed);

  constructor(write: (refusal: Refusal & { readonly times?: number }) => void) {
    this.#write = write;
  }

  note(noted: Refusal, now: number): void {
    this.flush(now);
    const refusal = { ...noted, why: noted.why.slice(0, whyCharacters) };
    const key = `${refusal.refusal} ${refusal.why} ${refusal.from}`;
    const isNamed = this.#tallies.has(key) || this.#names.take(now);
    const kept = isNamed ? key : '';
    const tally = this.#tallies.get(kept);
    if (tally) {
      tally.times += 1;
      return;
    }
    const last = kept === '' ? { refusal: 'any', why: 'too many kinds to tell apart', from: '' } : refusal;
    this.#tallies.set(kept, { last, since: now, times: kept === '' ? 1 : 0 });
    if (kept !== '') this.#write(refusal);
  }

  /** Writes the counts of kinds whose minute is over; of all with `Infinity`. */
  flush(now: number): void {
    for (const [key, { last, since, times }] of this.#tallies) {
      if (now - since < intervalMs) continue;
      if (times > 0) this.#write({ ...last, times });
      this.#tallies.delete(key);
    }
  }
}
