import { ThemeIcon, window } from 'vscode';
import type { AppView } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { appLabels, appNotices, appWords } from '../appMessages.ts';
import { plain, short } from '../plainText.ts';
import type { Notifier } from '../notifier.ts';
import type { AppTarget } from './appTarget.ts';
import type { AppsList } from './appsList.ts';

export type PluginView = AppView['plugins'][number];

/** Finds the app or plugin that a command is about, and asks where several fit. */
export class AppPicker {
  readonly #list: AppsList;
  readonly #notifier: Notifier;

  constructor(list: AppsList, notifier: Notifier) {
    this.#list = list;
    this.#notifier = notifier;
  }

  /** The app that is named, else the one that is chosen. Undefined where there is none, which was then said. */
  async app(target: AppTarget, placeHolder = appWords.chooseApp()): Promise<AppView | undefined> {
    return this.#choose(await this.#list.apps(), target, placeHolder, () =>
      this.#notifier.show(appNotices.noApps()),
    );
  }

  async deleted(target: AppTarget): Promise<AppView | undefined> {
    return this.#choose(await this.#list.deleted(), target, appWords.chooseDeleted(), () =>
      this.#notifier.show(appNotices.noDeleted()),
    );
  }

  async waiting(target: AppTarget): Promise<AppView | undefined> {
    const apps = await this.#list.apps();
    const waiting = apps.filter((app) => app.waiting !== null);
    const isNamed = apps.some(({ id }) => id === target.app);
    const named = waiting.find(({ id }) => id === target.app);
    if (waiting.length === 0 || (isNamed && !named)) {
      this.#notifier.show(apps.length === 0 ? appNotices.noApps() : appNotices.nothingWaits());
      return undefined;
    }
    return this.#choose(waiting, target, appWords.chooseWaiting(), () => undefined);
  }

  /** A plugin in one of these states, of the app that is named or chosen. */
  async plugin(
    target: AppTarget,
    states: readonly PluginView['state'][],
  ): Promise<{ readonly app: AppView; readonly plugin: PluginView } | undefined> {
    const app = await this.app(target);
    if (!app) return undefined;
    const fitting = app.plugins.filter(({ state }) => states.includes(state));
    const named = fitting.find(({ id }) => id === target.plugin);
    if (named) return { app, plugin: named };
    if (fitting.length === 0 || target.plugin !== undefined) {
      this.#notifier.show(appNotices.noPlugins(app.name));
      return undefined;
    }
    const items = fitting.map((plugin) => ({
      label: plain(plugin.id),
      description: appLabels.pluginState(plugin.state),
      iconPath: new ThemeIcon('extensions'),
      plugin,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder: appWords.choosePlugin(app.name) });
    if (!chosen) throw new UserError('cancelled', 'No plugin was chosen');
    return { app, plugin: chosen.plugin };
  }

  async #choose(
    apps: readonly AppView[],
    { app: wanted }: AppTarget,
    placeHolder: string,
    sayNone: () => void,
  ): Promise<AppView | undefined> {
    if (apps.length === 0) {
      sayNone();
      return undefined;
    }
    if (wanted !== undefined) {
      const named = apps.find(({ id }) => id === wanted);
      if (!named) this.#notifier.show(appNotices.noSuchApp(wanted));
      return named;
    }
    const items = apps.map((app) => ({
      label: short(app.name),
      description: appLabels.version(app.appVersion),
      detail: appLabels.from(app.source),
      iconPath: new ThemeIcon('window'),
      app,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder, matchOnDescription: true });
    if (!chosen) throw new UserError('cancelled', 'No app was chosen');
    return chosen.app;
  }
}
