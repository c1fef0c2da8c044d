/** Lets a number of holders in at once; the others wait in order. */
export class Turnstile {
  readonly #places: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Resolves with the way out, to be called once, or with undefined where `signal` was aborted first. */
  enter(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    if (this.#taken < this.#places) return Promise.resolve(this.#take());
    return new Promise((resolve) => {
      const comeIn = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(this.#take());
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(comeIn), 1);
        resolve(undefined);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(comeIn);
    });
  }

  #take(): () => void {
    this.#taken += 1;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.#taken -= 1;
      this.#waiting.shift()?.();
    };
  }
}
