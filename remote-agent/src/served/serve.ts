import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Duplex } from 'node:stream';
import type { RunnerOptions } from '../runner.ts';
import { serveConnection } from './connection.ts';
import type { JournalDisk } from './journalFile.ts';
import { openRunnerHome } from './runnerHome.ts';
import { ServedRunner } from './servedRunner.ts';
import { listenAlone } from './soleSocket.ts';

export interface ServeOptions {
  /** Absolute. */
  readonly home: string;
  readonly runner: Omit<RunnerOptions, 'events' | 'flow'>;
  readonly uid: number;
  /** Jobs at once; absent means one for each processor. */
  readonly parallel?: number | undefined;
  /** Milliseconds without a connection or a job after which it ends. */
  readonly idleMs: number;
  /** What the journal is written to; absent: a disk that outlives a power cut. */
  readonly disk?: JournalDisk;
  /** Told once what serves a stream that comes another way than by the socket. */
  readonly onServing?: (serveStream: (stream: Duplex) => void) => void;
  /** Names this start of the runner where it is known only later, as in a VM that was stored. */
  readonly instance?: () => string;
  /** True for the path of a folder that the engine has shared with this machine; absent: none is. */
  readonly isShared?: (path: string) => boolean;
  /** Readies a terminal for the holder of a key and returns the host's (`terminal/offer`); absent where there is none. */
  readonly offerTerminal?: (clientKey: string) => string;
}

/**
 * Serves a folder until nobody has needed it for a while or `stop` is aborted; settles then, with everything ended that
 * ran. Rejects with `conflict` where another runner serves the folder, and where the journal can't be read.
 */
export async function serve(options: ServeOptions, stop: AbortSignal): Promise<void> {
  const { onProblem } = options.runner;
  const home = openRunnerHome(options.home, options.uid);
  const connections = new Set<Promise<void>>();
  let runner: ServedRunner | undefined;
  const own = randomBytes(12).toString('hex');
  let timer: NodeJS.Timeout | undefined;
  let { idleMs } = options;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const look = () => {
    clearTimeout(timer);
    const isIdle = connections.size === 0 && runner?.jobs.live === 0;
    if (isIdle) timer = setTimeout(end, idleMs);
  };
  const serveStream = (stream: Duplex) => {
    if (!runner) {
      stream.destroy();
      return;
    }
    const done = serveConnection(stream, runner, onProblem, options.offerTerminal).finally(() => {
      connections.delete(done);
      look();
    });
    connections.add(done);
    clearTimeout(timer);
  };
  const server = await listenAlone(home.path, serveStream);
  stop.addEventListener('abort', end, { once: true });
  try {
    // In the same turn as the socket began to listen, so that no connection finds it without.
    runner = new ServedRunner({
      home,
      runner: options.runner,
      parallel: options.parallel ?? availableParallelism(),
      disk: options.disk,
      instance: options.instance ?? (() => own),
      isShared: options.isShared,
      wallClock: () => Date.now(),
      onIdle: look,
    });
    look();
    runner.greeting().catch(() => {
      // It stays what it is; the next one that is started may find what this one lacked.
      idleMs = 0;
      look();
    });
    options.onServing?.(serveStream);
    if (!stop.aborted) await ended;
  } finally {
    clearTimeout(timer);
    server.close();
    await runner?.dispose();
  }
}
