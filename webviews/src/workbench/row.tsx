import { memo } from 'react';
import { showHidden } from '../../../protocol/src/text.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { CopyButton } from './copyButton.tsx';
import type { AnswerItem, Item, NoticeItem, PersonItem, SummaryItem } from './itemTypes.ts';
import { MarkdownView } from './markdownView.tsx';
import { mentionKey, mentionLabel } from './mentionText.ts';
import { QuietButton } from './quietButton.tsx';
import { showProse } from './showProse.ts';
import { ToolRow } from './toolRow.tsx';
import type { TurnEnd } from './turns.ts';
import { useClient } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/** One row of a conversation, and what can be done with the turn that it ends. */
export const Row = memo(function Row({
  item,
  end,
}: {
  readonly item: Item;
  readonly end: TurnEnd | undefined;
}) {
  return (
    <div className={`row row-${item.kind}`} data-seq={item.seq}>
      <RowContent item={item} />
      {end ? <TurnActs end={end} answer={item.kind === 'answer' ? item.markdown : undefined} /> : null}
    </div>
  );
}, isSameRow);

function isSameRow(
  before: { item: Item; end: TurnEnd | undefined },
  after: { item: Item; end: TurnEnd | undefined },
): boolean {
  const [a, b] = [before.end, after.end];
  return before.item === after.item && a?.canUndo === b?.canUndo && a?.canRedo === b?.canRedo;
}

function RowContent({ item }: { readonly item: Item }) {
  switch (item.kind) {
    case 'person':
      return <PersonRow item={item} />;
    case 'answer':
      return <AnswerRow item={item} />;
    case 'tool':
      return <ToolRow item={item} />;
    case 'notice':
      return <NoticeRow item={item} />;
    case 'summary':
      return <SummaryRow item={item} />;
  }
}

function PersonRow({ item }: { readonly item: PersonItem }) {
  return (
    <div className="person">
      <span className="unseen">{words.you}: </span>
      <p dir="auto">{showProse(item.text)}</p>
      {item.mentions.length > 0 || item.images > 0 || item.isQueued ? (
        <p className="chips">
          {item.mentions.map((mention) => (
            <span className="chip" key={mentionKey(mention)}>
              {showHidden(mentionLabel(mention))}
            </span>
          ))}
          {item.images > 0 ? <span className="chip">{words.images(item.images)}</span> : null}
          {item.isQueued ? (
            <span className="queued">
              <Icon name="clock" />
              {words.queued}
            </span>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}

function AnswerRow({ item }: { readonly item: AnswerItem }) {
  const ending = words.endings[item.ending];
  return (
    <>
      <MarkdownView source={item.markdown} />
      {item.ending === 'streaming' ? (
        <p className="streaming">
          <span className="dot" aria-hidden="true" />
          {words.answering}
        </p>
      ) : null}
      {ending === '' ? null : (
        <p className="ending">
          <Icon name={item.ending === 'stopped' ? 'cancelled' : 'warning'} />
          {ending}
        </p>
      )}
    </>
  );
}

const levelIcons: Record<NoticeItem['level'], IconName> = {
  info: 'info',
  warning: 'warning',
  error: 'failed',
};

function NoticeRow({ item }: { readonly item: NoticeItem }) {
  const client = useClient();
  return (
    <div className={`said said-${item.level}`}>
      <Icon name={levelIcons[item.level]} />
      <span>
        <span className="unseen">{words.levels[item.level]}: </span>
        {showProse(item.text)}
      </span>
      {item.action ? (
        <button type="button" className="link" onClick={() => client.act('notice', { seq: item.seq })}>
          {showHidden(item.action.title)}
        </button>
      ) : null}
    </div>
  );
}

function SummaryRow({ item }: { readonly item: SummaryItem }) {
  return (
    <details className="fold">
      <summary>
        <Icon name="fold" />
        {words.summary(item.replacedItems)}
      </summary>
      <MarkdownView source={item.markdown} />
    </details>
  );
}

function TurnActs({ end, answer }: { readonly end: TurnEnd; readonly answer: string | undefined }) {
  const client = useClient();
  const about = { seq: end.seq, value: String(end.turn) };
  return (
    <div className="turn-acts" role="group">
      {end.canUndo ? (
        <QuietButton
          icon="undo"
          label={words.undoTurn}
          text={words.undoTurn}
          onClick={() => client.act('undoTurn', about)}
        />
      ) : null}
      {end.canRedo ? (
        <QuietButton
          icon="redo"
          label={words.redoTurn}
          text={words.redoTurn}
          onClick={() => client.act('redoTurn', about)}
        />
      ) : null}
      <QuietButton
        icon="fork"
        label={words.fork}
        text={words.fork}
        onClick={() => client.act('fork', about)}
      />
      {answer === undefined ? null : <CopyButton label={words.copy} text={answer} />}
    </div>
  );
}
