import { useEffect, useState } from 'react';
import { showHidden } from '../../../protocol/src/text.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Announcements } from './announcements.tsx';
import { Composer, type Draft } from './composer.tsx';
import { ConversationList } from './conversationList.tsx';
import { ConversationView } from './conversationView.tsx';
import { EmptyView, type EmptyKind } from './emptyView.tsx';
import { modelOf } from './modelPicker.tsx';
import { QuietButton } from './quietButton.tsx';
import type { SlashCommand } from './slashCommands.ts';
import { UsageBar } from './usageBar.tsx';
import { useClient, type WorkbenchClient } from './workbenchClient.ts';
import type { WorkbenchShown, WorkbenchState } from './workbenchState.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export interface WorkbenchAppProps {
  readonly state: WorkbenchState;
  readonly initialDraft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onCompose: (text: string) => void;
  readonly onSaid: (text: string | undefined) => void;
}

/** The workbench: a conversation or what is missing for one, what waits, and where a person writes. */
export function WorkbenchApp({ state, initialDraft, onDraft, onCompose, onSaid }: WorkbenchAppProps) {
  const client = useClient();
  const [isListed, setListed] = useState(false);
  const { shown, message } = state;
  // New Conversation stands in the title of the view and of the tab.
  const fresh = shown?.items.length === 0 ? shown.conversation?.id : undefined;
  useEffect(() => setListed(false), [fresh]);
  if (!shown) {
    return (
      <main className="empty-view">
        <p role="status">{message ?? words.loading}</p>
      </main>
    );
  }
  const missing = missingOf(shown);
  const { conversation } = shown;
  const model = modelOf(shown.connections, conversation);
  return (
    <div className="workbench">
      <header className="head">
        <h1>{isListed ? words.conversations : titleOf(shown)}</h1>
        {conversation && !isListed ? (
          <span className="head-state">{words.states[conversation.state]}</span>
        ) : null}
        {shown.projectName === null ? null : (
          <QuietButton
            icon={isListed ? 'close' : 'list'}
            label={isListed ? words.closeList : words.conversations}
            onClick={() => setListed(!isListed)}
          />
        )}
      </header>
      <main className="main">
        {isListed ? (
          <ConversationList
            current={conversation?.id ?? null}
            recent={shown.recent}
            onClose={() => setListed(false)}
          />
        ) : (
          <>
            {conversation && shown.items.length > 0 ? (
              <ConversationView
                key={conversation.id}
                summary={conversation}
                items={shown.items}
                hasOlder={state.hasOlder}
                hasNewer={state.hasNewer}
              />
            ) : (
              <EmptyView kind={missing ?? 'start'} onHint={onCompose} />
            )}
            {shown.waiting > 0 ? (
              <div className="waiting">
                <Icon name="shield" />
                <span>{words.waitingBanner(shown.waiting)}</span>
                <Button kind="primary" label={words.review} onClick={() => client.act('review')} />
              </div>
            ) : null}
            {message === undefined ? null : (
              <div className="said said-warning" role="alert">
                <Icon name="warning" />
                <span>{message}</span>
                <QuietButton icon="close" label={words.dismiss} onClick={() => onSaid(undefined)} />
              </div>
            )}
            {missing === undefined || (conversation && missing === 'connect' && shown.items.length > 0) ? (
              <Composer
                shown={shown}
                composed={state.composed}
                initialDraft={initialDraft}
                takesImages={model?.images ?? true}
                onDraft={onDraft}
                onCommand={(command) => runCommand(command, client, shown)}
                onSaid={onSaid}
              />
            ) : null}
            {conversation ? <UsageBar summary={conversation} /> : null}
          </>
        )}
      </main>
      <Announcements items={shown.items} waiting={shown.waiting} />
    </div>
  );
}

function missingOf({ projectName, trusted, connections }: WorkbenchShown): EmptyKind | undefined {
  if (projectName === null) return 'noProject';
  if (!trusted) return 'untrusted';
  return connections.length === 0 ? 'connect' : undefined;
}

function titleOf({ conversation, projectName }: WorkbenchShown): string {
  if (projectName === null) return words.product;
  return showHidden(conversation?.title ?? '') || showHidden(projectName) || words.untitled;
}

function runCommand({ name }: SlashCommand, client: WorkbenchClient, shown: WorkbenchShown): void {
  const last = shown.items.findLast((item) => item.kind === 'tool' && item.changes.length > 0);
  const commands: Record<SlashCommand['name'], () => void> = {
    plan: () => client.configure({ mode: 'plan' }),
    act: () => client.configure({ mode: 'act' }),
    compact: () => client.act('compact'),
    new: () => client.create(),
    undo: () => {
      if (last) client.act('undoTurn', { seq: last.seq, value: String(last.turn) });
    },
    sent: () => client.act('showSent'),
    rules: () => client.act('rules'),
  };
  commands[name]();
}
