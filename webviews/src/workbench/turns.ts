import type { ConversationSummary, Item } from '../../../protocol/src/agent.ts';

/** What can be done with a turn that has ended; shown below its last row. */
export interface TurnEnd {
  readonly turn: number;
  readonly seq: number;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

/** The ends of turns by the number of their last row. The turn that is being answered has none yet. */
export function turnEnds(
  items: readonly Item[],
  state: ConversationSummary['state'],
): ReadonlyMap<number, TurnEnd> {
  const isBusy = state === 'answering' || state === 'waiting';
  const open = isBusy
    ? items.findLast((item) => !(item.kind === 'person' && item.isQueued))?.turn
    : undefined;
  const ends = new Map<number, TurnEnd>();
  let changes: boolean[] = [];
  for (const [index, item] of items.entries()) {
    if (item.kind === 'tool') changes.push(...item.changes.map(({ undone }) => undone));
    const next = items[index + 1];
    if (next?.turn === item.turn) continue;
    if (item.kind !== 'person' && item.turn > 0 && item.turn !== open) {
      ends.set(item.seq, {
        turn: item.turn,
        seq: item.seq,
        canUndo: changes.includes(false),
        canRedo: changes.includes(true),
      });
    }
    changes = [];
  }
  return ends;
}
