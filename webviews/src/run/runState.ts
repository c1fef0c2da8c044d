import type { CardRunView, RunSummary } from '../../../protocol/src/engine.ts';

/** What the run view shows. */
export interface RunViewState {
  readonly run: RunSummary | undefined;
  readonly cards: readonly CardRunView[];
  readonly selected: string | undefined;
  readonly message: string | undefined;
}

export type RunEvent =
  | {
      readonly type: 'state';
      readonly run: RunSummary;
      readonly cards: readonly CardRunView[];
      readonly selected: string | null;
    }
  | { readonly type: 'cards'; readonly run: RunSummary; readonly cards: readonly CardRunView[] }
  | { readonly type: 'logGrew'; readonly cardRunId: string; readonly totalLines: number }
  | { readonly type: 'select'; readonly card: string }
  | { readonly type: 'message'; readonly text: string };

export const initialRun: RunViewState = {
  run: undefined,
  cards: [],
  selected: undefined,
  message: undefined,
};

/** The next state. A selection stays as long as its card does; without one, the card that most needs a look is taken. */
export function reduceRun(state: RunViewState, event: RunEvent): RunViewState {
  switch (event.type) {
    case 'state': {
      const isSame = state.run?.runId === event.run.runId;
      const wanted = event.selected ?? (isSame ? state.selected : undefined);
      return {
        run: event.run,
        cards: event.cards,
        selected: knownCard(event.cards, wanted) ?? firstToSee(event.cards),
        message: undefined,
      };
    }
    case 'cards': {
      if (state.run?.runId !== event.run.runId) return state;
      const changed = new Map(event.cards.map((card) => [card.id, card]));
      const cards = state.cards.map((card) => changed.get(card.id) ?? card);
      return { ...state, run: event.run, cards };
    }
    case 'logGrew':
      return {
        ...state,
        cards: state.cards.map((card) =>
          card.status.cardRunId === event.cardRunId && card.logLines < event.totalLines
            ? { ...card, logLines: event.totalLines }
            : card,
        ),
      };
    case 'select':
      return { ...state, selected: knownCard(state.cards, event.card) ?? state.selected };
    case 'message':
      return { ...initialRun, message: event.text };
  }
}

function knownCard(cards: readonly CardRunView[], id: string | undefined): string | undefined {
  return cards.some((card) => card.id === id) ? id : undefined;
}

/** A failed card first, then one with a view, then the first. */
function firstToSee(cards: readonly CardRunView[]): string | undefined {
  const card =
    cards.find(({ status }) => status.state === 'failed') ??
    cards.find(({ outputs }) => outputs.some(({ isView }) => isView)) ??
    cards[0];
  return card?.id;
}
