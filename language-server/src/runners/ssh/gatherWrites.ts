import type { Socket } from 'node:net';
import { giveBack } from './giveBack.ts';

/**
 * Lets the kernel have at once what is written to a socket in one turn of the event loop: with `TCP_NODELAY` each packet
 * of ssh2, or each piece of one, would be a system call and a segment. What is written is the socket's: a large piece is
 * empty once it was sent. To be called after `connect`, which gives a socket its first `write` again.
 */
export function gatherWrites(socket: Socket): Socket {
  const write = socket.write.bind(socket) as (...given: readonly unknown[]) => boolean;
  let isGathering = false;
  socket.write = (...given: readonly unknown[]) => {
    if (!isGathering) {
      isGathering = true;
      socket.cork();
      process.nextTick(() => {
        isGathering = false;
        socket.uncork();
      });
    }
    const [bytes, done] = given;
    if (!(bytes instanceof Uint8Array)) return write(...given);
    return write(bytes, (error?: Error | null) => {
      // After a failure the kernel may still read it.
      if (!error) giveBack(bytes);
      if (isCallback(done)) done(error);
    });
  };
  return socket;
}

function isCallback(given: unknown): given is (error?: Error | null) => void {
  return typeof given === 'function';
}
