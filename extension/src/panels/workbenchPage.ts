import { availableParallelism, loadavg } from 'node:os';
import type { Webview } from 'vscode';
import { Channel } from '../../../protocol/src/channel.ts';
import type { ParamsOf, RequestHandlers } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { workbenchHost, workbenchView } from '../../../protocol/src/workbench.ts';
import type { Disposable } from '../disposable.ts';
import type { Log } from '../log.ts';
import { errorNotice } from '../messages.ts';
import { countBadMessages } from './panelServices.ts';
import { Watchdog } from './watchdog.ts';
import { webviewTransport } from './webviewTransport.ts';

type Told = typeof workbenchView.notifications;
export type WorkbenchHandlers = RequestHandlers<typeof workbenchHost.requests>;

export interface WorkbenchPageOptions {
  readonly webview: Webview;
  readonly log: Log;
  /** What the page asks, answered for this page. */
  readonly handlers: (page: WorkbenchPage) => WorkbenchHandlers;
  /** The page's renderer is gone or hangs. */
  readonly onDead: () => void;
  /** What is said once, when the page first shows something. */
  readonly greeting?: string | undefined;
}

/** One page of the workbench, in the side bar or in an editor: its channel, and whether it is alive. */
export class WorkbenchPage implements Disposable {
  readonly #channel: Channel<typeof workbenchHost, typeof workbenchView>;
  readonly #watchdog: Watchdog;
  readonly #close: () => void;
  #greeting: string | undefined;
  /** The page is there and listens. A hidden page is gone; it says so when it is back. */
  #isReady = false;

  constructor({ webview, log, handlers, onDead, greeting }: WorkbenchPageOptions) {
    this.#greeting = greeting;
    this.#watchdog = new Watchdog({
      now: () => performance.now(),
      // Windows does not know it and says 0.
      crowd: () => (loadavg()[0] ?? 0) / availableParallelism(),
      every: (ms, run) => {
        const timer = setInterval(run, ms);
        return { dispose: () => clearInterval(timer) };
      },
      onDead: () => {
        log.warn('The workbench’s page stopped; opening it again');
        onDead();
      },
    });
    const transport = webviewTransport(webview);
    this.#close = () => transport.dispose();
    const answers = handlers(this);
    this.#channel = new Channel(transport, workbenchView, {
      local: workbenchHost,
      onBadMessage: countBadMessages(log, 'workbench'),
      requestHandlers: inWords({
        ...answers,
        'workbench/ready': (params, signal) => {
          this.#isReady = true;
          return answers['workbench/ready'](params, signal);
        },
      }),
      notificationHandlers: { 'workbench/beat': () => this.#watchdog.beat() },
    });
  }

  /** Told whenever the page is shown, hidden or loaded anew. */
  setVisible(isVisible: boolean): void {
    this.#isReady &&= isVisible;
    this.#watchdog.watch(isVisible);
  }

  /** Dropped while the page is not there. */
  tell<M extends keyof Told>(method: M, params: ParamsOf<Told[M]>): void {
    if (!this.#isReady) return;
    this.#channel.notify(method, params);
    // A state takes away what was said before it.
    if (method !== 'workbench/state' || this.#greeting === undefined) return;
    const { items } = params as ParamsOf<Told['workbench/state']>;
    // Where there is no conversation nothing was interrupted, and its room is needed.
    if (items.length > 0) this.#channel.notify('workbench/message', { text: this.#greeting });
    this.#greeting = undefined;
  }

  dispose(): void {
    this.#isReady = false;
    this.#watchdog.dispose();
    this.#close();
  }
}

/** The same handlers with errors in the words that a person reads everywhere else. */
function inWords(handlers: WorkbenchHandlers): WorkbenchHandlers {
  const worded = Object.entries(handlers as Record<string, (...args: unknown[]) => unknown>).map(
    ([method, handler]) =>
      [
        method,
        async (...args: unknown[]) => {
          try {
            return await handler(...args);
          } catch (error) {
            const code = error instanceof UserError ? error.code : 'internal';
            throw new UserError(code, errorNotice(error)?.text ?? '', {}, { cause: error });
          }
        },
      ] as const,
  );
  return Object.fromEntries(worded) as unknown as WorkbenchHandlers;
}
