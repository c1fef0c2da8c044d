import { chmodSync, readdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { systemCode } from '../files/fileError.ts';

const namePattern = /^socket-([0-9]{1,12})$/;
/** Follows the socket of the runner that serves. */
export const socketName = 'runner.sock';
/** sun_path of unix(7), the final NUL included; macOS has 104. */
const longestPath = 103;

/**
 * Listens on the one socket of a folder (0700): of several runners that try at once exactly one gets it, and a runner
 * that was killed keeps nobody out. Each runner binds a name with a number one above the highest, which only one can;
 * whoever then sees a higher one gives way. `runner.sock` leads to the socket that serves. Rejects with `conflict`
 * where another runner serves, `unsafe-path` where the folder's path is too long for a socket.
 */
export async function listenAlone(folder: string, onConnection: (socket: Socket) => void): Promise<Server> {
  assertRoomForSocket(folder);
  for (;;) {
    const highest = Math.max(0, ...numbersIn(folder));
    if (highest > 0 && (await answers(join(folder, `socket-${highest}`))))
      throw new UserError('conflict', 'A runner serves here already');
    const number = highest + 1;
    const path = join(folder, `socket-${number}`);
    const server = await bind(path, onConnection);
    if (!server) continue;
    if (numbersIn(folder).some((each) => each > number)) {
      await new Promise((resolve) => server.close(resolve));
      continue;
    }
    chmodSync(path, 0o600);
    for (const each of numbersIn(folder)) if (each < number) unlinkSync(join(folder, `socket-${each}`));
    const link = join(folder, `${socketName}.${process.pid}`);
    symlinkSync(`socket-${number}`, link);
    renameSync(link, join(folder, socketName));
    return server;
  }
}

/** Throws `unsafe-path` where a socket in the folder would have too long a path. */
export function assertRoomForSocket(folder: string): void {
  const longest = join(folder, 'socket-999999999999');
  if (Buffer.byteLength(longest) <= longestPath) return;
  throw new UserError(
    'unsafe-path',
    `The folder ${folder} has too long a path for a socket (${longestPath} bytes)`,
  );
}

function numbersIn(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const number = namePattern.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

/** A socket that was bound a moment ago may not listen yet, so a refusal counts only when it stays one. */
async function answers(path: string): Promise<boolean> {
  for (let attempt = 0; attempt < 4; attempt++) {
    if (await canConnect(path)) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}

function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Only these say that nobody listens. One that is stopped, with a full queue, refuses by other words.
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(systemCode(error))));
  });
}

function bind(path: string, onConnection: (socket: Socket) => void): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    // A side that has said all may still have something to hear.
    const server = createServer({ allowHalfOpen: true }, onConnection);
    server.once('error', (error) =>
      systemCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen({ path, backlog: 128 }, () => resolve(server));
  });
}
