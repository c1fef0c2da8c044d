/** One act after the other for each app. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does this when all that was asked for before of the same app is over, however it ended. */
  take<T>(app: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(app) ?? Promise.resolve();
    const turn = before.then(work, work);
    const settled = turn
      .catch(() => undefined)
      .finally(() => {
        if (this.#last.get(app) === settled) this.#last.delete(app);
      });
    this.#last.set(app, settled);
    return turn;
  }

  /** Waits for what was begun. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
