import { BridgeError } from '../../../../protocol/src/bridge.ts';
import type { BridgeRow } from './bridgeTable.ts';

type Budget = BridgeRow['budget'];

const atOnce: Readonly<Record<Budget | 'all', number>> = { all: 32, plain: 32, generate: 4, plugin: 8 };
const inWindow: Readonly<Record<Budget | 'all', number>> = {
  all: 2000,
  plain: 2000,
  generate: 60,
  plugin: 2000,
};
const windowMs = 10_000;

/** How many calls of one app are under way, and how many began lately. Never waits: what is too many is refused. */
export class CallBudget {
  readonly #monotonic: () => number;
  readonly #open = { all: 0, plain: 0, generate: 0, plugin: 0 };
  readonly #begun = { all: [], plain: [], generate: [], plugin: [] } as Record<Budget | 'all', number[]>;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Counts a call in; the answer counts it out. Throws `too-many`. */
  enter(budget: Budget): () => void {
    const now = this.#monotonic();
    const counted = ['all', budget] as const;
    for (const name of counted) {
      const begun = this.#begun[name];
      while (begun[0] !== undefined && begun[0] <= now - windowMs) begun.shift();
      if (this.#open[name] >= atOnce[name] || begun.length >= inWindow[name])
        throw new BridgeError('too-many', 'Too many calls at once or in a short time. Wait and try again.');
    }
    for (const name of counted) {
      this.#open[name]++;
      this.#begun[name].push(now);
    }
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      for (const name of counted) this.#open[name]--;
    };
  }
}
