import type { CardRunView, CardState, CardStatus } from '../../../protocol/src/engine.ts';

const underWay: readonly CardState[] = ['queued', 'running'];

/**
 * The cards of a shown run after a delta. `changed` are those that moved. `isComplete` is false where the delta does
 * not say all: a card ended, so it has outputs now, or one is not known here.
 */
export function mergeStatuses(
  cards: readonly CardRunView[],
  moved: readonly { readonly id: string; readonly status: CardStatus }[],
): { all: CardRunView[]; changed: CardRunView[]; isComplete: boolean } {
  const statuses = new Map(moved.map(({ id, status }) => [id, status]));
  const changed: CardRunView[] = [];
  const all = cards.map((card) => {
    const status = statuses.get(card.id);
    if (!status) return card;
    const next = { ...card, status };
    changed.push(next);
    return next;
  });
  const isComplete =
    changed.length === statuses.size && changed.every(({ status }) => underWay.includes(status.state));
  return { all, changed, isComplete };
}
