import { BridgeError } from '../../../protocol/src/bridge.ts';
import type { EffectKind, Principal, Target } from '../../../protocol/src/gate.ts';
import { stretchMs, type ActCount, type ActCounts } from './actCounts.ts';
import { decide } from './decide.ts';

/** One act of a kind that comes thousands in a minute. Nothing in it was written by the one who asks. */
export interface FrequentAct {
  readonly principal: Principal;
  readonly tool: string;
  readonly effect: EffectKind;
  readonly targets: readonly Target[];
}

export interface FrequentActsOptions {
  readonly counts: Pick<ActCounts, 'add'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly onProblem: (error: unknown) => void;
}

const writeDelayMs = 2000;

/**
 * The gate for acts that need no question and are too many for a receipt each. They are judged by the same table as all
 * others, as if the workspace were not trusted and no grant were there, and are counted in the ledger instead of written
 * one by one. What the table would ask for is refused. A crash loses the counts of the last two seconds, and no act.
 */
export class FrequentActs {
  readonly #options: FrequentActsOptions;
  readonly #unwritten = new Map<string, ActCount>();
  #stopTimer: (() => void) | undefined;

  constructor(options: FrequentActsOptions) {
    this.#options = options;
  }

  /** Runs the effect, or throws `not-allowed` with the rule that says no. What the effect throws goes through. */
  pass<R>(act: FrequentAct, effect: () => R): R {
    const { principal, tool, targets } = act;
    const { verdict, rule } = decide({
      principal,
      effect: act.effect,
      targets,
      widens: 0,
      trusted: false,
      mode: 'plan',
      grants: [],
      conversation: null,
    });
    if (verdict !== 'allow') {
      this.#count(principal, tool, 'refused');
      throw new BridgeError('not-allowed', rule.text);
    }
    let isDone = false;
    try {
      const value = effect();
      isDone = true;
      return value;
    } finally {
      this.#count(principal, tool, isDone ? 'done' : 'failed');
    }
  }

  /** Writes what is not written yet. */
  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (this.#unwritten.size === 0) return;
    const counts = [...this.#unwritten.values()];
    this.#unwritten.clear();
    try {
      this.#options.counts.add(counts, this.#options.now());
    } catch (error) {
      this.#options.onProblem(error);
    }
  }

  #count(principal: Principal, tool: string, ending: 'done' | 'failed' | 'refused'): void {
    const { now, setTimer } = this.#options;
    const lastAt = now();
    const since = lastAt - (lastAt % stretchMs);
    const key = `${principal} ${tool} ${since}`;
    const before = this.#unwritten.get(key) ?? { done: 0, failed: 0, refused: 0 };
    this.#unwritten.set(key, { ...before, principal, tool, since, lastAt, [ending]: before[ending] + 1 });
    this.#stopTimer ??= setTimer(() => this.flush(), writeDelayMs);
  }
}
