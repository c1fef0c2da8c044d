import type { Socket } from 'node:net';

/**
 * Lets the kernel have at once what is written to a socket in one turn of the event loop. ssh2 writes every packet in
 * three pieces (length, ciphertext, tag), and with `TCP_NODELAY` each would be a system call and a segment. To be
 * called after `connect`, which gives a socket its first `write` again.
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
    return write(...given);
  };
  return socket;
}
