import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import type { CardRunView } from '../../../protocol/src/engine.ts';
import { Button } from '../ui/button.tsx';
import { byteSize, duration } from '../ui/figures.ts';
import { Icon } from '../ui/icon.tsx';
import { Announcer, LiveRegion } from '../ui/liveRegion.tsx';
import { runSentence } from '../ui/runSentence.ts';
import { StateLabel } from '../ui/stateLabel.tsx';
import { words } from '../ui/words.ts';
import { CardDetail } from './cardDetail.tsx';
import type { RunClient } from './runClient.ts';
import type { RunViewState } from './runState.ts';

export interface RunAppProps {
  readonly state: RunViewState;
  readonly client: RunClient;
  readonly onSelect: (card: string) => void;
}

/** The run view: its cards on the left, one of them on the right. */
export function RunApp({ state, client, onSelect }: RunAppProps) {
  const { run, cards, selected, message } = state;
  if (!run) {
    return (
      <main className="empty">
        <Icon name="list" />
        <h1>{message ?? words.loadingRun}</h1>
        {message === undefined ? null : <p className="hint">{words.noRunHint}</p>}
      </main>
    );
  }
  const card = cards.find(({ id }) => id === selected);
  return (
    <div className="app">
      <header className="toolbar">
        <h1>{run.projectName}</h1>
        <span className="summary">{runSentence(run)}</span>
        {run.state === 'running' ? (
          <Button kind="primary" icon="stop" label={words.cancel} onClick={() => quietly(client.cancel())} />
        ) : (
          <Button kind="primary" icon="play" label={words.runAgain} onClick={() => quietly(client.again())} />
        )}
        <Button icon="globe" label={words.egressLog} onClick={() => quietly(client.openEgressLog())} />
      </header>
      <div className="split">
        <CardList cards={cards} selected={selected} onSelect={onSelect} />
        {card ? (
          <CardDetail key={card.id} card={card} client={client} />
        ) : (
          <main className="empty">
            <p>{words.noRun}</p>
          </main>
        )}
      </div>
      <Announcements cards={cards} />
    </div>
  );
}

interface CardListProps {
  readonly cards: readonly CardRunView[];
  readonly selected: string | undefined;
  readonly onSelect: (card: string) => void;
}

/** A listbox: one option is in the tab order, arrow keys select. */
function CardList({ cards, selected, onSelect }: CardListProps) {
  const list = useRef<HTMLUListElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = cards.findIndex(({ id }) => id === selected);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: cards.length - 1 }[event.key];
    const card = to === undefined ? undefined : cards[to];
    if (!card) return;
    event.preventDefault();
    onSelect(card.id);
    list.current?.querySelectorAll<HTMLElement>('[role=option]')[to ?? 0]?.focus();
  };
  return (
    <nav className="cards" aria-label={words.cardsOfRun}>
      <ul role="listbox" aria-label={words.cardsOfRun} ref={list} onKeyDown={onKeyDown}>
        {cards.map((card) => (
          <li
            key={card.id}
            role="option"
            aria-selected={card.id === selected}
            tabIndex={card.id === selected ? 0 : -1}
            onClick={() => onSelect(card.id)}
          >
            <span className="cards-title">{card.title}</span>
            <span className="cards-line">
              <StateLabel shown={card.status} />
              <span className="muted">{figures(card)}</span>
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function figures({ status }: CardRunView): string {
  const parts = [];
  if (status.runMs !== null && !status.cached) parts.push(duration(status.runMs));
  if (status.outputBytes > 0) parts.push(byteSize(status.outputBytes));
  return parts.join(' · ');
}

function Announcements({ cards }: { readonly cards: readonly CardRunView[] }) {
  const [announcer] = useState(
    () =>
      new Announcer(1500, (sentences) =>
        sentences.length <= 4 ? sentences.join('. ') : words.manyChanged(sentences.length),
      ),
  );
  const before = useRef(cards);
  useEffect(() => {
    const known = new Map(before.current.map((card) => [card.id, card.status.state]));
    before.current = cards;
    announcer.announce(
      ...cards
        .filter((card) => known.has(card.id) && known.get(card.id) !== card.status.state)
        .map((card) => words.stateChanged(card.title, words.states[card.status.state])),
    );
  }, [cards, announcer]);
  return <LiveRegion announcer={announcer} />;
}

/** The extension shows what it refuses itself. */
function quietly(answer: Promise<unknown>): void {
  answer.catch(() => undefined);
}
