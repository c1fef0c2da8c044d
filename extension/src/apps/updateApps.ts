import type { AppView } from '../../../protocol/src/apps.ts';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import type { appRequests } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { appNotices, appWords } from '../appMessages.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';
import type { Notifier } from '../notifier.ts';
import type { AppProgress } from './appProgress.ts';

type Found = ResultOf<(typeof appRequests)['app/update']>;

export interface UpdateAppsOptions {
  readonly engine: Engine;
  readonly progress: AppProgress;
  readonly notifier: Notifier;
  readonly log: Log;
}

/**
 * Looks for updates. One that asks for nothing more is applied by the engine and told here; a wider one waits for a
 * review while the installed version goes on working.
 */
export class UpdateApps {
  readonly #options: UpdateAppsOptions;

  constructor(options: UpdateAppsOptions) {
    this.#options = options;
  }

  /** For what a person asked: says also that there is none. One app's failure is thrown; of several it is counted. */
  async check(apps: readonly AppView[]): Promise<void> {
    const [only] = apps;
    if (apps.length === 1 && only) {
      const found = await this.#look(only, false);
      if (found.kind === 'none') this.#options.notifier.show(appNotices.upToDate([only.name]));
      else this.#tell(only, found);
      return;
    }
    const { isAnything, failed } = await this.#checkEach(apps, false);
    if (failed.length > 0) this.#options.notifier.show(appNotices.updatesFailed(failed));
    else if (!isAnything) this.#options.notifier.show(appNotices.upToDate(apps.map(({ name }) => name)));
  }

  /** By itself, where the settings say so: tells only what there is, and failures go to the log. */
  async checkQuietly(apps: readonly AppView[]): Promise<void> {
    await this.#checkEach(
      apps.filter(({ source }) => source.kind === 'git'),
      true,
    );
  }

  async #checkEach(
    apps: readonly AppView[],
    isQuiet: boolean,
  ): Promise<{ readonly isAnything: boolean; readonly failed: string[] }> {
    const failed: string[] = [];
    let isAnything = false;
    for (const app of apps) {
      try {
        const found = await this.#look(app, isQuiet);
        isAnything ||= found.kind !== 'none';
        this.#tell(app, found);
      } catch (error) {
        if (error instanceof UserError && error.code === 'cancelled') throw error;
        this.#options.log.error(`Failed to look for an update of ${app.id}`, error);
        failed.push(app.name);
      }
    }
    return { isAnything, failed };
  }

  #look({ id, name }: AppView, isQuiet: boolean): Promise<Found> {
    const { engine, progress } = this.#options;
    return progress.run(
      appWords.checking(name),
      (progressId, signal) => engine.call('app/update', { app: id, progressId }, signal),
      { isQuiet },
    );
  }

  #tell(app: AppView, found: Found): void {
    const { notifier } = this.#options;
    if (found.kind === 'applied') notifier.show(appNotices.updated(found.view.name, found.text));
    else if (found.kind === 'waits') {
      const { appVersion } = found.review;
      notifier.show(appNotices.updateWaits({ id: app.id, name: app.name, appVersion }));
    }
  }
}
