import { connect, type Socket } from 'node:net';

/** A connected Unix socket. */
export function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}
