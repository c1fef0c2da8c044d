import { withoutFrames } from './withoutFrames.ts';

/** What only the frame's own script may do with text. */
export interface TrustedSinks {
  /** Writes a whole page into this document. `prepare` runs before its first byte, on the emptied document. */
  writePage(markup: string, prepare?: () => void): void;
  /** A document that runs nothing and loads nothing, to be read. */
  parsePage(markup: string): Document;
  /** Runs a script of ours and resolves when it has run. */
  runScript(bytes: ArrayBuffer): Promise<void>;
}

/** For a document without a window: its frames load nothing and its scripts do not run. */
const inert = 'inert';

/** Reaches the network past every policy: CSP has no directive for WebRTC in Chromium. */
const peerConnections = /^(?:webkit)?RTC|^WebTransport|^WebSocketStream|^XSLTProcessor$/;

/**
 * Takes from this realm what no policy closes, and takes both Trusted Types policies before other code can. Must run
 * before anything else in the frame. From here on, text that becomes markup loses its frames, text that becomes a
 * script of a page stays what CSP allows, and scripts from addresses are blobs only.
 */
export function lockDown(window: Window & typeof globalThis): TrustedSinks {
  for (const name of Object.getOwnPropertyNames(window)) {
    if (peerConnections.test(name)) Reflect.deleteProperty(window, name);
  }
  const types = window.trustedTypes;
  if (!types) throw new Error('This browser has no Trusted Types');
  const own = types.createPolicy('sallyport', {
    createHTML: (markup, use) => (use === inert ? markup : withoutFrames(markup)),
    createScriptURL: (url) => url,
  });
  types.createPolicy('default', {
    createHTML: (markup, _type, sink) => (sinkTakesPieces(sink) ? null : withoutFrames(markup)),
    createScript: (text, _type, sink) => (sink?.startsWith('HTMLScriptElement ') ? text : null),
    createScriptURL: (url) => (url.startsWith('blob:') ? url : null),
  });
  const { document } = window;
  // The parser alone runs the scripts of a page in their order; that is what the old call is for here.
  const writer: { open(): void; write(markup: string): void; close(): void } = document;
  return {
    writePage(markup, prepare) {
      writer.open();
      prepare?.();
      writer.write(own.createHTML(markup) as string);
      writer.close();
    },
    parsePage: (markup) =>
      new window.DOMParser().parseFromString(own.createHTML(markup, inert) as string, 'text/html'),
    async runScript(bytes) {
      const url = URL.createObjectURL(new Blob([bytes], { type: 'text/javascript' }));
      const script = document.createElement('script');
      script.src = own.createScriptURL(url) as string;
      await new Promise((resolve, reject) => {
        script.addEventListener('load', resolve);
        script.addEventListener('error', () => reject(new Error('The drawing library did not load')));
        document.head.append(script);
      });
      URL.revokeObjectURL(url);
    },
  };
}

/**
 * `srcdoc` makes a document, and `document.write` joins its pieces after they were looked at; XML entities would do
 * the same inside `parseFromString`.
 */
function sinkTakesPieces(sink: string | undefined): boolean {
  return sink === undefined || /srcdoc|write|parseFromString/i.test(sink);
}
