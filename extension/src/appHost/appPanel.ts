import { Buffer } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import type { WebviewPanel } from 'vscode';
import { appPageHost, appPageView } from '../../../protocol/src/appHost.ts';
import type { appRequests } from '../../../protocol/src/apps.ts';
import { bridgeRefusal } from '../../../protocol/src/bridge.ts';
import { Channel } from '../../../protocol/src/channel.ts';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';
import { errorNotice } from '../messages.ts';
import { countBadMessages } from '../panels/panelServices.ts';
import { singleFlight } from '../panels/singleFlight.ts';
import type { WebviewFiles } from '../panels/webviewFiles.ts';
import { webviewTransport } from '../panels/webviewTransport.ts';
import type { PluginCalls } from '../vault/pluginCalls.ts';
import { appWords } from './appWords.ts';
import { PersonActs, type PersonWindow } from './personActs.ts';

export interface AppPanelServices {
  readonly engine: Engine;
  readonly log: Log;
  readonly files: WebviewFiles;
  readonly window: PersonWindow;
  readonly pluginCalls: Pick<PluginCalls, 'begin'>;
  readonly now: () => number;
}

/** The largest page that is put into a frame. */
const mostPageBytes = 64 * 1024 * 1024;

/**
 * The extension's side of one app's webview. The app that a call is made for is this object's, whatever the page says.
 * Calls go to the engine, which checks them by its own table; what needs the person's window is checked and asked here.
 */
export class AppPanel implements Disposable {
  readonly #app: string;
  readonly #panel: WebviewPanel;
  readonly #services: AppPanelServices;
  readonly #person: PersonActs;
  readonly #channel: Channel<typeof appPageHost, typeof appPageView>;
  readonly #subscriptions: Disposable;
  /** The page that is loaded, by number, so that pieces for an earlier one are dropped. */
  #round = 0;
  #treeDigest: string | undefined;
  /** Asked for while VS Code still makes the webview. */
  #first: Promise<ResultOf<(typeof appRequests)['app/page']>> | undefined;

  constructor(app: string, panel: WebviewPanel, services: AppPanelServices) {
    this.#app = app;
    this.#panel = panel;
    this.#services = services;
    this.#person = new PersonActs(app, services.window, services.now);
    this.#first = services.engine.call('app/page', { app });
    // Whoever asks for the document is told of a failure.
    this.#first.catch(() => undefined);
    const transport = webviewTransport(panel.webview);
    this.#channel = new Channel(transport, appPageView, {
      local: appPageHost,
      onBadMessage: countBadMessages(services.log, 'app'),
      requestHandlers: {
        'appPage/frame': () => this.#frame(),
        'appPage/document': () => this.#document(),
        'appPage/call': (call, signal) => this.#call(call, signal),
      },
      notificationHandlers: {
        'appPage/problem': ({ kind, text }) => services.log.warn(appWords.problem(app, kind, text)),
      },
    });
    const look = singleFlight(() => this.#lookForUpdate());
    this.#subscriptions = together(
      transport,
      services.engine.on('bridge/chunk', ({ app: whose, callId, text }) => {
        const prefix = `${this.#round}.`;
        if (whose === app && callId.startsWith(prefix)) {
          this.#channel.notify('appPage/chunk', { callId: callId.slice(prefix.length), text });
        }
      }),
      services.engine.on('app/changed', ({ app: whose }) => {
        if (whose === app && this.#treeDigest !== undefined) look();
      }),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  async #frame() {
    return { app: this.#app, frameScript: await this.#services.files.source('appFrame') };
  }

  async #document() {
    const { engine, log } = this.#services;
    this.#round++;
    try {
      const asked = this.#first ?? engine.call('app/page', { app: this.#app });
      this.#first = undefined;
      const page = await asked;
      const { size } = await stat(page.documentPath);
      if (size > mostPageBytes) throw new UserError('too-large', appWords.tooLargePage(this.#app));
      const bytes = await readFile(page.documentPath);
      this.#treeDigest = page.treeDigest;
      this.#panel.title = appWords.title(page.name);
      return { name: page.name, document: toArrayBuffer(bytes) };
    } catch (error) {
      log.error(`The app ${this.#app} did not open`, error);
      const text = errorNotice(error)?.text;
      throw new UserError(error instanceof UserError ? error.code : 'internal', text ?? '');
    }
  }

  async #call(
    call: { method: string; params: string; callId?: string | undefined },
    signal: AbortSignal,
  ): Promise<{ answer: string }> {
    const { method, params } = call;
    const asked = this.#person.answer(method, params);
    if (asked) return { answer: await asked };
    if (!fitsOneMessage(params))
      return { answer: bridgeRefusal('too-large', 'This is more than one call takes') };
    const callId = call.callId === undefined ? undefined : `${this.#round}.${call.callId}`.slice(0, 64);
    const ended = this.#services.pluginCalls.begin(this.#app, method, params);
    try {
      const { result } = await this.#services.engine.call(
        'bridge/call',
        { app: this.#app, method, params, ...(callId === undefined ? {} : { callId }) },
        signal,
      );
      return { answer: result };
    } finally {
      ended();
    }
  }

  /** Says in the page that another version is there; closes the tab of an app that is no more. */
  async #lookForUpdate(): Promise<void> {
    try {
      const { treeDigest } = await this.#services.engine.call('app/page', { app: this.#app });
      if (treeDigest !== this.#treeDigest) this.#channel.notify('appPage/updated', {});
    } catch (error) {
      if (error instanceof UserError && error.code === 'not-found') this.#panel.dispose();
      else this.#services.log.error(`The app ${this.#app} could not be looked at`, error);
    }
  }
}

/** The text stands in another JSON text, where each quote and backslash takes one more byte. */
function fitsOneMessage(params: string): boolean {
  const most = limits.messageBytes - 4096;
  return params.length * 6 <= most || Buffer.byteLength(JSON.stringify(params)) <= most;
}

function toArrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
