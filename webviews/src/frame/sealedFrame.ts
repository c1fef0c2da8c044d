import { Channel, type Transport } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import {
  viewFrame,
  viewHost,
  type PictureFormat,
  type ViewKind,
  type ViewTheme,
} from '../../../protocol/src/webview.ts';
import { frameDocument, framePolicy } from './frameDocument.ts';
import { portTransport } from './portTransport.ts';
import { trustedFrameMarkup } from './trustedFrameMarkup.ts';

/** Why a frame was taken down. */
export type ClosedReason = 'network-open' | 'silent' | 'flood' | 'left';

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
const messagesPerSecond = 400;

/**
 * One view in an opaque frame. The frame has no origin, no network and no way to the shell but one port; what it sends
 * is parsed and can only change the state of this object. A frame that floods, leaves or is not closed is removed.
 * Whoever creates it disposes it.
 */
export class SealedFrame {
  readonly #options: SealedFrameOptions;
  readonly #element: HTMLIFrameElement;
  #channel: Channel<typeof viewHost, typeof viewFrame> | undefined;
  #state: FrameState = { kind: 'opening' };
  #heightPx = 0;
  #timer: number | undefined;
  #pinging = false;
  #isAsked = false;

  constructor(container: HTMLElement, options: SealedFrameOptions) {
    this.#options = options;
    const element = container.ownerDocument.createElement('iframe');
    element.title = options.title;
    element.setAttribute('sandbox', 'allow-scripts');
    element.setAttribute('csp', framePolicy);
    element.setAttribute('referrerpolicy', 'no-referrer');
    element.srcdoc = trustedFrameMarkup(frameDocument(options.frameScript));
    element.addEventListener('load', () => this.#handOver(), { once: true });
    element.addEventListener('pointerenter', () => void this.ping());
    element.addEventListener('focus', () => void this.ping());
    // The shell's policy stops a frame that navigates. The report does not say which frame, so every open one goes.
    document.addEventListener('securitypolicyviolation', this.#onViolation);
    this.#element = element;
    this.#closeAfter(openingMs);
    container.append(element);
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
    this.#takeDown();
  }

  #closeAfter(ms: number): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#close('silent', ''), ms);
  }

  #takeDown(): void {
    window.clearTimeout(this.#timer);
    document.removeEventListener('securitypolicyviolation', this.#onViolation);
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
    this.#element.remove();
  }

  readonly #onViolation = (event: SecurityPolicyViolationEvent): void => {
    if (event.effectiveDirective === 'frame-src') this.#close('left', '');
  };

  #isShown(): boolean {
    return this.#state.kind === 'drawn' || this.#state.kind === 'hung';
  }

  #handOver(): void {
    const target = this.#element.contentWindow;
    if (!target) return;
    const { port1, port2 } = new MessageChannel();
    this.#channel = new Channel(this.#bounded(portTransport(port1)), viewFrame, {
      local: viewHost,
      requestHandlers: {},
      notificationHandlers: {
        'view/ready': ({ netClosed, problem }) => {
          if (netClosed) this.#show();
          else this.#close('network-open', problem);
        },
        'view/drawn': ({ heightPx }) => {
          window.clearTimeout(this.#timer);
          this.#heightPx = heightPx;
          this.#enter({ kind: 'drawn', heightPx });
        },
        'view/failed': ({ message }) => {
          window.clearTimeout(this.#timer);
          this.#enter({ kind: 'failed', message });
        },
      },
      onClose: () => {
        if (this.#channel) this.#close('left', '');
      },
    });
    // An opaque origin has no name to aim at; the port is what makes the message private.
    target.postMessage('sallyport/port', '*', [port2]);
  }

  /** Once: a frame cannot ask for its content again. */
  #show(): void {
    const { kind, text, library, theme } = this.#options;
    if (this.#state.kind !== 'opening' || !this.#channel || this.#isAsked) return;
    this.#isAsked = true;
    this.#closeAfter(drawingMs);
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

  #bounded(transport: Transport): Transport {
    let windowStart = 0;
    let count = 0;
    return {
      ...transport,
      start: (onMessage, onClose) =>
        transport.start((message) => {
          const now = performance.now();
          if (now - windowStart > 1000) {
            windowStart = now;
            count = 0;
          }
          if (++count > messagesPerSecond) this.#close('flood', '');
          else onMessage(message);
        }, onClose),
    };
  }

  #close(reason: ClosedReason, detail: string): void {
    if (this.#state.kind === 'closed') return;
    this.#takeDown();
    this.#enter({ kind: 'closed', reason, detail });
  }

  #enter(state: FrameState): void {
    if (this.#state.kind === 'closed') return;
    this.#state = state;
    this.#options.onState(state);
  }
}
