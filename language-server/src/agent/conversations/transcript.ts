import type { Item } from '../../../../protocol/src/agent.ts';
import type { Database } from '../../store/database.ts';
import type { ConversationRecords, StoredConversation } from './conversationRecords.ts';
import type { Deltas } from './deltas.ts';
import type { ItemRecords, StoredItem } from './itemRecords.ts';
import type { Wire } from './wire.ts';

/** A row without what the transcript gives it. */
export type RowDraft = Item extends infer I ? (I extends Item ? Omit<I, 'seq' | 'at'> : never) : never;

export interface TranscriptOptions {
  readonly database: Database;
  readonly conversations: ConversationRecords;
  readonly items: ItemRecords;
  readonly deltas: Deltas;
  readonly now: () => number;
}

/** Writes the rows of conversations: each one is durable before anybody is told of it. */
export class Transcript {
  readonly #options: TranscriptOptions;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  add(
    conversation: StoredConversation,
    draft: RowDraft,
    wire: Wire | ((seq: number) => Wire),
    step = 0,
  ): Item {
    const { database, conversations, items, deltas, now } = this.#options;
    const at = now();
    const row = database.transaction(() => {
      const seq = conversations.nextSeq(conversation.id, at);
      const made = { ...draft, seq, at };
      items.add(conversation.num, {
        row: made,
        wire: typeof wire === 'function' ? wire(seq) : wire,
        step: step === 0 ? seq : step,
      });
      return made;
    });
    deltas.row(conversation.id, row);
    return row;
  }

  notice(
    conversation: StoredConversation,
    turn: number,
    level: 'info' | 'warning' | 'error',
    text: string,
    action: { command: string; title: string } | null = null,
  ): void {
    this.add(conversation, { kind: 'notice', turn, level, text, action }, { kind: 'notice' });
  }

  /** Replaces a row, and what the model is told of it where that is given. */
  update(conversation: StoredConversation, row: Item, wire?: Wire): void {
    this.#options.items.update(conversation.num, row, wire);
    this.#options.deltas.row(conversation.id, row);
  }

  /** Stores a streaming row without telling: what was appended has been told. */
  save(conversation: StoredConversation, row: Item): void {
    this.#options.items.update(conversation.num, row);
  }

  append(conversation: StoredConversation, seq: number, at: number, text: string): void {
    this.#options.deltas.text(conversation.id, seq, at, text);
  }

  changed(conversation: StoredConversation): void {
    this.#options.deltas.summary(conversation.id);
  }

  /** Everything that the model is told: the last summary, and the rows that it does not stand for, in any order. */
  context(conversation: StoredConversation, placeOf: (item: StoredItem) => number): StoredItem[] {
    const summary = this.#options.items.lastSummary(conversation.num);
    if (summary?.wire.kind !== 'summary') return this.#options.items.since(conversation.num, 0);
    const { upTo } = summary.wire;
    const rows = this.#options.items
      .since(conversation.num, Math.max(0, upTo - queuedBefore))
      .filter((item) => item.wire.kind !== 'summary' && placeOf(item) > upTo);
    return [summary, ...rows];
  }
}

/** A message that waited may stand this many rows before the place where it was told. */
const queuedBefore = 200;
