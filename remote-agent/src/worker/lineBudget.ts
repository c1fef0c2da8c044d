const hourMs = 60 * 60_000;

/** So many lines at once, and so many more in an hour, however many there would be to write. Time is monotonic, in ms. */
export class LineBudget {
  readonly #limits: { readonly atOnce: number; readonly hourly: number };
  #left: number;
  #at = 0;

  constructor(limits: { readonly atOnce: number; readonly hourly: number }) {
    this.#limits = limits;
    this.#left = limits.atOnce;
  }

  /** True where one more may be written. */
  take(now: number): boolean {
    const refilled = (Math.max(0, now - this.#at) / hourMs) * this.#limits.hourly;
    this.#left = Math.min(this.#limits.atOnce, this.#left + refilled);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
