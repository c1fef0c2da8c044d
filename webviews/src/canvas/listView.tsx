import { memo } from 'react';
import type { CardView } from '../../../protocol/src/engine.ts';
import { StateLabel } from '../ui/stateLabel.tsx';
import { words } from '../ui/words.ts';
import { cardFigures, permissionTexts, shownState } from './cardText.ts';

export interface ListViewProps {
  readonly name: string;
  readonly cards: readonly CardView[];
  readonly onOpen: (id: string, at: HTMLElement) => void;
}

/** The graph as a table: everything that the picture says, in words. */
export function ListView({ name, cards, onOpen }: ListViewProps) {
  const { columns } = words;
  return (
    <section className="list" aria-label={words.listLabel(name)} tabIndex={0}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{columns.card}</th>
            <th scope="col">{columns.runtime}</th>
            <th scope="col">{columns.state}</th>
            <th scope="col">{`${columns.time} · ${columns.size}`}</th>
            <th scope="col">{columns.after}</th>
            <th scope="col">{columns.permissions}</th>
          </tr>
        </thead>
        <tbody>
          {cards.map((card) => (
            <Row key={card.id} card={card} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const Row = memo(function Row({ card, onOpen }: Pick<ListViewProps, 'onOpen'> & { readonly card: CardView }) {
  const inputs = card.inputs.filter((input) => input.from !== undefined);
  return (
    <tr>
      <th scope="row" className="list-card">
        <button
          type="button"
          className="link"
          aria-haspopup="menu"
          aria-label={words.cardMenu(card.title)}
          onClick={(event) => onOpen(card.id, event.currentTarget)}
        >
          {card.title}
        </button>
      </th>
      <td>{card.runtime}</td>
      <td>
        <StateLabel shown={shownState(card)} />
      </td>
      <td className="nowrap">{cardFigures(card)}</td>
      <td>{inputs.map((input) => `${input.from ?? ''} (${input.type})`).join(', ')}</td>
      <td>{card.permissions.length === 0 ? words.sealed : permissionTexts(card).join('; ')}</td>
    </tr>
  );
});
