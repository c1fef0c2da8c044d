import { workspace } from 'vscode';
import type { ProjectView, RunSummary } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { parseTarget, type CommandTarget } from '../commandTarget.ts';
import { together, type Disposable } from '../disposable.ts';
import { dryRunReport } from '../documents/reportTexts.ts';
import { notices } from '../messages.ts';
import { pickRunning } from '../runs/pickRunning.ts';
import type { Services } from '../services.ts';

/** Run Project, Run Card, Run Without Cache, Dry Run, Cancel Run. */
export function registerRunCommands(services: Services): Disposable {
  const { commands, engine, notifier, picker, projects, reports, runs, selection } = services;

  /** Trust is asked for before anything else: without it no question makes sense. */
  const trustedProject = async (target: CommandTarget): Promise<ProjectView> => {
    const project = await picker.project(target);
    if (!workspace.isTrusted) throw new UserError('not-trusted', 'The workspace is not trusted');
    return project;
  };
  const runCard = async (target: CommandTarget, ignoreCache: boolean): Promise<void> => {
    const project = await trustedProject(target);
    const card = await picker.card(project, target);
    if (card) await runs.start(project, { cards: [card.id], ignoreCache });
    else if (target.card !== undefined) notifier.show(notices.unknownCard(target.card));
    else notifier.show(notices.noCards(project.name));
  };
  const runAll = async (target: CommandTarget, ignoreCache: boolean): Promise<void> => {
    const project = await trustedProject(target);
    if (project.cards.length === 0 && project.problems === 0) notifier.show(notices.noCards(project.name));
    else await runs.start(project, { ignoreCache });
  };

  return together(
    commands.register('sallyport.runProject', (...args) => runAll(parseTarget(args), false)),
    commands.register('sallyport.runCard', (...args) => runCard(targetOr(args, selection.get()), false)),
    commands.register('sallyport.runWithoutCache', (...args) => {
      const target = parseTarget(args);
      return target.card === undefined ? runAll(target, true) : runCard(target, true);
    }),
    commands.register('sallyport.dryRun', async (...args) => {
      const target = parseTarget(args);
      const project = await trustedProject(target);
      const cards = target.card === undefined ? {} : { cards: [target.card] };
      const planned = await engine.call('run/dryRun', { root: project.root, ...cards });
      const report = dryRunReport(project, planned.cards);
      await reports.show(report.title, report.text);
    }),
    commands.register('sallyport.cancelRun', async (...args) => {
      const { runId } = parseTarget(args);
      const running = projects.running;
      const chosen: RunSummary | undefined =
        running.find((run) => run.runId === runId) ?? (await pickRunning(running));
      if (!chosen || !(await runs.cancel(chosen.runId))) notifier.show(notices.nothingRunning());
    }),
  );
}

function targetOr(args: readonly unknown[], selected: CommandTarget | undefined): CommandTarget {
  return args.length > 0 ? parseTarget(args) : (selected ?? {});
}
