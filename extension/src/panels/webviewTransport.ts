import type { Webview } from 'vscode';
import type { Transport } from '../../../protocol/src/channel.ts';
import type { Disposable } from '../disposable.ts';

/**
 * A webview as a transport: the one place that posts to one. A hidden webview has no page and drops what it is sent; it
 * asks for everything when it is shown again.
 */
export function webviewTransport(webview: Webview): Transport & Disposable {
  let listener: Disposable | undefined;
  let onClosed: ((reason: string) => void) | undefined;
  const close = (): void => {
    listener?.dispose();
    listener = undefined;
    onClosed?.('the panel was closed');
    onClosed = undefined;
  };
  return {
    send: (message) => void webview.postMessage(message),
    start: (onMessage, onClose) => {
      onClosed = onClose;
      listener = webview.onDidReceiveMessage((message: unknown) => onMessage(message));
    },
    close,
    dispose: close,
  };
}
