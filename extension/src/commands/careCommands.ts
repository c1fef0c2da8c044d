import { window } from 'vscode';
import { together, type Disposable } from '../disposable.ts';
import { doctorReport } from '../documents/reportTexts.ts';
import { size } from '../figures.ts';
import { labels, notices, questions } from '../messages.ts';
import { checkUsedPlaces } from '../places/checkUsedPlaces.ts';
import { withStop } from '../places/withStop.ts';
import type { Services } from '../services.ts';

/** Doctor and Clean Up Results: neither needs a project. */
export function registerCareCommands(services: Services): Disposable {
  const { commands, engine, notifier, projects, reports } = services;
  return together(
    commands.register('sallyport.doctor', async () => {
      const report = await withStop(labels.doctorRuns(), async (signal) => {
        const facts = await engine.call('doctor/report', {}, signal);
        return doctorReport(facts, await checkUsedPlaces(engine, projects.state.projects, signal));
      });
      await reports.show(report.title, report.text);
    }),
    commands.register('sallyport.cleanUp', async () => {
      const usage = await engine.call('store/usage', {});
      const used = size(usage.blobBytes + usage.databaseBytes);
      if (usage.unusedBytes === 0) {
        notifier.show(notices.nothingToClean(used));
        return;
      }
      const { text, detail, button } = questions.cleanUp(size(usage.unusedBytes), used, usage.runs);
      if ((await window.showWarningMessage(text, { modal: true, detail }, button)) !== button) return;
      const cleaned = await engine.call('store/clean', {});
      notifier.show(notices.cleaned(cleaned.removedBlobs, size(cleaned.freedBytes)));
    }),
  );
}
