import type { Reports } from '../documents/reports.ts';
import { vmImageReport } from '../documents/placeReports.ts';
import type { Engine } from '../engine.ts';
import { askSure } from '../native/askSure.ts';
import type { Notifier } from '../notifier.ts';
import { placeChoose, placeNotices, placeQuestions } from '../placeViewMessages.ts';
import { short } from '../plainText.ts';
import type { PlacesList } from './placesList.ts';
import { withStop } from './withStop.ts';

export interface VmImageOptions {
  readonly engine: Engine;
  readonly list: PlacesList;
  readonly notifier: Notifier;
  readonly reports: Reports;
}

/** The image that VMs on this computer start from. */
export class VmImage {
  readonly #options: VmImageOptions;

  constructor(options: VmImageOptions) {
    this.#options = options;
  }

  /** Builds it anew, which can be stopped, and shows what is in it. */
  async build(): Promise<void> {
    const { engine, list, reports } = this.#options;
    const { image } = await engine.call('vm/status', {});
    if (image && !image.isOutdated && !(await askSure(placeQuestions.rebuild()))) return;
    try {
      const built = await withStop(placeChoose.building(), async (signal, tell) => {
        const heard = engine.on('vm/progress', ({ text, fraction }) => tell(short(text, 80), fraction));
        try {
          return await engine.call('vm/build', {}, signal);
        } finally {
          heard.dispose();
        }
      });
      const report = vmImageReport(built.status, built.accelerator);
      if (report) await reports.show(report.title, report.text);
    } finally {
      list.forget();
    }
  }

  async show(): Promise<void> {
    const { engine, notifier, reports } = this.#options;
    const report = vmImageReport(await engine.call('vm/status', {}));
    if (report) await reports.show(report.title, report.text);
    else notifier.show(placeNotices.noImage());
  }

  async remove(): Promise<void> {
    const { engine, list, notifier } = this.#options;
    const { image } = await engine.call('vm/status', {});
    if (!image) {
      notifier.show(placeNotices.noImage());
      return;
    }
    if (!(await askSure(placeQuestions.removeImage(image.sizeBytes)))) return;
    const { freedBytes } = await engine.call('vm/remove', {});
    list.forget();
    notifier.show(placeNotices.imageRemoved(freedBytes));
  }
}
