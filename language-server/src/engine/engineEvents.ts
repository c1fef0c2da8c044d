import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { LeftCardEvents } from '../runs/leftCard.ts';
import type { RunEvents } from '../runs/runs.ts';
import type { Store } from '../store/store.ts';
import type { EngineContext, Notify } from './engineContext.ts';

/** A message has a largest size; a project may have many cards. */
const cardsPerDelta = 1000;

/** Tells the person's side how this engine's runs go on. */
export function toldOfRuns(
  { notify, tellProblem }: Pick<EngineContext, 'notify' | 'tellProblem'>,
  finished: RunEvents['finished'],
): RunEvents {
  return {
    delta: (summary, cards) => {
      for (let at = 0; at === 0 || at < cards.length; at += cardsPerDelta)
        notify('run/delta', { summary, cards: cards.slice(at, at + cardsPerDelta) });
    },
    log: (cardRunId, totalLines) => notify('log/appended', { cardRunId, totalLines }),
    finished,
    problem: tellProblem,
  };
}

/** Tells it of the cards that earlier engines have left elsewhere. */
export function toldOfLeftCards(
  { notify, tellProblem }: Pick<EngineContext, 'notify' | 'tellProblem'>,
  store: Store,
): LeftCardEvents {
  return {
    delta: (seq, card, status) => {
      const summary = store.runs.summary(seq);
      if (summary) notify('run/delta', { summary, cards: [{ id: card, status }] });
    },
    log: (cardRunId, totalLines) => notify('log/appended', { cardRunId, totalLines }),
    problem: tellProblem,
  };
}

/** Tells it where the database was damaged, and a fresh one begun. */
export function tellSetAside(notify: Notify, { setAside }: Pick<Store, 'setAside'>): void {
  if (!setAside) return;
  const { path, problem } = setAside;
  notify('engine/notice', {
    code: 'store-damaged',
    message: `Sallyport’s database was damaged (${problem}). It was kept as ${path}, and a fresh one was begun: the history and the accepted permissions are empty, results on disk are kept.`,
    data: { path },
  });
}

/** Tells it what went wrong. */
export function tellError(notify: Notify, error: unknown): void {
  const code = error instanceof UserError ? error.code : 'internal';
  notify('engine/notice', { code, message: errorMessage(error), data: {} });
}

/** Tells it of a card that has started elsewhere and can't have its values yet. */
export function tellLocked(notify: Notify, card: string, why: string): void {
  const message = `The card “${card}” has started elsewhere and waits for its vault values: ${why}. Unlock the personal vault, and it goes on.`;
  notify('engine/notice', { code: 'permission-needed', message, data: {} });
}
