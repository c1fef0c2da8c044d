import type { Consents } from '../permissions/consents.ts';
import type { HeldThere } from '../runners/places/findHeld.ts';
import type { EngineContext } from './engineContext.ts';
import type { OpenEngine } from './openEngine.ts';

export interface HeldElsewhereOptions
  extends Pick<EngineContext, 'projects' | 'projectKey'>, Pick<OpenEngine, 'remoteJobs'> {
  readonly consents: Pick<Consents, 'acceptedByCard'>;
}

/** What the open projects have elsewhere, place by place. */
export function heldElsewhere(options: HeldElsewhereOptions): HeldThere[] {
  const { projects, projectKey, remoteJobs, consents } = options;
  const isAccepted = (root: string, card: string, place: string) =>
    (consents.acceptedByCard(root).get(card) ?? []).some(
      (each) => each.name === 'execution' && each.service === place,
    );
  const all = projects
    .list()
    .flatMap(({ root }) =>
      remoteJobs
        .heldCards(projectKey(root))
        .map(({ place, card }) => ({ place, isAccepted: isAccepted(root, card, place) })),
    );
  return [...Map.groupBy(all, ({ place }) => place)].map(([place, cards]) => ({
    place,
    cards: cards.length,
    isAccepted: cards.some((each) => each.isAccepted),
  }));
}
