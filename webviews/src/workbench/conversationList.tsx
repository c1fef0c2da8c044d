import { useCallback, useState } from 'react';
import type { ConversationSummary } from '../../../protocol/src/agent.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import { useAnswer } from '../ui/useAnswer.ts';
import { words as shared } from '../ui/words.ts';
import { QuietButton } from './quietButton.tsx';
import { tokenText, costText } from './usageText.ts';
import { useClient } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export interface ConversationListProps {
  readonly current: string | null;
  /** Changes whenever the list may have: then it is asked for again. */
  readonly recent: readonly ConversationSummary[];
  readonly onClose: () => void;
}

/** The conversations of the project: find one, open, rename or delete it. */
export function ConversationList({ current, recent, onClose }: ConversationListProps) {
  const client = useClient();
  const [query, setQuery] = useState('');
  const question = useCallback(() => client.list(query), [client, query, recent]);
  const answer = useAnswer(question);
  const found = answer.kind === 'there' ? answer.value : query === '' ? recent : [];
  return (
    <div className="list">
      <input
        className="search"
        type="search"
        autoFocus
        value={query}
        placeholder={words.search}
        aria-label={words.search}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
        }}
      />
      {answer.kind === 'failed' ? <p className="aside">{shared.failed(answer.message)}</p> : null}
      {answer.kind === 'there' && found.length === 0 ? (
        <p className="aside">{query === '' ? words.noConversations : words.noFound}</p>
      ) : null}
      <ul aria-label={words.conversations}>
        {found.map((summary) => (
          <li key={summary.id} className={summary.id === current ? 'listed listed-current' : 'listed'}>
            <button
              type="button"
              className="listed-open"
              aria-current={summary.id === current}
              onClick={() => {
                client.open(summary.id);
                onClose();
              }}
            >
              <span className="listed-title">{showHidden(summary.title) || words.untitled}</span>
              <span className="listed-about">{aboutOf(summary)}</span>
            </button>
            <QuietButton
              icon="edit"
              label={`${words.rename} ${showHidden(summary.title)}`}
              onClick={() => client.act('rename', { id: summary.id })}
            />
            <QuietButton
              icon="trash"
              label={`${words.delete} ${showHidden(summary.title)}`}
              onClick={() => client.act('delete', { id: summary.id })}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

const day = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

function aboutOf(summary: ConversationSummary): string {
  const { inputTokens, outputTokens, cost } = summary.usage;
  const parts = [
    words.states[summary.state],
    day.format(summary.updatedAt),
    words.messages(summary.items),
    inputTokens + outputTokens === 0 ? '' : words.contextOnly(tokenText(inputTokens + outputTokens)),
    cost === null ? '' : words.cost(costText(cost)),
    words.questions(summary.questions),
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
