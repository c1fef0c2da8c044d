import type { ConversationSummary, Item, agentEvents } from '../../../../protocol/src/agent.ts';
import type { ParamsOf } from '../../../../protocol/src/contract.ts';

export type ConversationDelta = ParamsOf<(typeof agentEvents)['conversation/delta']>;

/** A little over 30 a second would be more than a person sees. */
const intervalMs = 34;

export interface DeltaOptions {
  readonly summaryOf: (id: string) => ConversationSummary | undefined;
  readonly send: (delta: ConversationDelta) => void;
  /** Runs `run` after `ms`; answers with what takes that back. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

interface Pending {
  readonly items: Map<number, Item>;
  text: { seq: number; at: number; append: string } | null;
  stop: () => void;
}

/**
 * Tells the person's side what changed in conversations, at most 30 times a second each. Text of a streaming answer
 * goes as what was appended; a row that changes in another way goes whole.
 */
export class Deltas {
  readonly #options: DeltaOptions;
  readonly #pending = new Map<string, Pending>();

  constructor(options: DeltaOptions) {
    this.#options = options;
  }

  /** A row is new or changed. */
  row(id: string, row: Item): void {
    const pending = this.#of(id);
    if (pending.text?.seq === row.seq) pending.text = null;
    pending.items.set(row.seq, row);
  }

  /** `append` was added to the answer in row `seq` at UTF-16 offset `at`. */
  text(id: string, seq: number, at: number, append: string): void {
    let pending = this.#of(id);
    if (pending.text && pending.text.seq !== seq) {
      this.flush(id);
      pending = this.#of(id);
    }
    if (pending.text) pending.text.append += append;
    else pending.text = { seq, at, append };
  }

  /** Only the summary changed. */
  summary(id: string): void {
    this.#of(id);
  }

  flush(id: string): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    pending.stop();
    this.#pending.delete(id);
    const summary = this.#options.summaryOf(id);
    if (summary) this.#options.send({ id, summary, items: [...pending.items.values()], text: pending.text });
  }

  /** Forgets what was not told: the conversation is gone. */
  drop(id: string): void {
    this.#pending.get(id)?.stop();
    this.#pending.delete(id);
  }

  dispose(): void {
    for (const id of [...this.#pending.keys()]) this.flush(id);
  }

  #of(id: string): Pending {
    const known = this.#pending.get(id);
    if (known) return known;
    const stop = this.#options.setTimer(() => this.flush(id), intervalMs);
    const pending: Pending = { items: new Map(), text: null, stop };
    this.#pending.set(id, pending);
    return pending;
  }
}
