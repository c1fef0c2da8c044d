import type { RunSummary } from '../../../protocol/src/engine.ts';
import { words } from './words.ts';

/** `Done: 5 done, 1 blocked`, the run's own state first; `Done: all 6 cards` where each card ended as the run did. */
export function runSentence(run: RunSummary): string {
  const counts = Object.entries(run.counts)
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => Number(b === run.state) - Number(a === run.state));
  const [only] = counts;
  const text =
    counts.length === 1 && only?.[0] === run.state && run.state !== 'running'
      ? words.allCards(only[1])
      : counts.map(([state, count]) => `${count} ${wordOf(state).toLowerCase()}`).join(', ');
  return words.runSummary(words.runStates[run.state], text);
}

function wordOf(state: string): string {
  return Object.hasOwn(words.states, state) ? words.states[state as keyof typeof words.states] : state;
}
