import type { ResultOf } from '../../../protocol/src/contract.ts';
import type { agentRequests } from '../../../protocol/src/agent.ts';
import { showHiddenLines } from '../../../protocol/src/text.ts';
import { sentWords } from '../agentMessages.ts';
import { size, timestamp } from '../figures.ts';
import { plain } from '../plainText.ts';
import type { Report } from './reportTexts.ts';

export type SentRequest = ResultOf<(typeof agentRequests)['conversation/sent']>['requests'][number];

/** Each request of a conversation as it was sent to its provider. The key is no part of what is kept. */
export function sentReport(conversation: string, requests: readonly SentRequest[], isCut: boolean): Report {
  const title = sentWords.title(plain(conversation));
  const parts = requests.map((request) => {
    const head = sentWords.head(
      timestamp(request.at),
      plain(request.connection),
      plain(request.path),
      request.status,
      size(request.receivedBytes),
    );
    return `${head}\n${'-'.repeat(60)}\n${showHiddenLines(pretty(request.body))}`;
  });
  if (parts.length === 0) parts.push(sentWords.nothing());
  if (isCut) parts.push(sentWords.cut(requests.length));
  return { title, text: `${title}\n${'='.repeat(title.length)}\n\n${parts.join('\n\n')}\n` };
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
