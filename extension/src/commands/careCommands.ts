import { ProgressLocation, window } from 'vscode';
import { together, type Disposable } from '../disposable.ts';
import { doctorReport } from '../documents/reportTexts.ts';
import { size } from '../figures.ts';
import { labels, notices, questions } from '../messages.ts';
import type { Services } from '../services.ts';

/** Doctor and Clean Up Results: neither needs a project. */
export function registerCareCommands({ commands, engine, notifier, reports }: Services): Disposable {
  return together(
    commands.register('sallyport.doctor', async () => {
      const options = { location: ProgressLocation.Notification, title: labels.doctorRuns() };
      const facts = await window.withProgress(options, () => engine.call('doctor/report', {}));
      const report = doctorReport(facts);
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
