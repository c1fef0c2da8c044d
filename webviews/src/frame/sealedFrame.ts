import { Channel, type Transport } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import {
  viewFrame,
  viewHost,
  viewLimits,
  type PictureFormat,
  type ViewKind,
  type ViewTheme,
} from '../../../protocol/src/webview.ts';
import { FrameBox, type ClosedReason } from './frameBox.ts';

/** Where a frame stands. A `hung` one comes back to `drawn` when it answers. */
export type FrameState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'drawn'; readonly heightPx: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'hung' }
  | { readonly kind: 'closed'; readonly reason: ClosedReason; readonly detail: string };

export interface SealedFrameOptions {
  /** The frame's own script (`dist/webviews/view.js`). */
  readonly frameScript: string;
  /** For people and screen readers. */
  readonly title: string;
  readonly kind: ViewKind;
  /** JSON for a chart, else the page. */
  readonly text: string;
  /** Source of the drawing library; none for a page. */
  readonly library?: string;
  readonly theme: ViewTheme;
  onState(state: FrameState): void;
}

/** To prove itself closed, and then to draw. */
const openingMs = 20_000;
const drawingMs = 60_000;

/**
 * One view in an opaque frame. What the frame sends is parsed and can only change the state of this object. Whoever
 * creates it disposes it.
 */
export class SealedFrame {
  readonly #options: SealedFrameOptions;
  readonly #box: FrameBox;
  #channel: Channel<typeof viewHost, typeof viewFrame> | undefined;
  #state: FrameState = { kind: 'opening' };
  #heightPx = 0;
  #pinging = false;
  #isAsked = false;

  constructor(container: HTMLElement, options: SealedFrameOptions) {
    this.#options = options;
    this.#box = new FrameBox(container, {
      frameScript: options.frameScript,
      title: options.title,
      openingMs,
      messagesPerSecond: 400,
      messageCharacters: viewLimits.pictureBase64 + 1000,
      onLoaded: (transport) => this.#connect(transport),
      onClosed: (reason, detail) => {
        this.#disconnect();
        this.#enter({ kind: 'closed', reason, detail });
      },
    });
    this.#box.onAttention(() => void this.ping());
  }

  /** The picture as it is drawn now, base64. Rejects with `UserError`. */
  async picture(format: PictureFormat): Promise<string> {
    if (!this.#channel) throw new Error('The view is closed');
    return (await this.#channel.call('view/picture', { format })).base64;
  }

  setTheme(theme: ViewTheme): void {
    this.#channel?.notify('view/theme', theme);
  }

  /** Asks whether the frame's thread is free, and says `hung` where it is not. Never more than one question at a time. */
  async ping(): Promise<void> {
    if (this.#pinging || !this.#channel || !this.#isShown()) return;
    this.#pinging = true;
    try {
      await this.#channel.call('view/ping', {});
      if (this.#state.kind === 'hung') this.#enter({ kind: 'drawn', heightPx: this.#heightPx });
    } catch {
      if (this.#isShown()) this.#enter({ kind: 'hung' });
    } finally {
      this.#pinging = false;
    }
  }

  /** Removes the frame, hung or not. No state follows. */
  dispose(): void {
    this.#state = { kind: 'closed', reason: 'left', detail: '' };
    this.#disconnect();
    this.#box.dispose();
  }

  /** What waits for the frame is told that it is gone. */
  #disconnect(): void {
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
  }

  #isShown(): boolean {
    return this.#state.kind === 'drawn' || this.#state.kind === 'hung';
  }

  #connect(transport: Transport): void {
    this.#channel = new Channel(transport, viewFrame, {
      local: viewHost,
      requestHandlers: {},
      notificationHandlers: {
        'view/ready': ({ netClosed, problem }) => {
          if (netClosed) this.#show();
          else this.#box.close('network-open', problem);
        },
        'view/drawn': ({ heightPx }) => {
          this.#box.settle();
          this.#heightPx = heightPx;
          this.#enter({ kind: 'drawn', heightPx });
        },
        'view/failed': ({ message }) => {
          this.#box.settle();
          this.#enter({ kind: 'failed', message });
        },
      },
    });
  }

  /** Once: a frame cannot ask for its content again. */
  #show(): void {
    const { kind, text, library, theme } = this.#options;
    if (this.#state.kind !== 'opening' || !this.#channel || this.#isAsked) return;
    this.#isAsked = true;
    this.#box.closeAfter(drawingMs);
    try {
      if (library !== undefined) {
        const bytes = new TextEncoder().encode(library).buffer;
        this.#channel.notify('view/library', { bytes }, [bytes]);
      }
      this.#channel.notify('view/show', { kind, text, theme });
    } catch (error) {
      this.#enter({ kind: 'failed', message: errorMessage(error) });
    }
  }

  #enter(state: FrameState): void {
    if (this.#state.kind === 'closed') return;
    this.#state = state;
    this.#options.onState(state);
  }
}
