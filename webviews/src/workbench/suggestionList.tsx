import { Icon, type IconName } from '../ui/icon.tsx';
import type { MentionKind } from './itemTypes.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/** One line of the list above the composer. */
export interface Choice {
  readonly key: string;
  readonly icon: IconName;
  readonly label: string;
  readonly detail: string;
  /** Read with it where the icon says more than the words. */
  readonly kind: string;
}

export const mentionIcons: Record<MentionKind, IconName> = {
  file: 'file',
  selection: 'list',
  problem: 'warning',
  card: 'graph',
  run: 'play',
  symbol: 'braces',
};

export interface SuggestionListProps {
  readonly id: string;
  readonly choices: readonly Choice[];
  readonly at: number;
  readonly onChoose: (index: number) => void;
}

/** A list box that the composer's arrow keys move through; the focus stays in the composer. */
export function SuggestionList({ id, choices, at, onChoose }: SuggestionListProps) {
  return (
    <ul className="suggestions" role="listbox" id={id} aria-label={words.suggestions}>
      {choices.map((choice, index) => (
        <li
          key={choice.key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          ref={(element) => {
            if (index === at) element?.scrollIntoView({ block: 'nearest' });
          }}
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(index);
          }}
        >
          <Icon name={choice.icon} />
          <span className="unseen">{choice.kind} </span>
          <span className="choice-label">{choice.label}</span>
          <span className="choice-detail">{choice.detail}</span>
        </li>
      ))}
    </ul>
  );
}
