import type { CardStatus } from '../../../protocol/src/engine.ts';
import { Icon } from './icon.tsx';
import { words } from './words.ts';

/** A card's state as shape and word. */
export function StateLabel({ status }: { readonly status: CardStatus | null }) {
  return (
    <span className="state">
      <Icon name={status?.state ?? 'none'} />
      {stateWord(status)}
    </span>
  );
}

export function stateWord(status: CardStatus | null): string {
  if (!status) return words.notRun;
  return status.cached && status.state === 'done'
    ? `${words.states.done} ${words.cached}`
    : words.states[status.state];
}
