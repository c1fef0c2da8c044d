import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { defaultCardLimits } from '../../../protocol/src/limits.ts';
import { putTree, readFolder } from '../../support/blobs.ts';
import type { CardClient } from '../../support/runnerClient.ts';
import { fixtures } from './attack.ts';
import type { Lures } from './lures.ts';

/** Another card, busy beside the attacker, with the secret in its memory, environment, folders and IPC. */
export interface Neighbour {
  stop(): void;
}

const program = 'neighbour.py';
const readyText = 'NEIGHBOUR READY';

function parameters(lures: Lures): string {
  return JSON.stringify({ secret: lures.canary, token: lures.neighbourToken });
}

/** Starts it without a sandbox, and waits until its secrets are in place. */
export async function startNeighbour(python: string, lures: Lures, folder: string): Promise<Neighbour> {
  const home = path.join(folder, 'home');
  await mkdir(home, { recursive: true });
  const child = spawn(python, [path.join(fixtures, 'lib', program)], {
    env: {
      PATH: '/usr/bin:/bin',
      HOME: home,
      TMPDIR: '/tmp',
      SALLYPORT_OUTPUTS: home,
      SALLYPORT_PARAMS: parameters(lures),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await Promise.race([
    ended,
    new Promise<void>((resolve) => {
      let log = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (log.includes(readyText)) resolve();
      });
    }),
  ]);
  // It clears up what it put into places that are shared by all, so it is asked to end.
  return { stop: () => child.kill('SIGTERM') };
}

/** Starts it as a job of the same runner. `end` cancels it and waits for its answer. */
export async function startSealedNeighbour(
  client: CardClient,
  lures: Lures,
  blobs: string,
): Promise<{ end(): Promise<void> }> {
  const jobId = lures.neighbourToken;
  const { promise: isReady, resolve: ready } = Promise.withResolvers<null>();
  const ended = client.run(
    {
      jobId,
      cardId: 'neighbour',
      runtime: 'python',
      entry: program,
      code: await putTree(blobs, await readFolder(path.join(fixtures, 'lib'))),
      inputs: [],
      outputs: [],
      params: parameters(lures),
      limits: { ...defaultCardLimits, seconds: 60 },
      access: { network: { kind: 'none' }, hostFolders: [] },
    },
    {
      onLog: (log) => {
        if (log.includes(readyText)) ready(null);
      },
    },
  );
  const early = ended.then((report) => {
    throw new Error(`The neighbour ended early: ${JSON.stringify(report.result.outcome)} ${report.stderr}`);
  });
  await Promise.race([isReady, early]);
  early.catch(() => undefined);
  return {
    end: async () => {
      await client.cancel(jobId);
      await ended;
    },
  };
}
