import { window } from 'vscode';
import * as z from 'zod/mini';
import { agentNotices, sentWords } from '../agentMessages.ts';
import { parseTarget } from '../commandTarget.ts';
import type { Disposable } from '../disposable.ts';
import { sentReport, type SentRequest } from '../documents/sentReport.ts';
import { timestamp } from '../figures.ts';
import { plain } from '../plainText.ts';
import type { Services } from '../services.ts';

const named = z.object({ conversation: z.string() });
const shownRequests = 200;

/** Show What Was Sent: every request of a conversation to its provider. */
export function registerSentCommands({ commands, engine, notifier, picker, reports }: Services): Disposable {
  /** The conversation that was named, else the one that is chosen. */
  const conversationOf = async (args: unknown[]): Promise<{ id: string; title: string } | undefined> => {
    const parsed = z.safeParse(named, args[0]);
    if (parsed.success) {
      const { summary } = await engine.call('conversation/read', { id: parsed.data.conversation, limit: 1 });
      return summary;
    }
    const { root, name } = await picker.project(parseTarget(args));
    const { conversations } = await engine.call('conversation/list', { root, limit: 200 });
    if (conversations.length === 0) {
      notifier.show(agentNotices.noConversations(name));
      return undefined;
    }
    const items = conversations.map((conversation) => ({
      label: plain(conversation.title),
      description: timestamp(conversation.updatedAt),
      conversation,
    }));
    return (await window.showQuickPick(items, { placeHolder: sentWords.choose() }))?.conversation;
  };

  return commands.register('sallyport.showSent', async (...args) => {
    const conversation = await conversationOf(args);
    if (!conversation) return;
    const requests: SentRequest[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.call('conversation/sent', {
        id: conversation.id,
        limit: 20,
        ...(cursor !== undefined && { cursor }),
      });
      requests.push(...page.requests);
      cursor = page.cursor;
    } while (cursor !== undefined && requests.length < shownRequests);
    const report = sentReport(conversation.title, requests, cursor !== undefined);
    await reports.show(report.title, report.text);
  });
}
