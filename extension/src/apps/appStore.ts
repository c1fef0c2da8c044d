import { ThemeIcon, window } from 'vscode';
import type { AppSource, StoreEntry } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { appNotices, appWords as words } from '../appMessages.ts';
import type { Engine } from '../engine.ts';
import { askSure } from '../native/askSure.ts';
import { textStep } from '../native/steps.ts';
import type { Notifier } from '../notifier.ts';
import { plain, short } from '../plainText.ts';
import type { Settings } from '../settings.ts';
import type { AppProgress } from './appProgress.ts';
import { addressProblem } from './installApp.ts';

export interface AppStoreOptions {
  readonly engine: Engine;
  readonly progress: AppProgress;
  readonly notifier: Notifier;
  readonly settings: Pick<Settings, 'appStoreIndex'> & {
    /** Keeps the address in the person's own settings. */
    readonly setAppStoreIndex: (index: string) => Promise<void>;
  };
}

/** The list of apps in the git repository that a person named. It only names addresses: each app is reviewed itself. */
export class AppStore {
  readonly #options: AppStoreOptions;

  constructor(options: AppStoreOptions) {
    this.#options = options;
  }

  /** The source of the app that is chosen; undefined where the person turned away or the list is empty. */
  async choose(): Promise<AppSource | undefined> {
    const { notifier } = this.#options;
    const index = await this.#index();
    if (index === undefined) return undefined;
    const entries = await this.#read(index);
    if (!entries) return undefined;
    if (entries.length === 0) {
      notifier.show(appNotices.storeEmpty(index));
      return undefined;
    }
    const items = entries.map((entry) => ({
      label: short(entry.name),
      description: [plain(entry.ref), ...(entry.isInstalled ? [words.storeInstalled()] : [])].join(' · '),
      detail: `${short(entry.description, 160)} – ${plain(entry.url)}`,
      iconPath: new ThemeIcon(entry.isInstalled ? 'check' : 'window'),
      entry,
    }));
    const chosen = await window.showQuickPick(items, {
      title: words.storeTitle(index),
      placeHolder: words.storePlaceholder(),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    return chosen && { kind: 'git', url: chosen.entry.url, ref: chosen.entry.ref };
  }

  /** The list, once a person has seen what this index is. Undefined where they turned away. */
  async #read(index: string): Promise<readonly StoreEntry[] | undefined> {
    const { engine, progress } = this.#options;
    const list = (confirm?: string): Promise<readonly StoreEntry[]> =>
      progress.run(words.readingStore(), (progressId, signal) =>
        engine.call(
          'appStore/list',
          { index, progressId, ...(confirm !== undefined && { confirm }) },
          signal,
        ),
      );
    try {
      return await list();
    } catch (error) {
      const fresh = error instanceof UserError && error.code === 'permission-needed' ? error.data : undefined;
      const digest = fresh?.['digest'];
      if (!fresh || typeof digest !== 'string') throw error;
      const question = words.storeQuestion({
        index: String(fresh['url'] ?? index),
        commit: String(fresh['commit'] ?? ''),
        apps: Number(fresh['apps'] ?? 0),
      });
      return (await askSure(question)) ? list(digest) : undefined;
    }
  }

  /** The address of the settings, else the one that the person enters now, which is kept there. */
  async #index(): Promise<string | undefined> {
    const { settings } = this.#options;
    if (settings.appStoreIndex !== '') return settings.appStoreIndex;
    const asked = await textStep({
      title: words.from('store'),
      step: 1,
      totalSteps: 1,
      prompt: words.storeAddressPrompt(),
      check: addressProblem,
    });
    if (asked.kind !== 'value') return undefined;
    const index = asked.value.trim();
    await settings.setAppStoreIndex(index);
    return index;
  }
}
