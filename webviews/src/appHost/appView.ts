import { appFrame, appShell } from '../../../protocol/src/appHost.ts';
import { bridgeLimits, type AppTheme } from '../../../protocol/src/bridge.ts';
import { Channel, type Transport } from '../../../protocol/src/channel.ts';
import { FrameBox, type ClosedReason } from '../frame/frameBox.ts';
import type { AppCall } from './appBridge.ts';

/** Where an app stands. A `hung` one comes back to `shown` when it answers. */
export type AppState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'shown' }
  | { readonly kind: 'hung' }
  | { readonly kind: 'closed'; readonly reason: ClosedReason; readonly detail: string };

export interface AppViewOptions {
  /** The frame's own script (`dist/webviews/appFrame.js`). */
  readonly frameScript: string;
  /** For people and screen readers. */
  readonly title: string;
  /** UTF-8; handed over to the frame when it has proved itself closed, and empty afterwards. */
  readonly document: Promise<ArrayBuffer>;
  readonly theme: () => AppTheme;
  readonly onState: (state: AppState) => void;
  readonly onCall: (call: AppCall, signal: AbortSignal, hear: (text: string) => void) => Promise<string>;
  readonly onProblem: (kind: 'error' | 'blocked', text: string) => void;
  /** The person leaves the app by the keyboard. */
  readonly onLeave: () => void;
}

const mostProblems = 50;
/** News of a person's act may come after what it caused. */
const reportMs = 50;

const openingMs = 20_000;
/** Scripts that block the parser may take this long. */
const showingMs = 60_000;

/** One app in its opaque frame. Whoever creates it disposes it. */
export class AppView {
  readonly #options: AppViewOptions;
  readonly #box: FrameBox;
  #channel: Channel<typeof appShell, typeof appFrame> | undefined;
  #state: AppState = { kind: 'opening' };
  #isAsked = false;
  #isSent = false;
  #isPinging = false;
  #problems = 0;
  #hasKeyboard = false;

  constructor(container: HTMLElement, options: AppViewOptions) {
    this.#options = options;
    options.document.catch(() => undefined);
    this.#box = new FrameBox(container, {
      frameScript: options.frameScript,
      title: options.title,
      openingMs,
      messagesPerSecond: 1000,
      messageCharacters: bridgeLimits.paramsCharacters + 1000,
      onLoaded: (transport) => this.#connect(transport),
      onClosed: (reason, detail) => {
        this.#disconnect();
        this.#enter({ kind: 'closed', reason, detail });
      },
    });
    this.#box.onAttention(() => void this.#ping());
  }

  setTheme(theme: AppTheme): void {
    this.#channel?.notify('app/theme', theme);
  }

  /** Moves the focus into the app, because a person chose it. */
  focus(): void {
    this.#hasKeyboard = true;
    this.#box.focus();
    this.#channel?.notify('app/enter', {});
    void this.#ping();
  }

  /** Removes the frame, hung or not; calls under way are given up. No state follows. */
  dispose(): void {
    this.#state = { kind: 'closed', reason: 'gone', detail: '' };
    this.#disconnect();
    this.#box.dispose();
  }

  #disconnect(): void {
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
  }

  #connect(transport: Transport): void {
    const { onCall, onProblem, onLeave } = this.#options;
    this.#channel = new Channel(transport, appFrame, {
      local: appShell,
      requestHandlers: {
        'app/call': async (call, signal) => {
          const hear = (text: string) =>
            this.#channel?.notify('app/chunk', { stream: call.stream ?? '', text });
          return { answer: await onCall(call, signal, hear) };
        },
      },
      notificationHandlers: {
        'app/ready': ({ netClosed, problem }) => {
          if (netClosed) void this.#show();
          else this.#box.close('network-open', problem);
        },
        'app/shown': () => {
          if (!this.#isSent || this.#state.kind !== 'opening') return;
          this.#box.settle();
          this.#enter({ kind: 'shown' });
        },
        'app/problem': ({ kind, text }) => {
          if (++this.#problems <= mostProblems) onProblem(kind, text);
        },
        'app/keyboard': ({ isHere }) => this.#moveKeyboard(isHere),
        'app/leave': onLeave,
      },
    });
  }

  /**
   * A press or a key of a person in the frame activates the windows around it too (HTML, activation notification). A
   * frame that has the keyboard without one took it from wherever a person was typing.
   */
  #moveKeyboard(isHere: boolean): void {
    window.setTimeout(() => {
      // Where the whole window lost the keyboard, it comes back to where it was.
      if (!isHere) this.#hasKeyboard = this.#box.isActive;
      else if (this.#hasKeyboard || navigator.userActivation.isActive) this.#hasKeyboard = true;
      else if (document.hasFocus() && this.#box.isActive) this.#box.close('took-keyboard', '');
    }, reportMs);
  }

  /** Once: a frame cannot ask for its content again. */
  async #show(): Promise<void> {
    if (this.#isAsked) return;
    this.#isAsked = true;
    // The frame has done its part; the document may take its time.
    this.#box.settle();
    const document = await this.#options.document.catch(() => undefined);
    if (!document || !this.#channel) return;
    this.#isSent = true;
    this.#box.closeAfter(showingMs);
    this.#channel.notify('app/show', { document, theme: this.#options.theme() }, [document]);
  }

  /** Asks whether the frame's thread is free, and says `hung` where it is not. Never more than one question at a time. */
  async #ping(): Promise<void> {
    const channel = this.#channel;
    if (this.#isPinging || !channel || !this.#isThere()) return;
    this.#isPinging = true;
    try {
      await channel.call('app/ping', {});
      if (this.#state.kind === 'hung') this.#enter({ kind: 'shown' });
    } catch {
      if (this.#isThere()) this.#enter({ kind: 'hung' });
    } finally {
      this.#isPinging = false;
    }
  }

  #isThere(): boolean {
    return this.#state.kind === 'shown' || this.#state.kind === 'hung';
  }

  #enter(state: AppState): void {
    if (this.#state.kind === 'closed') return;
    this.#state = state;
    this.#options.onState(state);
  }
}
