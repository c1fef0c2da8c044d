import { createScrubber, type Scrubber } from '../../../protocol/src/scrub/scrubber.ts';

/** The most values that are looked for at a time; the oldest go first. */
const mostValues = 500;

/**
 * The values that left the vault in this window, so that no log, error or request to a model carries one of them. They
 * are kept as text: whoever can read this process's memory can read them (SECURITY.md).
 */
export class ReleasedValues {
  readonly #values = new Set<string>();
  #scrubber: Scrubber = createScrubber([]);
  #isStale = false;

  add(value: string): void {
    if (this.#values.delete(value)) {
      this.#values.add(value);
      return;
    }
    this.#values.add(value);
    const [oldest] = this.#values;
    if (this.#values.size > mostValues && oldest !== undefined) this.#values.delete(oldest);
    this.#isStale = true;
  }

  /** For what leaves this process or is shown. */
  get scrubber(): Scrubber {
    if (this.#isStale) this.#scrubber = createScrubber([...this.#values]);
    this.#isStale = false;
    return this.#scrubber;
  }

  clear(): void {
    this.#values.clear();
    this.#isStale = true;
  }
}
