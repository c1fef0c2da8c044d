import { Uri, window, workspace, type WebviewPanel } from 'vscode';
import { Channel } from '../../../protocol/src/channel.ts';
import type { CardRunView, RunSummary } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { runHost, runWebview, type PictureFormat } from '../../../protocol/src/webview.ts';
import { together, type Disposable } from '../disposable.ts';
import { changeText, errorNotice } from '../messages.ts';
import { mergeStatuses } from './mergeStatuses.ts';
import type { OutputCopies } from './outputCopies.ts';
import { findOutput, readOutput, type OutputRef } from './outputFile.ts';
import { countBadMessages, type PanelServices } from './panelServices.ts';
import { panelWords } from './panelWords.ts';
import { pictureBytes, pictureName } from './picture.ts';
import { singleFlight } from './singleFlight.ts';
import type { WebviewFiles } from './webviewFiles.ts';
import { webviewTransport } from './webviewTransport.ts';

/** What the run panel needs beside the services: shared with other panels. */
export interface RunPanelTools {
  readonly files: WebviewFiles;
  readonly copies: OutputCopies;
  openPage(root: string, card: string, output: OutputRef): void;
}

/**
 * The run view of one project. It shows one run at a time; a new run of the project that was started from here takes
 * its place. The page can name cards and ports of the shown run only.
 */
export class RunPanel implements Disposable {
  readonly #root: string;
  readonly #panel: WebviewPanel;
  readonly #services: PanelServices;
  readonly #tools: RunPanelTools;
  readonly #channel: Channel<typeof runHost, typeof runWebview>;
  readonly #subscriptions: Disposable;
  readonly #refresh: () => void;
  #runId: string | undefined;
  #selected: string | null = null;
  #cards: readonly CardRunView[] = [];
  #followsNext = false;
  /** The page is there and listens. A hidden page is gone; it says `run/ready` when it is back. */
  #isReady = false;

