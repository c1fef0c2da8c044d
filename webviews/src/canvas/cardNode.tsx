import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { memo, useEffect, useRef } from 'react';
import type { CardView } from '../../../protocol/src/engine.ts';
import { Icon } from '../ui/icon.tsx';
import { StateLabel } from '../ui/stateLabel.tsx';
import { words } from '../ui/words.ts';
import { acceptedText, cardFigures, shownPermission, shownState } from './cardText.ts';

export type CardNode = Node<
  {
    readonly card: CardView;
    /** What the picture says without words, for screen readers. */
    readonly aside: string;
    /** This card takes part in the tab order; the others are reached with the arrow keys. */
    readonly isCurrent: boolean;
    /** Takes the focus when it becomes current. */
    readonly takesFocus: boolean;
    readonly onOpen: (id: string, at: HTMLElement) => void;
    readonly onEnter: (id: string) => void;
  },
  'card'
>;

/** One card of the graph: a button that opens its menu. */
export const CardNodeView = memo(function CardNodeView({ data }: NodeProps<CardNode>) {
  const { card, aside, isCurrent, takesFocus, onOpen, onEnter } = data;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isCurrent && takesFocus) button.current?.focus({ preventScroll: true });
  }, [isCurrent, takesFocus]);
  const progress = card.status?.state === 'running' ? card.status.progress : null;
  const figures = cardFigures(card);
  const shown = shownState(card);
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        ref={button}
        type="button"
        className={`card card-${shown.state}`}
        data-card={card.id}
        tabIndex={isCurrent ? 0 : -1}
        aria-haspopup="menu"
        onFocus={() => onEnter(card.id)}
        onClick={(event) => onOpen(card.id, event.currentTarget)}
      >
        <span className="card-head">
          <span className="card-title" title={card.description || card.title}>
            {card.title}
          </span>
          <span className="card-runtime">{card.runtime}</span>
        </span>
        <span className="card-line">
          <StateLabel shown={shown} />
          <span className="card-figures" title={figures}>
            {figures}
          </span>
        </span>
        {progress ? <Progress fraction={progress.fraction} text={progress.text} /> : <Badges card={card} />}
        <span className="unseen">{aside}</span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
});

function Progress({ fraction, text }: { readonly fraction: number; readonly text: string }) {
  const percent = Math.round(Math.min(Math.max(fraction, 0), 1) * 100);
  return (
    <span className="card-progress">
      <span className="card-progress-track">
        <span className="card-progress-bar" style={{ width: `${percent}%` }} />
      </span>
      <span className="card-progress-text">{text === '' ? `${percent} %` : `${percent} % ${text}`}</span>
    </span>
  );
}

/** What the card may reach, in words; the first that needs a person, then how many more. */
function Badges({ card }: { readonly card: CardView }) {
  if (card.problems > 0) {
    return (
      <span className="card-badges">
        <span className="badge badge-new">
          <Icon name="warning" />
          {words.problems(card.problems)}
        </span>
      </span>
    );
  }
  if (card.permissions.length === 0) return <span className="card-badges card-sealed">{words.sealed}</span>;
  const shown = shownPermission(card);
  const isAsked = shown?.accepted === false;
  return (
    <span className="card-badges" title={card.permissions.map(({ sentence }) => sentence).join('\n')}>
      <span className={isAsked ? 'badge badge-text badge-new' : 'badge badge-text'}>
        {isAsked ? `${words.needsReview}: ${shown.sentence}` : shown && acceptedText(shown)}
      </span>
      {card.permissions.length > 1 ? <span className="badge">+{card.permissions.length - 1}</span> : null}
    </span>
  );
}
