import { window } from 'vscode';
import type { AppReview, AppView } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { appNotices, appWords, reviewWords as words } from '../appMessages.ts';
import type { Reports } from '../documents/reports.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';
import type { Notifier } from '../notifier.ts';
import type { AppProgress } from './appProgress.ts';
import { pickReview, type ReviewChoice } from './reviewPick.ts';
import { reviewReport } from './reviewText.ts';

export interface AppReviewerOptions {
  readonly engine: Engine;
  readonly reports: Reports;
  readonly notifier: Notifier;
  readonly progress: AppProgress;
  readonly log: Log;
  /** Called with what a person has just installed. */
  readonly onInstalled: (app: AppView) => Promise<void>;
}

/**
 * The only way to install or update an app: a document and a list that this file opens, answered by a person, bound to
 * the digest of what they showed. No command, message or setting carries an answer.
 */
export class AppReviewer {
  readonly #options: AppReviewerOptions;
  #isOpen = false;

  constructor(options: AppReviewerOptions) {
    this.#options = options;
  }

  /**
   * Shows what is staged and installs exactly that where the person says so. Undefined where they did not; then a first
   * install is removed, and an update that was neither installed nor declined goes on waiting.
   */
  async review(staged: AppReview): Promise<AppView | undefined> {
    const app = await this.#review(staged);
    if (app) await this.#options.onInstalled(app);
    return app;
  }

  async #review(staged: AppReview): Promise<AppView | undefined> {
    const { notifier } = this.#options;
    let review = staged;
    let isRead = false;
    try {
      for (;;) {
        const choice = await this.#ask(review, isRead);
        switch (choice) {
          case 'read':
            isRead = true;
            if (await this.#read(review)) continue;
            await this.#turnAway(review);
            return undefined;
          case 'install': {
            const ended = await this.#install(review);
            if (!('changed' in ended)) return ended;
            notifier.show(appNotices.changedMeanwhile(review.name));
            review = ended.changed;
            isRead = false;
            continue;
          }
          case 'decline':
            await this.#discard(review);
            notifier.show(
              review.installed
                ? appNotices.updateDeclined(review.name, review.installed.appVersion)
                : appNotices.notInstalled(review.name),
            );
            return undefined;
          case 'later':
          case 'gone':
            await this.#turnAway(review);
            return undefined;
        }
      }
    } finally {
      await this.#close(review);
    }
  }

  /** The whole review lies open in an editor while the list is shown. One list at a time. */
  async #ask(review: AppReview, isRead: boolean): Promise<ReviewChoice> {
    if (this.#isOpen) {
      this.#options.notifier.show(appNotices.reviewOpen());
      return 'gone';
    }
    this.#isOpen = true;
    try {
      if (!isRead) await this.#show(review, true);
      return await pickReview(review, isRead);
    } finally {
      this.#isOpen = false;
    }
  }

  /** Leaves the list for the document. False where the person then turns away instead of deciding. */
  async #read(review: AppReview): Promise<boolean> {
    await this.#show(review, false);
    const decide = words.decide();
    const chosen = await window.showInformationMessage(
      words.reading(review.name),
      decide,
      review.installed ? words.later() : words.decline(review),
    );
    return chosen === decide;
  }

  /** Where what is staged is no longer what was shown: that, to be reviewed anew. */
  async #install(review: AppReview): Promise<AppView | { readonly changed: AppReview }> {
    const { engine, notifier, progress } = this.#options;
    const { stageId, digest, name } = review;
    try {
      const view = await progress.run(appWords.installing(name), (progressId, signal) =>
        engine.call('app/install', { stageId, digest, progressId }, signal),
      );
      notifier.show(appNotices.installed(view));
      return view;
    } catch (error) {
      if (error instanceof UserError && error.code === 'conflict') {
        const staged = await engine.call('app/review', { stageId }).catch(() => undefined);
        if (staged && staged.digest !== digest) return { changed: staged };
      }
      if (!review.installed) await this.#discard(review);
      throw error;
    }
  }

  async #turnAway(review: AppReview): Promise<void> {
    if (review.installed) return;
    await this.#discard(review);
    this.#options.notifier.show(appNotices.notInstalled(review.name));
  }

  async #discard({ stageId }: AppReview): Promise<void> {
    try {
      await this.#options.engine.call('app/discard', { stageId });
    } catch (error) {
      this.#options.log.error('Failed to remove what was staged', error);
    }
  }

  async #show(review: AppReview, preserveFocus: boolean): Promise<void> {
    const { title, text } = reviewReport(review);
    await this.#options.reports.show(title, text, { preserveFocus, preview: false });
  }

  async #close(review: AppReview): Promise<void> {
    await this.#options.reports.close(words.documentTitle(review));
  }
}
