import { homedir } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Uri, window } from 'vscode';
import type { AppView } from '../../../protocol/src/apps.ts';
import { appNotices, appWords as words, backupExtension } from '../appMessages.ts';
import type { Reports } from '../documents/reports.ts';
import type { Engine } from '../engine.ts';
import { askSure } from '../native/askSure.ts';
import type { Notifier } from '../notifier.ts';
import { appLogReport } from './appLog.ts';
import type { AppProgress } from './appProgress.ts';
import type { PluginView } from './pickApp.ts';

export interface ManageAppsOptions {
  readonly engine: Engine;
  readonly progress: AppProgress;
  readonly notifier: Notifier;
  readonly reports: Reports;
}

/** What a person does with an installed app. Each asks first where something would be lost, and says what was done. */
export class ManageApps {
  readonly #options: ManageAppsOptions;

  constructor(options: ManageAppsOptions) {
    this.#options = options;
  }

  async setPlugin(app: AppView, plugin: PluginView, state: 'on' | 'off' | 'removed'): Promise<void> {
    const { engine, notifier } = this.#options;
    if (state === 'removed' && !(await askSure(words.removeQuestion(plugin.id, app.name)))) return;
    await engine.call('app/setPlugin', { app: app.id, plugin: plugin.id, state });
    notifier.show(appNotices.pluginChanged(plugin.id, app.name, state));
  }

  async delete(app: AppView): Promise<void> {
    const { engine, notifier } = this.#options;
    if (!(await askSure(words.deleteQuestion(app)))) return;
    const { until } = await engine.call('app/delete', { app: app.id });
    notifier.show(appNotices.deleted(app, until));
  }

  async restore(app: AppView): Promise<void> {
    const { engine, notifier } = this.#options;
    notifier.show(appNotices.restored(await engine.call('app/restore', { app: app.id })));
  }

  /** To a file that is not there yet: what is there is never written over. */
  async export(app: AppView): Promise<void> {
    const { engine, notifier, progress } = this.#options;
    const file = await window.showSaveDialog({
      title: words.exportTitle(app.name),
      defaultUri: Uri.file(join(homedir(), `${app.id}-${app.appVersion}.${backupExtension}`)),
      filters: { [words.backupFiles()]: [backupExtension] },
      saveLabel: words.exportLabel(),
    });
    if (!file) return;
    const path = file.fsPath;
    if (existsSync(path)) {
      notifier.show(appNotices.exportExists(path));
      return;
    }
    const { sizeBytes } = await progress.run(words.exporting(app.name), (progressId, signal) =>
      engine.call('app/export', { app: app.id, path, progressId }, signal),
    );
    notifier.show(appNotices.exported(app.name, path, sizeBytes));
  }

  async openLog(app: AppView): Promise<void> {
    const { engine, reports } = this.#options;
    const report = appLogReport(app.name, await engine.call('app/log', { app: app.id }));
    await reports.show(report.title, report.text);
  }
}
