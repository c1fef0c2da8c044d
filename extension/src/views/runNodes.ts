import type { CardRunView, RunSummary, RunView } from '../../../protocol/src/engine.ts';
import { duration, shortTimestamp, size, timestamp } from '../figures.ts';
import { cardStateWord, labels, reasonText, runStateWord } from '../messages.ts';
import { plain } from '../plainText.ts';
import { elsewhere, stateIcons } from './cardText.ts';
import type { TreeNode } from './treeNode.ts';

/** One line for a run; its cards are asked for when it is opened. */
export function runNode(
  run: RunSummary,
  readRun: (runId: string) => Promise<RunView>,
  { isNamed, now }: { readonly isNamed: boolean; readonly now: number },
): TreeNode {
  const description = runDescription(run);
  const when = timestamp(run.startedAt);
  const label = shortTimestamp(run.startedAt, now);
  return {
    id: run.runId,
    label: isNamed ? `${label} ${plain(run.projectName)}` : label,
    description,
    tooltip: `${plain(run.projectName)}\n${when}\n${description}`,
    spoken: `${when}, ${description}`,
    icon: stateIcons[run.state === 'done' && blockedCards(run) > 0 ? 'blocked' : run.state],
    kind: run.state === 'running' ? 'run.running' : 'run',
    command: { id: 'sallyport.openRun', title: labels.openRun() },
    root: run.root,
    runId: run.runId,
    children: async () => {
      const view = await readRun(run.runId);
      return view.cards.map((card) => cardRunNode(run, card));
    },
  };
}

/** `done · 6 cards · 1 blocked · 4 from cache · 2.3 s`. */
function runDescription(run: RunSummary): string {
  const total = Object.values(run.counts).reduce((sum, count) => sum + count, 0);
  const parts = [runStateWord(run.state), labels.cards(total)];
  const blocked = blockedCards(run);
  if (blocked > 0) parts.push(labels.statusBlocked(blocked));
  if (run.cachedCards > 0) parts.push(labels.fromCache(run.cachedCards));
  if (run.finishedAt !== null) parts.push(duration(run.finishedAt - run.startedAt));
  return parts.join(' · ');
}

function blockedCards({ counts }: RunSummary): number {
  return counts['blocked'] ?? 0;
}

/** The line that loads the next page. */
export function olderNode(): TreeNode {
  const label = labels.showOlder();
  return {
    id: 'older',
    label,
    icon: { name: 'ellipsis' },
    kind: 'older',
    command: { id: 'sallyport.loadMoreRuns', title: label },
  };
}

function cardRunNode(run: RunSummary, card: CardRunView): TreeNode {
  const { status } = card;
  const parts = [cardStateWord(status.state, status.cached), ...elsewhere(status)];
  if (status.runMs !== null && status.state === 'done') parts.push(duration(status.runMs));
  if (status.outputBytes > 0) parts.push(size(status.outputBytes));
  const description = parts.join(' · ');
  return {
    id: status.cardRunId,
    label: plain(card.title),
    description,
    tooltip: [plain(card.title), description, status.reason ? reasonText(status.reason) : '']
      .filter((line) => line !== '')
      .join('\n'),
    icon: stateIcons[status.state],
    kind: 'cardRun',
    command: { id: 'sallyport.openRun', title: labels.openRun() },
    root: run.root,
    runId: run.runId,
    card: card.id,
  };
}
