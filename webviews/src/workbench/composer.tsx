import {
  useEffect,
  useId,
  useRef,
  useState,
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
} from 'react';
import type { Mention } from '../../../protocol/src/agent.ts';
import { Icon } from '../ui/icon.tsx';
import { ComposerBar } from './composerBar.tsx';
import { ComposerChips } from './composerChips.tsx';
import { mentionAt, mentionKey } from './mentionText.ts';
import { slashCommandOf, type SlashCommand } from './slashCommands.ts';
import { SuggestionList } from './suggestionList.tsx';
import { useImages } from './useImages.ts';
import { useSuggestions } from './useSuggestions.ts';
import { useClient, type Suggestion } from './workbenchClient.ts';
import type { Composed, WorkbenchShown } from './workbenchState.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/** What is typed and not yet sent. It outlives the page. */
export interface Draft {
  readonly text: string;
  readonly mentions: readonly Mention[];
}

export interface ComposerProps {
  readonly shown: WorkbenchShown;
  readonly composed: Composed | undefined;
  readonly initialDraft: Draft;
  readonly takesImages: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onCommand: (command: SlashCommand) => void;
  readonly onSaid: (text: string | undefined) => void;
}

/** Where a person writes: Enter sends, Shift+Enter breaks the line, `@` mentions, `/` commands, pictures by paste. */
export function Composer(props: ComposerProps) {
  const { shown, composed, initialDraft, takesImages, onDraft, onCommand, onSaid } = props;
  const client = useClient();
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const [draft, setDraft] = useState(initialDraft);
  const [caret, setCaret] = useState(initialDraft.text.length);
  const [at, setAt] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const [isSending, setSending] = useState(false);
  const images = useImages(takesImages, onSaid);
  const { choices, pick } = useSuggestions(draft.text, caret);
  const isOpen = choices.length > 0 && !isClosed;
  const selected = Math.min(at, choices.length - 1);
  const change = (next: Draft) => {
    setDraft(next);
    onDraft(next);
  };
  useEffect(() => {
    if (!composed) return;
    const text = draft.text.trim() === '' ? composed.text : `${draft.text.trimEnd()}\n${composed.text}`;
    change({ text, mentions: withMentions(draft.mentions, composed.mentions) });
    area.current?.focus();
    // Only what comes from outside is put in, once; later drafts are a person's.
  }, [composed?.stamp]);
  useEffect(() => {
    const { current } = area;
    if (current && document.activeElement === current) current.setSelectionRange(caret, caret);
  }, [draft.text]);

  const choose = (choice: SlashCommand | Suggestion | undefined) => {
    if (!choice) return;
    setAt(0);
    if ('name' in choice) {
      change({ ...draft, text: '' });
      onCommand(choice);
      return;
    }
    const typed = mentionAt(draft.text, caret);
    const from = typed?.from ?? caret;
    const text = `${draft.text.slice(0, from)}${draft.text.slice(caret).trimStart()}`;
    setCaret(from);
    change({ text, mentions: withMentions(draft.mentions, [choice.mention]) });
  };
  const send = () => {
    const command = slashCommandOf(draft.text);
    if (command) {
      choose(command);
      return;
    }
    const text = draft.text.trim();
    if (isSending || (text === '' && images.held.length === 0)) return;
    setSending(true);
    // Whoever goes on has read what was said.
    onSaid(undefined);
    client
      .send({
        text,
        mentions: [...draft.mentions],
        images: images.held.map(({ mediaType, base64 }) => ({ mediaType, base64 })),
      })
      .then(
        () => {
          setCaret(0);
          change({ text: '', mentions: [] });
          images.clear();
        },
        () => undefined,
      )
      .finally(() => setSending(false));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter and the arrow keys are its own.
    if (event.nativeEvent.isComposing) return;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (isOpen && move !== undefined) setAt((selected + move + choices.length) % choices.length);
    else if (isOpen && (event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey)
      choose(pick(selected));
    else if (isOpen && event.key === 'Escape') setClosed(true);
    else if (event.key === 'Enter' && !event.shiftKey) send();
    else return;
    event.preventDefault();
  };
  const take = (event: ClipboardEvent | DragEvent, files: FileList) => {
    if (files.length === 0) return;
    event.preventDefault();
    images.add(files);
  };
  const state = shown.conversation?.state ?? 'idle';
  const isBusy = state === 'answering' || state === 'waiting';
  return (
    <div className="composer">
      {isOpen ? (
        <SuggestionList
          id={listId}
          choices={choices}
          at={selected}
          onChoose={(index) => choose(pick(index))}
        />
      ) : null}
      <div className="unseen" role="status">
        {isOpen ? words.suggested(choices.length) : ''}
      </div>
      <div
        className="composer-box"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => take(event, event.dataTransfer.files)}
      >
        <ComposerChips
          mentions={draft.mentions}
          images={images.held}
          onRemoveMention={(key) =>
            change({ ...draft, mentions: draft.mentions.filter((each) => mentionKey(each) !== key) })
          }
          onRemoveImage={images.remove}
        />
        <textarea
          ref={area}
          rows={2}
          value={draft.text}
          placeholder={`${words.placeholder[shown.conversation?.mode ?? 'act']}. ${words.composerHint}`}
          aria-label={words.message}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={isOpen ? listId : undefined}
          aria-activedescendant={isOpen ? `${listId}-${selected}` : undefined}
          onChange={(event) => {
            setCaret(event.target.selectionStart);
            setClosed(false);
            setAt(0);
            change({ ...draft, text: event.target.value });
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={(event) => take(event, event.clipboardData.files)}
        />
        <ComposerBar
          connections={shown.connections}
          summary={shown.conversation}
          onFiles={images.add}
          end={
            <>
              {isBusy ? (
                <button
                  type="button"
                  className="round stop"
                  aria-label={words.stop}
                  title={words.stop}
                  onClick={client.stop}
                >
                  <Icon name="stop" />
                </button>
              ) : null}
              <button
                type="button"
                className="round"
                aria-label={isBusy ? words.queue : words.send}
                title={isBusy ? words.queue : words.send}
                aria-disabled={isSending || (draft.text.trim() === '' && images.held.length === 0)}
                onClick={send}
              >
                <Icon name="send" />
              </button>
            </>
          }
        />
      </div>
    </div>
  );
}

function withMentions(held: readonly Mention[], added: readonly Mention[]): Mention[] {
  const keys = new Set(held.map(mentionKey));
  return [...held, ...added.filter((each) => !keys.has(mentionKey(each)))];
}
