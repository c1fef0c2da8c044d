import type { EngineState } from '../engineClient.ts';
import type { CommandId } from '../commandIds.ts';
import { labels } from '../messages.ts';
import { runningRuns, type ProjectState } from '../project/projectState.ts';
import { shownState } from './cardText.ts';

/** What the status bar shows; undefined hides it. */
export interface Status {
  readonly text: string;
  readonly tooltip: string;
  readonly spoken: string;
  readonly command: CommandId;
  readonly isAlarm: boolean;
}

/** The most urgent thing to know: stopped, running, failed, errors, blocked, done, idle. */
export function statusText(state: ProjectState, engine: EngineState, isTrusted: boolean): Status | undefined {
  if (engine === 'gave-up')
    return status(
      '$(error)',
      labels.statusStopped(),
      labels.statusStoppedTooltip(),
      'sallyport.restartEngine',
      true,
    );
  if (state.projects.length === 0) return undefined;
  const name = state.projects.map((project) => project.name).join(', ');
  const tooltip = labels.statusTooltip(name);
  if (!isTrusted) return status('$(shield)', labels.statusRestricted(), tooltip, 'sallyport.openCanvas');
  const running = runningRuns(state);
  if (running.length > 0) {
    const { done, total } = progressOf(running.map((run) => run.counts));
    return status('$(sync~spin)', labels.statusRunning(done, total), tooltip, 'sallyport.openCanvas');
  }
  const cards = state.projects.flatMap((project) => project.cards);
  const count = (wanted: string) => cards.filter((card) => shownState(card) === wanted).length;
  const failed = count('failed');
  if (failed > 0) return status('$(error)', labels.statusFailed(failed), tooltip, 'sallyport.openCanvas');
  const problems = count('problem');
  if (problems > 0)
    return status('$(warning)', labels.statusProblems(problems), tooltip, 'sallyport.openCanvas');
  const blocked = count('blocked');
  if (blocked > 0)
    return status(
      '$(lock)',
      labels.statusBlocked(blocked),
      labels.statusReviewTooltip(name),
      'sallyport.reviewPermissions',
    );
  const done = count('done');
  if (done > 0) return status('$(pass)', labels.statusDone(done), tooltip, 'sallyport.openCanvas');
  return status('$(shield)', labels.statusIdle(), tooltip, 'sallyport.openCanvas');
}

/** Cards that have ended and cards in all, over the counts of some runs. */
export function progressOf(counts: readonly Readonly<Record<string, number>>[]): {
  done: number;
  total: number;
} {
  let done = 0;
  let total = 0;
  for (const [state, count] of counts.flatMap((each) => Object.entries(each))) {
    total += count;
    if (state !== 'queued' && state !== 'running') done += count;
  }
  return { done, total };
}

function status(icon: string, text: string, tooltip: string, command: CommandId, isAlarm = false): Status {
  const words = text.startsWith('Sallyport') ? text : `Sallyport: ${text}`;
  return { text: `${icon} ${text}`, tooltip: `${words}\n${tooltip}`, spoken: words, command, isAlarm };
}
