/** What the scheduler needs to know of a card. */
export interface ScheduledCard {
  readonly id: string;
  /** Ids of the cards whose results it takes; those that are not scheduled are ignored. */
  readonly needs: readonly string[];
}

/** A card that won't run, and the card that is to blame: the first one upstream that did not end well. */
export interface SkippedCard {
  readonly id: string;
  readonly because: string;
}

/**
 * The order of a run, as a state machine without effects. Every card ends exactly once: by `succeed`, by `fail`, or by
 * being skipped because of a failure upstream; a card becomes ready when everything it needs has succeeded. Cards in a
 * cycle never become ready.
 */
export class Schedule {
  readonly #waitsFor = new Map<string, number>();
  readonly #users = new Map<string, string[]>();
  readonly #ended = new Set<string>();
  #ready: string[] = [];

  constructor(cards: readonly ScheduledCard[]) {
    for (const { id } of cards) this.#users.set(id, []);
    for (const { id, needs } of cards) {
      const known = [...new Set(needs)].filter((need) => this.#users.has(need));
      for (const need of known) this.#users.get(need)?.push(id);
      this.#waitsFor.set(id, known.length);
      if (known.length === 0) this.#ready.push(id);
    }
  }

  /** Cards that became ready since the last call, in a steady order. Each is given once. */
  takeReady(): string[] {
    const ready = this.#ready.filter((id) => !this.#ended.has(id));
    this.#ready = [];
    return ready;
  }

  succeed(id: string): void {
    if (!this.#end(id)) return;
    for (const user of this.#users.get(id) ?? []) {
      const left = (this.#waitsFor.get(user) ?? 0) - 1;
      this.#waitsFor.set(user, left);
      if (left === 0) this.#ready.push(user);
    }
  }

  /** Ends these cards and everything downstream of them; returns what was skipped, sources first. */
  fail(ids: readonly string[]): SkippedCard[] {
    const failed = ids.filter((id) => this.#end(id));
    const skipped: SkippedCard[] = [];
    for (const id of failed) {
      const reached = [id];
      for (const each of reached) {
        for (const user of this.#users.get(each) ?? []) {
          if (!this.#end(user)) continue;
          skipped.push({ id: user, because: id });
          reached.push(user);
        }
      }
    }
    return skipped;
  }

  /** Cards that have not ended. */
  remaining(): string[] {
    return [...this.#users.keys()].filter((id) => !this.#ended.has(id));
  }

  #end(id: string): boolean {
    if (this.#ended.has(id) || !this.#users.has(id)) return false;
    this.#ended.add(id);
    return true;
  }
}
