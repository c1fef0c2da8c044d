import type { CardRunView, RunSummary } from '../../../protocol/src/engine.ts';
import { notices, type Notice } from '../messages.ts';

/** What a person is told when their run ends: nothing on success or after a cancel, else the most urgent thing. */
export function endNotice(run: RunSummary, cards: readonly CardRunView[]): Notice | undefined {
  const titles = (state: string) =>
    cards.filter((card) => card.status.state === state).map((card) => card.title);
  if (run.state === 'cancelled') return undefined;
  const failed = titles('failed');
  if (failed.length > 0) return notices.runFailed(run.runId, failed);
  if (run.state === 'unknown' || titles('unknown').length > 0) return notices.runUnknown(run.runId);
  const blocked = titles('blocked');
  return blocked.length > 0 ? notices.runBlocked(run.root, blocked) : undefined;
}
