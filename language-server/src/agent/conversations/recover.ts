import * as z from 'zod/mini';
import type { Item } from '../../../../protocol/src/agent.ts';
import type { Receipt } from '../../../../protocol/src/gate.ts';
import { parseAs } from '../../../../protocol/src/parseJson.ts';
import type { Database } from '../../store/database.ts';
import type { ConversationRecords, StoredConversation } from './conversationRecords.ts';
import type { ItemRecords, StoredItem } from './itemRecords.ts';
import type { Wire } from './wire.ts';

export interface RecoverParts {
  readonly database: Database;
  readonly conversations: ConversationRecords;
  readonly items: ItemRecords;
  readonly receipt: (opId: string) => Receipt | null;
  readonly now: () => number;
}

/**
 * Ends what an engine that is gone left in the middle of conversations: the answer that came is kept and called
 * stopped, and of each call its receipt says what was done. Nothing is done again. Returns the number of conversations.
 */
export function recoverConversations(parts: RecoverParts, isAlive: (engine: string) => boolean): number {
  const lost = parts.conversations.taken().filter(({ engine }) => engine !== null && !isAlive(engine));
  for (const conversation of lost) {
    parts.database.transaction(() => {
      recoverOne(
        parts,
        conversation,
        'Sallyport ended in the middle of this. What was done is shown; nothing was done twice. Send a message to go on.',
      );
    });
  }
  return lost.length;
}

function recoverOne(parts: RecoverParts, conversation: StoredConversation, text: string): void {
  const { conversations, items, receipt, now } = parts;
  for (const item of items.unfinished(conversation.num)) {
    const { row, wire } = endItem(item, receipt);
    items.update(conversation.num, row, wire);
  }
  const seq = conversations.nextSeq(conversation.id, now());
  const notice = {
    kind: 'notice',
    seq,
    turn: conversation.lastTurn,
    level: 'warning',
    text,
    action: null,
    at: now(),
  } as const;
  items.add(conversation.num, { row: notice, wire: { kind: 'notice' }, step: seq });
  conversations.setState(conversation.id, 'idle', null);
}

/** How a row that was left in the middle ended, as far as is known. */
function endItem(
  { row, wire }: StoredItem,
  receiptOf: (opId: string) => Receipt | null,
): { row: Item; wire: Wire } {
  if (row.kind === 'answer') return { row: { ...row, ending: 'stopped' }, wire };
  if (row.kind !== 'tool' || wire.kind !== 'tool') return { row, wire };
  const receipt = row.opId === '' ? null : receiptOf(row.opId);
  const ended = (state: typeof row.state, text: string, isError: boolean) => ({
    row: {
      ...row,
      state,
      detail: `${row.detail}\n\n${text}`,
      waitMs: receipt?.waitMs ?? 0,
      runMs: receipt?.runMs ?? 0,
    },
    wire: { ...wire, result: text, isError },
  });
  if (!receipt) return ended('refused', 'Not run: Sallyport ended before this call began.', true);
  switch (receipt.state) {
    case 'done': {
      const output = parseOutput(receipt.result);
      return ended(output.isError ? 'failed' : 'done', output.text, output.isError);
    }
    case 'failed':
      return ended('failed', messageOf(receipt.result) ?? 'It failed.', true);
    case 'refused':
    case 'waiting':
      return ended('refused', `Not done: ${messageOf(receipt.result) ?? 'it was refused'}.`, true);
    case 'running':
    case 'unknown':
      return ended(
        'unknown',
        'Unknown: Sallyport ended while this ran. It may have been done in part; look before doing it again.',
        true,
      );
  }
}

const keptOutput = z.object({ text: z.string(), isError: z.optional(z.boolean()) });
const keptReason = z.union([z.object({ message: z.string() }), z.object({ reason: z.string() })]);

function parseOutput(json: string | null): { text: string; isError: boolean } {
  const kept = parseAs(keptOutput, json ?? '');
  return kept
    ? { text: kept.text, isError: kept.isError ?? false }
    : { text: 'Done; its output was not kept.', isError: false };
}

function messageOf(json: string | null): string | undefined {
  const kept = parseAs(keptReason, json ?? '');
  return kept && ('message' in kept ? kept.message : kept.reason);
}
