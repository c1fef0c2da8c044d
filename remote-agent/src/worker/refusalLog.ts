/** One refusal, as it stands in the worker's log. */
export type Refusal = Readonly<Record<'refusal' | 'why' | 'from', string>>;

/** How often a refusal of one kind is written at most; what comes between is counted. */
const intervalMs = 60_000;
/** Beyond these, refusals are counted without who they were of. */
const mostKinds = 1000;

interface Tally {
  readonly last: Refusal;
  readonly since: number;
  times: number;
}

/**
 * Writes the first refusal of a kind at once and counts those alike for a minute, so that whoever is refused can't fill
 * the disk: every one is in the log, most of them as a number. Time is monotonic, in milliseconds.
 */
export class RefusalLog {
  readonly #write: (refusal: Refusal & { readonly times?: number }) => void;
  readonly #tallies = new Map<string, Tally>();

  constructor(write: (refusal: Refusal & { readonly times?: number }) => void) {
    this.#write = write;
  }

  note(refusal: Refusal, now: number): void {
    this.flush(now);
    const isKnown = (key: string) => this.#tallies.has(key);
    const key = `${refusal.refusal} ${refusal.why} ${refusal.from}`;
    const kept = isKnown(key) || this.#tallies.size < mostKinds ? key : '';
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
      this.#tallies.delete(key);
      if (times > 0) this.#write({ ...last, times });
    }
  }
}
