import type { Consents } from '../permissions/consents.ts';
import { FindHeld, type FindTimes, type HeldThere } from '../runners/places/findHeld.ts';
import { watchLeases } from '../store/lease.ts';
import type { EngineContext } from './engineContext.ts';
import type { EngineOpening } from './engineOpening.ts';

export interface FindHeldCardsOptions {
  readonly context: Pick<EngineContext, 'projects' | 'projectKey' | 'isTrusted' | 'clock' | 'onProblem'>;
  readonly opening: EngineOpening;
  /** True where there is an engine, or a home that one can be opened for. */
  readonly hasEngine: () => boolean;
  readonly consents: Pick<Consents, 'acceptedByCard'>;
  /** Replaced in tests. */
  readonly times: FindTimes | undefined;
}

/** Finds the cards again that the open projects have elsewhere. The caller disposes of it. */
export function createFindHeldCards(options: FindHeldCardsOptions): FindHeld {
  const { context, opening, hasEngine, consents, times } = options;
  const { projects, projectKey, isTrusted, clock, onProblem } = context;
  const isAccepted = (root: string, card: string, place: string) =>
    (consents.acceptedByCard(root).get(card) ?? []).some(
      (each) => each.name === 'execution' && each.service === place,
    );
  const held = (): HeldThere[] => {
    // A window without a home has nothing anywhere.
    if (!isTrusted() || opening.isEnding || !hasEngine()) return [];
    const { remoteJobs } = opening.open();
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
  };
  return new FindHeld({
    held,
    get: (place) => opening.open().places.get(place),
    setTimer: clock.setTimer,
    watchEngines: (changed) => {
      const engine = opening.opened();
      return engine && watchLeases(engine.store.home.leases, changed);
    },
    hasOthers: () => opening.opened()?.store.hasOthers() ?? false,
    onProblem,
    times,
  });
}
