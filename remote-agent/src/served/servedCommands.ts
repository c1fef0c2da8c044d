import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { handedOnEnvironment } from '../environment.ts';
import { HostTurns } from '../worker/hostTurns.ts';
import type { RunnerOptions } from '../runner.ts';
import { connectRunner, joinStreams, startDetached } from './connect.ts';
import { serve } from './serve.ts';
import { socketName } from './soleSocket.ts';

/** How the runner is told to serve a place, and how a stream gets to it. */
const servedUsage = `runner.cjs serve --home DIR [--parallel N] [--idle-seconds N] [--turns SOCKET]
runner.cjs connect ensure|control|bulk --home DIR [--sentinel TEXT]`;

/**
 * `serve` runs until it is idle or told to end. `connect` starts it where it is not running; after a line that begins
 * with the sentinel and names the socket, `control` and `bulk` join standard input and output to it. Ends the process.
 */
export async function runServedCommand(
  words: readonly string[],
  options: Omit<RunnerOptions, 'events' | 'flow'>,
  report: (text: string) => void,
): Promise<void> {
  try {
    const { command, kind, home, sentinel, parallel, idleSeconds, turns } = parse(words);
    if (command === 'serve') {
      const stop = new AbortController();
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
      // The connection that started it may end at any time; it goes on.
      process.on('SIGHUP', () => undefined);
      const { uid } = options.environment;
      const entrance = turns === undefined ? undefined : new HostTurns(turns, parallel);
      const runner = { ...options, entrance };
      await serve({ home, runner, uid, parallel, idleMs: idleSeconds * 1000 }, stop.signal);
      process.exit(0);
    }
    const socket = await connectRunner({
      home,
      uid: options.environment.uid,
      startServer: (folder) =>
        startDetached(process.execPath, process.argv[1] ?? '', folder, handedOnEnvironment()),
      waitMs: startMs,
    });
    if (sentinel !== '') {
      const facts = { socket: join(home, socketName), node: process.version };
      process.stdout.write(`\n${sentinel} ${JSON.stringify(facts)}\n`);
    }
    if (kind === 'ensure') socket.destroy();
    else await joinStreams(kind, socket, process.stdin, process.stdout);
    process.exit(0);
  } catch (error) {
    report(errorMessage(error));
    process.exit(error instanceof UserError && error.code === 'conflict' ? conflictExit : 1);
  }
}

/** Another runner serves the folder. */
const conflictExit = 3;
const startMs = 20_000;
const defaultIdleSeconds = 600;
const kinds = ['ensure', 'control', 'bulk'] as const;

function parse(words: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      home: { type: 'string' },
      sentinel: { type: 'string', default: '' },
      parallel: { type: 'string' },
      turns: { type: 'string' },
      'idle-seconds': { type: 'string', default: String(defaultIdleSeconds) },
    },
  });
  const [command, word = 'ensure', ...more] = positionals;
  const kind = kinds.find((each) => each === word);
  const isKnown = command === 'serve' ? positionals.length === 1 : command === 'connect';
  if (!isKnown || !kind || more.length > 0 || !values.home?.startsWith('/')) throw new Error(servedUsage);
  return {
    command,
    kind,
    home: values.home,
    sentinel: values.sentinel,
    parallel:
      values.parallel === undefined
        ? availableParallelism()
        : Math.max(1, Math.floor(Number(values.parallel) || 1)),
    turns: values.turns,
    idleSeconds: Number(values['idle-seconds']),
  };
}
