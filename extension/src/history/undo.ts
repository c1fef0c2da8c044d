import { QuickPickItemKind, ThemeIcon, window, type QuickPickItem } from 'vscode';
import type { UndoStep } from '../../../protocol/src/agent.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { agentNotices, timelineWords } from '../agentMessages.ts';
import type { Engine } from '../engine.ts';
import type { Notifier } from '../notifier.ts';
import { plain } from '../plainText.ts';

export type Direction = 'undo' | 'redo';

/** Which changes: a whole turn, or some. */
export type Selection = { readonly group: string } | { readonly changeIds: readonly string[] };

interface StepItem extends QuickPickItem {
  readonly act?: 'apply' | 'apply-rest';
}

/**
 * Undo and redo: shows what would happen to each file, then does exactly that. Files that were changed since, or are open
 * with unsaved changes, are shown and left alone.
 */
export class Undo {
  readonly #engine: Engine;
  readonly #notifier: Notifier;

  constructor(engine: Engine, notifier: Notifier) {
    this.#engine = engine;
    this.#notifier = notifier;
  }

  /** Resolves when it is done or the person turned away. */
  async run(root: string, direction: Direction, selection: Selection): Promise<void> {
    let wanted = 'group' in selection ? selection : { changeIds: [...selection.changeIds] };
    for (;;) {
      const params = { root, direction, ...wanted };
      const { planDigest, steps } = await this.#engine.call('history/preview', params);
      const free = steps.filter((step) => step.conflict === null && step.action !== 'nothing');
      if (free.length === 0 && steps.every((step) => step.conflict === null)) {
        this.#notifier.show(agentNotices.nothingToUndo(direction));
        return;
      }
      const act = await pickSteps(direction, steps, free.length);
      if (act === undefined) return;
      if (act === 'apply-rest') {
        wanted = { changeIds: free.map(({ changeId }) => changeId) };
        continue;
      }
      try {
        const { applied } = await this.#engine.call('history/apply', { ...params, planDigest });
        this.#notifier.show(agentNotices.undone(direction, applied));
        return;
      } catch (error) {
        if (!(error instanceof UserError) || error.code !== 'conflict') throw error;
        this.#notifier.show(agentNotices.planChanged());
      }
    }
  }
}

/** The lines of a preview. Where something is in the way, the rest can be taken alone, after it is shown again. */
function stepItems(direction: Direction, steps: readonly UndoStep[], free: number): StepItem[] {
  const conflicts = steps.filter((step) => step.conflict !== null);
  const answer: StepItem[] =
    conflicts.length === 0
      ? [{ label: timelineWords.apply(direction, free), iconPath: new ThemeIcon('check'), act: 'apply' }]
      : free > 0
        ? [{ label: timelineWords.applyRest(free), iconPath: new ThemeIcon('checklist'), act: 'apply-rest' }]
        : [];
  return [
    ...conflicts.map((step): StepItem => ({
      label: plain(step.path),
      description: timelineWords.conflict(step.conflict),
      iconPath: new ThemeIcon('warning'),
    })),
    ...steps
      .filter((step) => step.conflict === null)
      .map((step): StepItem => ({ label: plain(step.path), description: timelineWords.action(step.action) })),
    { label: '', kind: QuickPickItemKind.Separator },
    ...answer,
  ];
}

async function pickSteps(
  direction: Direction,
  steps: readonly UndoStep[],
  free: number,
): Promise<StepItem['act']> {
  const pick = window.createQuickPick<StepItem>();
  pick.title = timelineWords.previewTitle(direction, steps.length);
  pick.placeholder = timelineWords.previewPlaceholder();
  pick.items = stepItems(direction, steps, free);
  pick.activeItems = pick.items.filter((item) => item.act !== undefined);
  pick.ignoreFocusOut = true;
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      const act = pick.selectedItems[0]?.act;
      if (act === undefined) return;
      resolve(act);
      pick.dispose();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}
