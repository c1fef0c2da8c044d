import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { streamOpenings } from '../../../protocol/src/servedRunner.ts';
import { openRunnerHome } from './runnerHome.ts';
import { socketName } from './soleSocket.ts';

export interface ConnectOptions {
  /** Absolute. */
  readonly home: string;
  readonly uid: number;
  /** Starts a runner that serves the folder and outlives this process. */
  readonly startServer: (home: string) => void;
  readonly waitMs: number;
}

/** Connects to the runner that serves the folder, starting one where there is none. Rejects where it does not come. */
export async function connectRunner({ home, uid, startServer, waitMs }: ConnectOptions): Promise<Socket> {
  openRunnerHome(home, uid);
  const path = join(home, socketName);
  const first = await tryConnect(path);
  if (first) return first;
  startServer(home);
  const until = performance.now() + waitMs;
  while (performance.now() < until) {
    await wait(pollMs);
    const socket = await tryConnect(path);
    if (socket) return socket;
  }
  throw new Error(
    `the runner did not start in ${Math.round(waitMs / 1000)} s; ${join(home, 'runner.log')} says why`,
  );
}

const pollMs = 10;

/** Joins two streams to the runner until either side ends. */
export async function joinStreams(
  kind: keyof typeof streamOpenings,
  socket: Socket,
  input: Readable,
  output: Writable,
): Promise<void> {
  socket.write(streamOpenings[kind]);
  input.pipe(socket);
  socket.pipe(output, { end: false });
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    output.once('error', () => resolve());
    input.once('error', () => resolve());
  });
  socket.destroy();
}

/** Starts the program again as a server in a session of its own, told nothing of this one's connection but `more`. */
export function startDetached(
  program: string,
  script: string,
  home: string,
  environment: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): void {
  const log = openSync(join(home, 'runner.log'), 'a', 0o600);
  try {
    spawn(program, [script, 'serve', '--home', home, ...more], {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: home,
      env: environment,
    }).unref();
  } finally {
    closeSync(log);
  }
}

function tryConnect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}
