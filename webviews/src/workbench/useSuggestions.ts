import { useEffect, useState } from 'react';
import { showHidden } from '../../../protocol/src/text.ts';
import { mentionAt } from './mentionText.ts';
import { matchingCommands, type SlashCommand } from './slashCommands.ts';
import { mentionIcons, type Choice } from './suggestionList.tsx';
import { useClient, type Suggestion } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/** What can be chosen for the word at the caret. */
export interface Suggestions {
  readonly choices: readonly Choice[];
  /** What the choice at this place is; undefined past the end. */
  readonly pick: (index: number) => SlashCommand | Suggestion | undefined;
}

const none: Suggestions = { choices: [], pick: () => undefined };
const pauseMs = 80;

/** Suggests commands for `/…` and, after a short pause, what the engine finds for `@…`. */
export function useSuggestions(text: string, caret: number): Suggestions {
  const client = useClient();
  const commands = matchingCommands(text);
  const query = commands ? undefined : mentionAt(text, caret)?.query;
  const [found, setFound] = useState<{ query: string; list: readonly Suggestion[] }>();
  useEffect(() => {
    if (query === undefined) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      client.suggest(query).then(
        (list) => {
          if (isCurrent) setFound({ query, list });
        },
        // Nothing to suggest is shown as nothing; the client has said what went wrong.
        () => undefined,
      );
    }, pauseMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, client]);
  if (commands) {
    return {
      choices: commands.map(({ name, detail }) => ({
        key: name,
        icon: 'chevronRight',
        label: `/${name}`,
        detail,
        kind: '',
      })),
      pick: (index) => commands[index],
    };
  }
  // What was found for a shorter word stays until the longer one is answered, so that the list does not flicker.
  if (query === undefined || !found || !query.startsWith(found.query.slice(0, 1))) return none;
  return {
    choices: found.list.map(({ mention, label, detail }) => ({
      key: JSON.stringify(mention),
      icon: mentionIcons[mention.kind],
      label: showHidden(label),
      detail: showHidden(detail),
      kind: words.mentionKinds[mention.kind],
    })),
    pick: (index) => found.list[index],
  };
}
