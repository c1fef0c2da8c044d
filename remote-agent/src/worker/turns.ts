/** Lets each name in so many times a minute, by a bucket that fills evenly. Time is monotonic, in milliseconds. */
export class Turns {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, { level: number; at: number }>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** False where the name has had its turns for now. */
  take(name: string, now: number): boolean {
    const { level, at } = this.#buckets.get(name) ?? { level: this.#perMinute, at: now };
    const filled = Math.min(this.#perMinute, level + ((now - at) / 60_000) * this.#perMinute);
    const isLetIn = filled >= 1;
    this.#buckets.delete(name);
    if (this.#buckets.size >= mostNames) this.#forgetOne();
    this.#buckets.set(name, { level: isLetIn ? filled - 1 : filled, at: now });
    return isLetIn;
  }

  /** The fullest of those that were here longest ago: it loses the least. */
  #forgetOne(): void {
    let [fullest, most] = ['', -1];
    let looked = 0;
    for (const [name, { level }] of this.#buckets) {
      if (level > most) [fullest, most] = [name, level];
      if ((looked += 1) >= lookedAt) break;
    }
    this.#buckets.delete(fullest);
  }
}

/** Strangers must not fill the memory with their names. */
const mostNames = 10_000;
/** How many are compared for the one to forget. */
const lookedAt = 64;
