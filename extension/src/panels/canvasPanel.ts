import type { WebviewPanel } from 'vscode';
import { Channel } from '../../../protocol/src/channel.ts';
import type { ProjectView } from '../../../protocol/src/engine.ts';
import { canvasHost, canvasView } from '../../../protocol/src/webview.ts';
import type { CommandId } from '../commandIds.ts';
import { together, type Disposable } from '../disposable.ts';
import { errorNotice } from '../messages.ts';
import { countBadMessages, type PanelServices } from './panelServices.ts';
import { panelWords } from './panelWords.ts';
import { singleFlight } from './singleFlight.ts';
import { webviewTransport } from './webviewTransport.ts';

/**
 * The canvas of one project: tells the page what the engine says, and turns its wishes into commands, which check them
 * as they would a person's. The page never learns a path that it may choose: it names cards.
 */
export class CanvasPanel implements Disposable {
  readonly #root: string;
  readonly #panel: WebviewPanel;
  readonly #services: PanelServices;
  readonly #channel: Channel<typeof canvasHost, typeof canvasView>;
  readonly #subscriptions: Disposable;
  readonly #refresh: () => void;

  constructor(root: string, panel: WebviewPanel, services: PanelServices) {
    this.#root = root;
    this.#panel = panel;
    this.#services = services;
    this.#refresh = singleFlight(() => this.#send());
    const transport = webviewTransport(panel.webview);
    const command = (id: CommandId) => (params: { card?: string }) => {
      // Not awaited: it may ask a person. The registry shows what goes wrong.
      void services.commands.run(id, { root, ...params });
      return null;
    };
    this.#channel = new Channel(transport, canvasView, {
      local: canvasHost,
      onBadMessage: countBadMessages(services.log, 'canvas'),
      requestHandlers: {
        'canvas/ready': () => {
          this.#refresh();
          return null;
        },
        'canvas/runProject': command('sallyport.runProject'),
        'canvas/runCard': command('sallyport.runCard'),
        'canvas/cancel': command('sallyport.cancelRun'),
        'canvas/openManifest': command('sallyport.openManifest'),
        'canvas/openCode': command('sallyport.openCode'),
        'canvas/openResult': command('sallyport.openRun'),
        'canvas/openRun': command('sallyport.openRun'),
        'canvas/reviewPermissions': command('sallyport.reviewPermissions'),
      },
      notificationHandlers: {},
    });
    this.#subscriptions = together(
      transport,
      services.engine.on('project/changed', (changed) => {
        if (changed.root === root && panel.visible) this.#refresh();
      }),
      services.engine.on('run/delta', ({ summary, cards }) => {
        if (summary.root !== root || !panel.visible) return;
        this.#channel.notify('canvas/delta', { run: summary, cards });
      }),
      // What an engine that is gone ran has ended; the next one knows how.
      services.engine.onDidChangeState((state) => {
        if (state === 'running' && panel.visible) this.#refresh();
      }),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  async #send(): Promise<void> {
    const { engine } = this.#services;
    try {
      const project = await engine.call('project/get', { root: this.#root });
      this.#panel.title = panelWords.canvasTitle(project.name);
      this.#channel.notify('canvas/project', {
        root: project.root,
        name: project.name,
        trusted: project.trusted,
        cards: project.cards,
        run: await this.#latestRun(project),
      });
    } catch (error) {
      this.#channel.notify('canvas/message', { text: errorNotice(error)?.text ?? '' });
    }
  }

  async #latestRun({ runId }: ProjectView) {
    if (runId === null) return null;
    return (await this.#services.engine.call('run/get', { runId })).summary;
  }
}
