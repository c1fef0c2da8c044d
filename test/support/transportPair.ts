import type { Transport } from '../../protocol/src/channel.ts';

/** Two ends of one connection in this process. */
export function transportPair(): [Transport, Transport] {
  const ends: { onMessage?: (message: unknown) => void; onClose?: (reason: string) => void }[] = [{}, {}];
  const end = (own: number): Transport => ({
    send: (message) => setImmediate(() => ends[1 - own]?.onMessage?.(message)),
    start: (onMessage, onClose) => {
      ends[own] = { onMessage, onClose };
    },
    close: () => setImmediate(() => ends[1 - own]?.onClose?.('closed')),
  });
  return [end(0), end(1)];
}
