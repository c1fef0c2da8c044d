import type { Transport } from './channel.ts';

/** What `MessagePort` and `Worker` of `node:worker_threads` have in common. */
export interface PortLike {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'close' | 'exit', listener: () => void): unknown;
}

/**
 * Carries messages between two threads by structured clone. Nothing bounds the size here: both sides bound what they
 * send by the limits of the job. `close` is what closing means for this side.
 */
export function portTransport(port: PortLike, close: () => void): Transport {
  return {
    send: (message, transfer) => port.postMessage(message, transfer),
    start(onMessage, onClose) {
      port.on('message', onMessage);
      let open = true;
      const closed = (): void => {
        if (open) onClose('the thread ended');
        open = false;
      };
      port.on('exit', closed);
      port.on('close', closed);
    },
    close,
  };
}
