import { window } from 'vscode';
import type { RunSummary } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { timestamp } from '../figures.ts';
import { choose } from '../messages.ts';
import { plain } from '../plainText.ts';

/** The one run that is under way, or the one chosen of several. Undefined where none is; throws `cancelled`. */
export async function pickRunning(running: readonly RunSummary[]): Promise<RunSummary | undefined> {
  if (running.length < 2) return running[0];
  const items = running.map((run) => ({
    label: plain(run.projectName),
    description: timestamp(run.startedAt),
    run,
  }));
  const chosen = await window.showQuickPick(items, { placeHolder: choose.run() });
  if (!chosen) throw new UserError('cancelled', 'No run was chosen');
  return chosen.run;
}
