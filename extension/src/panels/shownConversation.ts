import type { ConversationSummary, Item } from '../../../protocol/src/agent.ts';
import type { ParamsOf } from '../../../protocol/src/contract.ts';
import type { engineHeard } from '../../../protocol/src/engineContract.ts';
import { mergeRows } from '../../../protocol/src/rows.ts';
import type { Engine } from '../engine.ts';

export type ConversationDelta = ParamsOf<(typeof engineHeard)['conversation/delta']>;

/** The rows of a conversation that are held outside the engine. */
const heldRows = 200;

/** The conversation that is shown: its summary and a window of its last rows. The engine has the rest. */
export class ShownConversation {
  readonly #engine: Engine;
  #shown: { readonly summary: ConversationSummary; readonly items: readonly Item[] } | undefined;
  /** Raised by each opening, so that an answer which comes late changes nothing. */
  #opening = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get summary(): ConversationSummary | null {
    return this.#shown?.summary ?? null;
  }

  get items(): readonly Item[] {
    return this.#shown?.items ?? [];
  }

  /** Shows another conversation, or the same as the engine has it now; null shows none. Rejects with `not-found`. */
  async open(id: string | null): Promise<void> {
    const opening = ++this.#opening;
    const read =
      id === null ? undefined : await this.#engine.call('conversation/read', { id, limit: heldRows });
    if (opening === this.#opening) this.#shown = read;
  }

  /** Takes what changed. `other` where it is about another conversation, `torn` where something was missed. */
  take(delta: ConversationDelta): 'taken' | 'torn' | 'other' {
    if (this.#shown?.summary.id !== delta.id) return 'other';
    const { items, isWhole } = mergeRows(this.#shown.items, delta, heldRows);
    this.#shown = { summary: delta.summary, items };
    return isWhole ? 'taken' : 'torn';
  }

  /** The row of this number, from the window or from the engine. */
  async row(id: string, seq: number): Promise<Item | undefined> {
    const held = id === this.#shown?.summary.id ? this.items.find((item) => item.seq === seq) : undefined;
    if (held) return held;
    const { items } = await this.#engine.call('conversation/read', { id, before: seq + 1, limit: 1 });
    return items.find((item) => item.seq === seq);
  }
}
