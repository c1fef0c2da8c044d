import type { CardRecord } from '../manifests/codeLenses.ts';
import type { LazyServices } from './lazyServices.ts';

/**
 * What the store says of a card, for its lenses. Undefined where it can't be reached: a lens without records still runs
 * the card, and what is wrong is said by the request that needs them.
 */
export async function cardRecord(
  services: LazyServices | undefined,
  root: string,
  card: string,
): Promise<CardRecord | undefined> {
  try {
    const running = await services?.get();
    if (!running) return undefined;
    const review = await running.handlers['permissions/review']({ root }, new AbortController().signal);
    const asked = review.cards.find((each) => each.id === card)?.permissions ?? [];
    const waiting = asked.filter((permission) => permission.isNew).length;
    return { status: running.cardStatus(root, card), waiting };
  } catch {
    return undefined;
  }
}
