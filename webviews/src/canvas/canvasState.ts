import type { CardStatus, CardView, RunSummary } from '../../../protocol/src/engine.ts';

/** A project as the canvas shows it. */
export interface CanvasProject {
  readonly root: string;
  readonly name: string;
  readonly trusted: boolean;
  readonly cards: readonly CardView[];
  readonly run: RunSummary | null;
}

/** What the canvas shows: a project, a sentence in its place, or nothing yet. */
export interface CanvasState {
  readonly project: CanvasProject | undefined;
  readonly message: string | undefined;
}

export type CanvasEvent =
  | { readonly type: 'project'; readonly project: CanvasProject }
  | {
      readonly type: 'delta';
      readonly run: RunSummary;
      readonly cards: readonly { readonly id: string; readonly status: CardStatus }[];
    }
  | { readonly type: 'message'; readonly text: string };

export const initialCanvas: CanvasState = { project: undefined, message: undefined };

/** The next state. Cards that did not change keep their identity, so that only the others are drawn again. */
export function reduceCanvas(state: CanvasState, event: CanvasEvent): CanvasState {
  switch (event.type) {
    case 'project':
      return { project: event.project, message: undefined };
    case 'message':
      return { project: undefined, message: event.text };
    case 'delta': {
      if (!state.project) return state;
      const changed = new Map(event.cards.map((card) => [card.id, card.status]));
      const cards = state.project.cards.map((card) => {
        const status = changed.get(card.id);
        return status ? { ...card, status } : card;
      });
      return { ...state, project: { ...state.project, cards, run: event.run } };
    }
  }
}

/** One sentence for each card whose state differs. */
export function stateChanges(
  before: readonly CardView[],
  after: readonly CardView[],
  sentence: (card: CardView) => string,
): string[] {
  const known = new Map(before.map((card) => [card.id, card.status?.state]));
  return after.filter((card) => card.status && known.get(card.id) !== card.status.state).map(sentence);
}
