import type { Transport } from '../../../protocol/src/channel.ts';
import { frameDocument, framePolicy } from './frameDocument.ts';
import { isBounded } from './isBounded.ts';
import { portTransport } from './portTransport.ts';
import { trustedFrameMarkup } from './trustedFrameMarkup.ts';

/** Why a frame was taken down. `gone`: its document went away. `took-keyboard`: it focused itself while a person was elsewhere. */
export type ClosedReason = 'network-open' | 'silent' | 'flood' | 'left' | 'gone' | 'took-keyboard';

export interface FrameBoxOptions {
  /** The frame's own script. */
  readonly frameScript: string;
  /** For people and screen readers. */
  readonly title: string;
  /** The frame is removed where it has not said that it is closed within this time. */
  readonly openingMs: number;
  readonly messagesPerSecond: number;
  /** UTF-16 units of all text in one message. */
  readonly messageCharacters: number;
  /** The frame's script has run. Comes at most once; the transport closes with the box. */
  onLoaded(transport: Transport): void;
  /** The frame was removed. Comes at most once, and not after `dispose`. */
  onClosed(reason: ClosedReason, detail: string): void;
}

/** The frame's own document, and the page that is written into it once. */
const ownLoads = 2;
/** After a port closed, the browser's report that the frame tried to navigate may still be on its way. */
const reportMs = 100;

/**
 * An opaque frame: no origin, no network, and no way to the shell but one port. One that floods, sends a message
 * without bounds, leaves or stays silent is removed. Whoever creates it disposes it.
 */
export class FrameBox {
  readonly #options: FrameBoxOptions;
  readonly #element: HTMLIFrameElement;
  #transport: Transport | undefined;
  #timer: number | undefined;
  #isClosed = false;
  #loads = 0;
  #windowStart = 0;
  #count = 0;

  constructor(container: HTMLElement, options: FrameBoxOptions) {
    this.#options = options;
    const element = container.ownerDocument.createElement('iframe');
    element.title = options.title;
    element.setAttribute('sandbox', 'allow-scripts');
    element.setAttribute('csp', framePolicy);
    element.setAttribute('referrerpolicy', 'no-referrer');
    element.srcdoc = trustedFrameMarkup(frameDocument(options.frameScript));
    element.addEventListener('load', () => this.#onLoad());
    // The shell's policy stops a frame that navigates. The report does not say which frame, so every open one goes.
    document.addEventListener('securitypolicyviolation', this.#onViolation);
    window.addEventListener('message', this.#onWindowMessage);
    this.#element = element;
    this.closeAfter(options.openingMs);
    container.append(element);
  }

  /** Calls `look` when a person points at the frame or moves the focus into it. */
  onAttention(look: () => void): void {
    this.#element.addEventListener('pointerenter', look);
    this.#element.addEventListener('focus', look);
  }

  focus(): void {
    this.#element.focus();
  }

  /** True where the keyboard is in this frame, or was when the whole window lost it. */
  get isActive(): boolean {
    return document.activeElement === this.#element;
  }

  /** Sets the time after which a frame that is not settled counts as silent. */
  closeAfter(ms: number): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.close('silent', ''), ms);
  }

  /** The frame did what was waited for. */
  settle(): void {
    window.clearTimeout(this.#timer);
  }

  close(reason: ClosedReason, detail: string): void {
    if (this.#isClosed) return;
    this.dispose();
    this.#options.onClosed(reason, detail);
  }

  /** Removes the frame, hung or not. */
  dispose(): void {
    this.#isClosed = true;
    window.clearTimeout(this.#timer);
    document.removeEventListener('securitypolicyviolation', this.#onViolation);
    window.removeEventListener('message', this.#onWindowMessage);
    this.#transport?.close();
    this.#element.remove();
  }

  readonly #onViolation = (event: SecurityPolicyViolationEvent): void => {
    if (event.effectiveDirective === 'frame-src') this.close('left', '');
  };

  /** A document that takes the place of the frame's, by a reload or a navigation within, has no port and no probe. */
  #onLoad(): void {
    this.#loads++;
    if (this.#loads === 1) this.#handOver();
    else if (this.#loads > ownLoads) this.close('left', '');
  }

  #handOver(): void {
    const target = this.#element.contentWindow;
    if (!target || this.#isClosed) return;
    const { port1, port2 } = new MessageChannel();
    this.#transport = this.#bounded(portTransport(port1));
    this.#options.onLoaded(this.#transport);
    // An opaque origin has no name to aim at; the port is what makes the message private.
    target.postMessage('sallyport/port', '*', [port2]);
  }

  /** The frame has nothing to say to this window; listeners here drop it, and too much of it ends the frame. */
  readonly #onWindowMessage = (event: MessageEvent): void => {
    if (event.source === this.#element.contentWindow && this.#isFlood()) this.close('flood', '');
  };

  #isFlood(): boolean {
    const now = performance.now();
    if (now - this.#windowStart > 1000) {
      this.#windowStart = now;
      this.#count = 0;
    }
    return ++this.#count > this.#options.messagesPerSecond;
  }

  #bounded(transport: Transport): Transport {
    const { messageCharacters } = this.#options;
    return {
      ...transport,
      start: (onMessage, onClose) =>
        transport.start(
          (message) => {
            if (this.#isClosed) return;
            if (this.#isFlood() || !isBounded(message, messageCharacters)) this.close('flood', '');
            else onMessage(message);
          },
          (reason) => {
            window.setTimeout(() => this.close('gone', ''), reportMs);
            onClose(reason);
          },
        ),
    };
  }
}
