import { Uri, window } from 'vscode';
import type { CardView, ProjectView } from '../../../protocol/src/engine.ts';
import { parseTarget } from '../commandTarget.ts';
import { together, type Disposable } from '../disposable.ts';
import { egressReport, whyReport, type ShownEgress } from '../documents/reportTexts.ts';
import { notices } from '../messages.ts';
import type { Services } from '../services.ts';

/** Open Manifest, Open Code, Open Egress Log, Why Did This Run Again. All of them work without trust. */
export function registerOpenCommands(services: Services): Disposable {
  const { commands, engine, notifier, picker, reports, selection } = services;

  /** Finds the card and hands it on; says why where there is none. */
  const withCard =
    (act: (project: ProjectView, card: CardView, runId: string | undefined) => Promise<void>) =>
    async (...args: unknown[]): Promise<void> => {
      const target = args.length > 0 ? parseTarget(args) : (selection.get() ?? {});
      const project = await picker.project(target);
      const card = await picker.card(project, target);
      if (card) await act(project, card, target.runId);
      else if (target.card !== undefined) notifier.show(notices.unknownCard(target.card));
      else notifier.show(notices.noCards(project.name));
    };

  return together(
    commands.register(
      'sallyport.openManifest',
      withCard(async (_project, card) => openFile(card.manifestPath)),
    ),
    commands.register(
      'sallyport.openCode',
      withCard(async (_project, card) => {
        if (card.entryPath === null) notifier.show(notices.noCode(card.title));
        else await openFile(card.entryPath);
      }),
    ),
    commands.register(
      'sallyport.whyRunAgain',
      withCard(async (_project, card, runId) => {
        const run = runId ?? card.status?.runId;
        if (run === undefined) {
          notifier.show(notices.cardHasNotRun(card.title));
          return;
        }
        const { changes } = await engine.call('run/why', { runId: run, card: card.id });
        const report = whyReport(card.title, changes);
        await reports.show(report.title, report.text);
      }),
    ),
    commands.register('sallyport.openEgressLog', async (...args) => {
      const project = await picker.project(parseTarget(args));
      const { records, isCut } = await readEgress(services, project.root);
      const report = egressReport(project.name, records, isCut);
      await reports.show(report.title, report.text);
    }),
  );
}

async function openFile(path: string): Promise<void> {
  await window.showTextDocument(Uri.file(path));
}

async function readEgress(
  { engine }: Pick<Services, 'engine'>,
  root: string,
): Promise<{ records: ShownEgress[]; isCut: boolean }> {
  const records: ShownEgress[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.call('egress/list', {
      root,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    });
    records.push(...page.records);
    cursor = page.cursor;
  } while (cursor !== undefined && records.length < shownRequests);
  return { records, isCut: cursor !== undefined };
}

const shownRequests = 2000;