  constructor(root: string, panel: WebviewPanel, services: PanelServices, tools: RunPanelTools) {
    this.#root = root;
    this.#panel = panel;
    this.#services = services;
    this.#tools = tools;
    this.#refresh = singleFlight(() => this.#send());
    const transport = webviewTransport(panel.webview);
    this.#channel = new Channel(transport, runWebview, {
      local: runHost,
      onBadMessage: countBadMessages(services.log, 'run'),
      requestHandlers: this.#handlers(),
      notificationHandlers: {},
    });
    this.#subscriptions = together(
      transport,
      panel.onDidChangeViewState(() => {
        if (!panel.visible) this.#isReady = false;
      }),
      services.engine.on('run/delta', ({ summary, cards }) => this.#move(summary, cards)),
      services.engine.onDidChangeState((state) => {
        if (state === 'running' && this.#isReady) this.#refresh();
      }),
      services.engine.on('log/appended', ({ cardRunId, totalLines }) => {
        if (this.#isReady && this.#cards.some(({ status }) => status.cardRunId === cardRunId)) {
          this.#channel.notify('run/logGrew', { cardRunId, totalLines });
        }
      }),
    );
  }

  /** Shows a run, the latest where none is named, and a card of it. */
  show(runId: string | undefined, card: string | null): void {
    this.#runId = runId;
    this.#selected = card;
    this.#cards = [];
    if (this.#isReady) this.#refresh();
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  #handlers() {
    const { engine, commands } = this.#services;
    const { files, copies } = this.#tools;
    const root = this.#root;
    return {
      'run/ready': () => {
        this.#isReady = true;
        this.#refresh();
        return null;
      },
      'run/readLog': (params: { cardRunId: string; fromLine: number; count: number }) => {
        if (!this.#cards.some(({ status }) => status.cardRunId === params.cardRunId)) {
          throw new UserError('not-found', 'This log does not belong to the shown run');
        }
        return engine.call('log/read', { ...params, count: Math.min(Math.max(params.count, 0), logLines) });
      },
      'run/readOutput': async ({ card, port }: PortParams) => {
        const output = findOutput(this.#cards, card, port);
        const bytes = await readOutput(engine, output);
        return { type: output.type, base64: bytes.toString('base64'), sizeBytes: bytes.length };
      },
      'run/readLibrary': async ({ name }: { name: 'view' | 'vega' | 'plotly' }) => ({
        text: await files.source(name),
      }),
      'run/openOutput': async ({ card, port }: PortParams) => {
        const path = await copies.copy(card, findOutput(this.#cards, card, port));
        await commands.runBuiltin('vscode.open', Uri.file(path));
        return null;
      },
      'run/openPage': ({ card, port }: PortParams) => {
        this.#tools.openPage(root, card, findOutput(this.#cards, card, port));
        return null;
      },
      'run/savePicture': (params: { name: string; format: PictureFormat; base64: string }) =>
        this.#savePicture(params),
      'run/why': async ({ card }: { card: string }) => {
        const { changes } = await engine.call('run/why', { runId: this.#shownRun(), card });
        return { lines: changes.map(changeText) };
      },
      'run/cancel': async () => {
        await engine.call('run/cancel', { runId: this.#shownRun() });
        return null;
      },
      'run/again': () => {
        this.#followsNext = true;
        void commands.run('sallyport.runProject', { root });
        return null;
      },
      'run/openEgressLog': () => {
        void commands.run('sallyport.openEgressLog', { root, runId: this.#runId });
        return null;
      },
    };
  }

  #shownRun(): string {
    if (this.#runId === undefined) throw new UserError('not-found', 'No run is shown');
    return this.#runId;
  }

  #move(summary: RunSummary, moved: Parameters<typeof mergeStatuses>[1]): void {
    if (summary.root !== this.#root) return;
    if (this.#followsNext && summary.runId !== this.#runId && summary.state === 'running') {
      this.#followsNext = false;
      this.show(summary.runId, this.#selected);
      return;
    }
    if (summary.runId !== this.#runId || !this.#isReady) return;
    const { all, changed, isComplete } = mergeStatuses(this.#cards, moved);
    this.#cards = all;
    this.#channel.notify('run/cards', { run: summary, cards: changed });
    // A card that ended has outputs and a whole log now, which a delta does not carry.
    if (!isComplete) this.#refresh();
  }

  async #send(): Promise<void> {
    const { engine } = this.#services;
    try {
      if (this.#runId === undefined) {
        const project = await engine.call('project/get', { root: this.#root });
        if (project.runId === null) {
          this.#channel.notify('run/message', { text: panelWords.noRun(project.name) });
          return;
        }
        this.#runId = project.runId;
      }
      const runId = this.#runId;
      const { summary, cards } = await engine.call('run/get', { runId });
      if (summary.root !== this.#root) throw new UserError('not-found', 'This run is of another project');
      if (runId !== this.#runId) return;
      this.#cards = cards;
      this.#panel.title = panelWords.runTitle(summary.projectName);
      this.#channel.notify('run/state', { run: summary, cards, selected: this.#selected });
      this.#selected = null;
    } catch (error) {
      const isGone = error instanceof UserError && error.code === 'not-found';
      const text = isGone ? panelWords.noSuchRun() : (errorNotice(error)?.text ?? '');
      this.#channel.notify('run/message', { text });
    }
  }

  async #savePicture(params: { name: string; format: PictureFormat; base64: string }) {
    const { format } = params;
    const bytes = pictureBytes(format, params.base64);
    const target = await window.showSaveDialog({
      title: panelWords.savePicture(),
      defaultUri: Uri.joinPath(Uri.file(this.#root), pictureName(params.name, format)),
      filters: { [panelWords.formats[format]]: [format] },
    });
    if (!target) return { saved: false };
    await workspace.fs.writeFile(target, bytes);
    return { saved: true };
  }
}

interface PortParams {
  readonly card: string;
  readonly port: string;
}

/** The most lines that a page gets at once. */
const logLines = 2000;
