import { ProgressLocation, window, workspace } from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';
import type { ProjectView, RunSummary } from '../../../protocol/src/engine.ts';
import type { CommandRegistry } from '../commandRegistry.ts';
import type { Engine } from '../engine.ts';
import { labels } from '../messages.ts';
import type { Notifier } from '../notifier.ts';
import type { ProjectStore } from '../project/projectStore.ts';
import type { Settings } from '../settings.ts';
import { progressOf } from '../views/statusText.ts';
import { endNotice } from './endNotice.ts';

export interface RunRequest {
  readonly cards?: readonly string[];
  readonly ignoreCache?: boolean;
}

/** Starts runs for a person: saves first, shows progress with a cancel while one lasts, says how it ended. */
export class RunStarter {
  readonly #engine: Engine;
  readonly #store: ProjectStore;
  readonly #commands: CommandRegistry;
  readonly #notifier: Notifier;
  readonly #settings: Settings;

  constructor(
    engine: Engine,
    store: ProjectStore,
    commands: CommandRegistry,
    notifier: Notifier,
    settings: Settings,
  ) {
    this.#engine = engine;
    this.#store = store;
    this.#commands = commands;
    this.#notifier = notifier;
    this.#settings = settings;
  }

  /** Resolves with the run's id as soon as it is accepted. Throws `UserError`, `not-trusted` among them. */
  async start(project: ProjectView, request: RunRequest = {}): Promise<string> {
    if (!workspace.isTrusted) throw new UserError('not-trusted', 'The workspace is not trusted');
    if (this.#settings.saveBeforeRun) await saveFilesOf(project.root);
    const ended = new EndWatch(this.#store);
    try {
      const { runId } = await this.#engine.call('run/start', {
        root: project.root,
        ...(request.cards && { cards: [...request.cards] }),
        ...(request.ignoreCache !== undefined && { ignoreCache: request.ignoreCache }),
      });
      void this.#follow(runId, project, ended).catch((error: unknown) => this.#notifier.showError(error));
      void this.#show(project, runId);
      return runId;
    } catch (error) {
      ended.dispose();
      throw error;
    }
  }

  async #show(project: ProjectView, runId: string): Promise<void> {
    const { openOnRun } = this.#settings;
    if (openOnRun === 'canvas') await this.#commands.run('sallyport.openCanvas', { root: project.root });
    if (openOnRun === 'run') await this.#commands.run('sallyport.openRun', { root: project.root, runId });
  }

  async #follow(runId: string, project: ProjectView, ended: EndWatch): Promise<void> {
    try {
      const end = ended.of(runId);
      const isQuick = await Promise.race([end.then(() => true), after(progressDelayMs)]);
      if (!isQuick) await this.#showProgress(runId, project, end);
      await end;
    } finally {
      ended.dispose();
    }
    const { summary, cards } = await this.#engine.call('run/get', { runId });
    const notice = endNotice(summary, cards);
    if (notice) this.#notifier.show(notice);
  }

  async #showProgress(runId: string, project: ProjectView, end: Promise<void>): Promise<void> {
    const options = {
      location: ProgressLocation.Notification,
      title: labels.runningTitle(project.name),
      cancellable: true,
    };
    await window.withProgress(options, async (progress, token) => {
      let shown = 0;
      const report = (summary: RunSummary | undefined): void => {
        if (summary?.runId !== runId) return;
        const { done, total } = progressOf([summary.counts]);
        const percent = total === 0 ? 0 : (100 * done) / total;
        progress.report({ message: labels.runningDetail(done, total), increment: percent - shown });
        shown = percent;
      };
      const subscriptions = [
        this.#store.onDidMoveRun(({ summary }) => report(summary)),
        token.onCancellationRequested(() => void this.cancel(runId)),
      ];
      report(this.#store.state.runs.get(project.root));
      try {
        await end;
      } finally {
        for (const each of subscriptions) each.dispose();
      }
    });
  }

  /** Resolves false where the run has ended already. */
  async cancel(runId: string): Promise<boolean> {
    try {
      return (await this.#engine.call('run/cancel', { runId })).found;
    } catch (error) {
      this.#notifier.showError(error);
      return false;
    }
  }
}

/** A run that ends sooner than this shows no progress notification: it would only flash. */
const progressDelayMs = 600;

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms));
}

/** Hears of runs that end from before the run is started, so that none is missed. */
class EndWatch {
  readonly #ended = new Set<string>();
  readonly #subscriptions;
  #waiting: { runId: string; resolve: () => void } | undefined;

  constructor(store: ProjectStore) {
    this.#subscriptions = [
      store.onDidMoveRun(({ summary }) => {
        if (summary.state === 'running') return;
        this.#ended.add(summary.runId);
        if (this.#waiting?.runId === summary.runId) this.#waiting.resolve();
      }),
      store.onDidForget(() => this.#waiting?.resolve()),
    ];
  }

  of(runId: string): Promise<void> {
    if (this.#ended.has(runId)) return Promise.resolve();
    return new Promise((resolve) => (this.#waiting = { runId, resolve }));
  }

  dispose(): void {
    for (const each of this.#subscriptions) each.dispose();
  }
}

async function saveFilesOf(root: string): Promise<void> {
  const dirty = workspace.textDocuments.filter(
    (document) => document.isDirty && document.uri.scheme === 'file' && document.uri.fsPath.startsWith(root),
  );
  await Promise.all(dirty.map((document) => document.save()));
}
