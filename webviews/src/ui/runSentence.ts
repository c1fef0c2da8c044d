import type { RunSummary } from '../../../protocol/src/engine.ts';
import { words } from './words.ts';

/** `Done: 5 done, 1 blocked`. */
export function runSentence(run: RunSummary): string {
  const counts = Object.entries(run.counts)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${wordOf(state).toLowerCase()}`);
  return words.runSummary(words.runStates[run.state], counts.join(', '));
}

function wordOf(state: string): string {
  return Object.hasOwn(words.states, state) ? words.states[state as keyof typeof words.states] : state;
}
