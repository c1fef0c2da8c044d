import type { CardState } from '../../../protocol/src/engine.ts';
import { Icon } from './icon.tsx';
import { words } from './words.ts';

/** What is shown of a card: the state of a run, or that there is none. */
export interface ShownState {
  readonly state: CardState | 'none';
  readonly cached: boolean;
}

/** A card's state as shape and word. */
export function StateLabel({ shown }: { readonly shown: ShownState }) {
  return (
    <span className="state">
      <Icon name={shown.state} />
      {stateWord(shown)}
    </span>
  );
}

export function stateWord({ state, cached }: ShownState): string {
  if (state === 'none') return words.notRun;
  return cached && state === 'done' ? `${words.states.done} ${words.cached}` : words.states[state];
}
