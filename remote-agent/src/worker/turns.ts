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
    if (this.#buckets.size > mostNames) this.#buckets.clear();
    this.#buckets.set(name, { level: isLetIn ? filled - 1 : filled, at: now });
    return isLetIn;
  }
}

/** Strangers must not fill the memory with their names. */
const mostNames = 10_000;
