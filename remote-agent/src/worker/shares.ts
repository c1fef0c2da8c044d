/** One member's part of what is shared out. */
export interface Share {
  /** Asks for a turn; `give` is called for each, at once or later. */
  ask(): void;
  /** Gives one back. */
  leave(): void;
  /** Says how many are held already, as after the one who shares out was away. */
  hold(count: number): void;
  /** Gives all back and asks for nothing any more. */
  end(): void;
}

interface Member {
  held: number;
  waiting: number;
  /** When it last got one; of equals the one that has waited longest is next. */
  servedAt: number;
  readonly give: () => void;
}

/**
 * Shares a machine's turns out. Everybody has one of their own, so that nobody waits for somebody else's long work to
 * begin; of the others the next goes to who holds the fewest.
 */
export class Shares {
  readonly #turns: number;
  readonly #members = new Set<Member>();
  #clock = 0;

  constructor(turns: number) {
    this.#turns = turns;
  }

  join(give: () => void): Share {
    const member: Member = { held: 0, waiting: 0, servedAt: 0, give };
    this.#members.add(member);
    const change = (act: () => void) => () => {
      act();
      this.#deal();
    };
    return {
      ask: change(() => (member.waiting += 1)),
      leave: change(() => (member.held = Math.max(0, member.held - 1))),
      hold: (count) => void (member.held = count),
      end: change(() => this.#members.delete(member)),
    };
  }

  #deal(): void {
    for (;;) {
      let held = 0;
      for (const member of this.#members) held += member.held;
      const [next] = [...this.#members]
        .filter((member) => member.waiting > 0 && (member.held === 0 || held < this.#turns))
        .sort((a, b) => a.held - b.held || a.servedAt - b.servedAt);
      if (!next) return;
      next.waiting -= 1;
      next.held += 1;
      next.servedAt = this.#clock += 1;
      next.give();
    }
  }
}
