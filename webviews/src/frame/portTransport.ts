import type { Transport } from '../../../protocol/src/channel.ts';

/** JSON-RPC messages over one MessagePort. Closes when the other side's document goes away, where the browser says so. */
export function portTransport(port: MessagePort): Transport {
  return {
    send: (message, transfer) => port.postMessage(message, [...(transfer ?? [])]),
    start: (onMessage, onClose) => {
      port.addEventListener('message', (event: MessageEvent<unknown>) => onMessage(event.data));
      port.addEventListener('close', () => onClose('the other side went away'));
      port.start();
    },
    close: () => port.close(),
  };
}
