import type { Item } from '../../../../protocol/src/agent.ts';
import type { ConversationRecords } from './conversationRecords.ts';
import type { ItemRecords } from './itemRecords.ts';
import type { Transcript } from './transcript.ts';

export interface UndoneParts {
  readonly conversations: ConversationRecords;
  readonly items: ItemRecords;
  readonly transcript: Transcript;
  /** Undefined where the history no longer knows the change. */
  readonly isUndone: (changeId: string) => boolean | undefined;
}

/** Makes the rows of these conversations say which of their changes are undone now. One that is gone is left out. */
export function showUndone(parts: UndoneParts, ids: Iterable<string>): void {
  for (const id of ids) {
    const conversation = parts.conversations.find(id);
    if (!conversation) continue;
    for (const row of parts.items.withChanges(conversation.num)) {
      const now = withFlags(row, parts.isUndone);
      if (now) parts.transcript.update(conversation, now);
    }
  }
}

/** The row with each change as it is now; undefined where nothing differs. */
function withFlags(row: Item, isUndone: UndoneParts['isUndone']): Item | undefined {
  if (row.kind !== 'tool') return undefined;
  const changes = row.changes.map((change) => ({
    ...change,
    undone: isUndone(change.changeId) ?? change.undone,
  }));
  const differs = changes.some(({ undone }, index) => undone !== row.changes[index]?.undone);
  return differs ? { ...row, changes } : undefined;
}
