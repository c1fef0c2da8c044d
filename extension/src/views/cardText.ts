import type { CardStatus, CardView } from '../../../protocol/src/engine.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import { duration, size } from '../figures.ts';
import { cardStateWord } from '../messages.ts';
import { placeName } from '../placeViewMessages.ts';

/** What a card shows: its state in the latest run, `blocked` and `problem` before that, or `none`. */
export type ShownState = NonNullable<CardView['status']>['state'] | 'problem' | 'none';

export function shownState(card: CardView): ShownState {
  const state = card.status?.state;
  if (state === 'running' || state === 'queued') return state;
  if (card.problems > 0) return 'problem';
  if (card.blocked) return 'blocked';
  return state ?? 'none';
}

/** The state in words with time and size: `done · 1.2 s · 34 KB`. */
export function cardDescription(card: CardView): string {
  const state = shownState(card);
  const status = card.status;
  const parts = [cardStateWord(state, status?.cached ?? false)];
  if (status) parts.push(...elsewhere(status));
  if (status && state === 'running' && status.progress)
    parts.push(`${Math.round(status.progress.fraction * 100)} %`);
  if (status?.runMs != null && (state === 'done' || state === 'failed')) parts.push(duration(status.runMs));
  if (status && state === 'done' && status.outputBytes > 0) parts.push(size(status.outputBytes));
  return parts.join(' · ');
}

/** Where a card runs or ran, in words; nothing for this computer. */
export function elsewhere({ place = localPlace }: Pick<CardStatus, 'place'>): string[] {
  return place === localPlace ? [] : [placeName(place)];
}

/** Shape and colour of a state. Every state has a shape of its own, so colour adds nothing that is not said already. */
export const stateIcons: Readonly<Record<ShownState, { readonly name: string; readonly color?: string }>> = {
  none: { name: 'circle-large-outline' },
  queued: { name: 'clock' },
  running: { name: 'loading~spin', color: 'charts.blue' },
  done: { name: 'pass', color: 'testing.iconPassed' },
  failed: { name: 'error', color: 'testing.iconFailed' },
  cancelled: { name: 'circle-slash' },
  skipped: { name: 'debug-step-over' },
  blocked: { name: 'lock', color: 'problemsWarningIcon.foreground' },
  unknown: { name: 'question' },
  problem: { name: 'warning', color: 'problemsErrorIcon.foreground' },
};
