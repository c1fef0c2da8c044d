import { type Uri, ViewColumn, window, type WebviewPanel } from 'vscode';
import * as z from 'zod/mini';
import { UserError } from '../../../protocol/src/errors.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Engine } from '../engine.ts';
import type { State } from '../keptValue.ts';
import type { Log } from '../log.ts';
import type { Notifier } from '../notifier.ts';
import { openShell, tabIcon, webviewFolder, webviewOptions } from '../panels/openShell.ts';
import { PanelGroup } from '../panels/panelGroup.ts';
import { createWebviewFiles } from '../panels/webviewFiles.ts';
import type { PluginCalls } from '../vault/pluginCalls.ts';
import { AppPanel } from './appPanel.ts';
import { AppSlots, appViewTypes } from './appSlots.ts';
import { nativeWindow } from './nativeWindow.ts';

export interface AppPanelsOptions {
  readonly extensionUri: Uri;
  readonly state: State;
  readonly engine: Engine;
  readonly log: Log;
  readonly notifier: Notifier;
  readonly pluginCalls: PluginCalls;
  readonly now: () => number;
}

const appId = /^[a-z][a-z0-9-]{0,63}$/;
/** What a shell kept for a restart: a claim, which has to agree with the slot of its view type. */
const savedState = z.object({ app: z.string() });

/** The tabs of apps: one for each app in a window, each with a view type of its own. */
export class AppPanels implements Disposable {
  readonly #options: AppPanelsOptions;
  readonly #slots: AppSlots;
  readonly #files;
  readonly #panels: PanelGroup<AppPanel>;
  readonly #registered: Disposable;

  constructor(options: AppPanelsOptions) {
    const { extensionUri, engine, log, pluginCalls, state, now } = options;
    this.#options = options;
    this.#slots = new AppSlots(state);
    this.#files = createWebviewFiles(webviewFolder(extensionUri).fsPath);
    this.#panels = new PanelGroup(
      (app, panel) =>
        new AppPanel(app, panel, {
          engine,
          log,
          files: this.#files,
          window: nativeWindow,
          pluginCalls,
          now,
        }),
    );
    this.#registered = together(
      ...appViewTypes.map((viewType) =>
        window.registerWebviewPanelSerializer(viewType, {
          deserializeWebviewPanel: (panel, kept: unknown) => {
            this.#restore(viewType, panel, kept);
            return Promise.resolve();
          },
        }),
      ),
    );
  }

  /** Shows an installed app in a tab, or the tab that it has. Rejects with `not-found` for what is no id of an app. */
  async open(app: string): Promise<void> {
    if (!appId.test(app)) throw new UserError('not-found', 'There is no such app', { app: app.slice(0, 64) });
    const viewType = await this.#slots.take(app);
    const { panel, isNew } = this.#panels.open(app, () =>
      window.createWebviewPanel(viewType, app, ViewColumn.Active, {
        ...webviewOptions(this.#options.extensionUri),
        // What a person typed into an app must not go because they looked at another tab.
        retainContextWhenHidden: true,
      }),
    );
    if (isNew) this.#fill(panel);
    else panel.reveal();
  }

  dispose(): void {
    this.#registered.dispose();
    this.#panels.dispose();
  }

  #restore(viewType: string, panel: WebviewPanel, kept: unknown): void {
    const app = this.#slots.appOf(viewType);
    const claim = z.safeParse(savedState, kept);
    if (app === undefined || !claim.success || claim.data.app !== app) panel.dispose();
    else if (this.#panels.adopt(app, panel)) this.#fill(panel);
  }

  #fill(panel: WebviewPanel): void {
    const { extensionUri, notifier } = this.#options;
    panel.iconPath = tabIcon(extensionUri);
    openShell(panel, 'appHost', extensionUri, this.#files).catch((error: unknown) => {
      panel.dispose();
      notifier.showError(error);
    });
  }
}
