import { connect, type NetConnectOpts, type Socket } from 'node:net';

const smallBytes = 64 * 1024;
const largeBytes = 256 * 1024;

/** A socket that is read in large pieces. */
export interface LargeReads {
  readonly socket: Socket;
  /**
   * From now on pieces are lent: each is overwritten once its `data` event is over. For a reader that keeps nothing of
   * them, as ssh2 does once packets are encrypted: what it decrypts is in memory of its own.
   */
  readonly lend: () => void;
}

/** Connects as `net.connect` does. A read costs less the more it brings, and most in a fresh piece of memory. */
export function connectLargeReads(options: NetConnectOpts): LargeReads {
  let lent: Buffer | undefined;
  const socket: Socket = connect({
    ...options,
    onread: {
      // A piece that waits for its reader, because the socket is paused, is left alone.
      buffer: (): Buffer => (lent && socket.readableLength === 0 ? lent : Buffer.allocUnsafeSlow(smallBytes)),
      callback: (count, bytes) => socket.push(bytes.subarray(0, count)),
    },
  });
  return { socket, lend: () => (lent = Buffer.allocUnsafeSlow(largeBytes)) };
}
