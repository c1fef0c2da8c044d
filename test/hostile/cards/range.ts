import { createHash, randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { RunnerClient, type CardClient } from '../../support/runnerClient.ts';
import type { Attack } from './attack.ts';
import { layOutLures, type EnginePlaces, type Lures, type LureValues } from './lures.ts';
import { startOpenProxy } from './openProxy.ts';
import { runPlainly, type PlainReport } from './plainRun.ts';
import { runSealed, type SealedReport } from './sealedRun.ts';

/** A place to attack a runner in: an engine's folders, a runner, and as many lures as there are attacks. */
export interface Range {
  readonly client: CardClient;
  readonly engine: EnginePlaces;
  sealed(attack: Attack): Promise<SealedReport>;
  plain(attack: Attack): Promise<PlainReport>;
  /** Ends the runner, removes every folder, and gives the names of what the runner had left. Safe to call twice. */
  close(): Promise<readonly string[]>;
}

/** How many attacks go on at once: enough to meet each other, few enough for two cores. */
const atOnce = 3;

const terminalHost = path.resolve(import.meta.dirname, '../../support/terminalHost.py');
const python = '/usr/bin/python3';

export interface RangeOptions {
  /** Put before the runner: a program that prepares the place in which it then runs. */
  readonly wrapper?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** A runner elsewhere, in place of one that the range starts. */
  readonly place?: RangePlace;
}

/** A place in which attacks are run. */
export interface RangePlace {
  /** Connects to its runner and leaves the secret in all that the place keeps of other cards. */
  connect(engine: EnginePlaces, canary: string): Promise<CardClient>;
  /** What is there in the stead of lures here. Asked once, after connecting. */
  lures(engine: EnginePlaces): LureValues;
}

export async function openRange(options: RangeOptions = {}): Promise<Range> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'sallyport-hostile-')));
  // Open to all: what hides it from a card has to be more than the permissions of files.
  await chmod(root, 0o755);
  const canary = `CANARY-${randomBytes(12).toString('hex')}`;
  const engine = await layOutEngine(path.join(root, 'engine'), canary);
  const environment = {
    ...process.env,
    ...options.environment,
    SALLYPORT_TEST_SECRET: canary,
    SSH_AUTH_SOCK: '/nonexistent',
  };
  const secretFile = openSync(engine.database, 'r');
  // One that follows the standard three, and one far enough off to be missed by a search that stops at a gap.
  const descriptors = new Map([
    [3, secretFile],
    [40, secretFile],
  ]);
  const start = (wrapper: readonly string[] = []) =>
    RunnerClient.start({ ...engine, maxJobs: 2 * atOnce, environment, descriptors, wrapper });
  const { place } = options;
  const connected: Promise<CardClient> = place ? place.connect(engine, canary) : start(options.wrapper);
  const client = await connected.catch(async (error: unknown) => {
    closeSync(secretFile);
    await removeAll(root);
    throw error;
  });
  const interpreters = {
    ...Object.fromEntries(client.hello.interpreters.map((each) => [each.runtime, each.path])),
    python,
  };
  const elsewhere = place?.lures(engine);
  const turn = limited(atOnce);

  const withLures = async <T>(runnerPid: number, use: (lures: Lures, folder: string) => Promise<T>) => {
    const folder = await mkdtemp(path.join(root, 'lures-'));
    await chmod(folder, 0o755);
    const lures = await layOutLures({
      folder,
      canary,
      engine,
      runnerPid,
      ...(elsewhere && { elsewhere }),
    });
    try {
      return await use(lures, folder);
    } finally {
      await lures.dispose();
      await removeAll(folder);
    }
  };

  let closing: Promise<readonly string[]> | undefined;
  const close = async () => {
    closeSync(secretFile);
    try {
      await client.close();
      return await leftBy(client.pid, engine.scratch);
    } finally {
      await removeAll(root);
    }
  };

  return {
    client,
    engine,
    sealed: (attack) =>
      turn(async () => {
        const runner = attack.terminal ? await start([python, terminalHost]) : client;
        try {
          const report = await withLures(runner.pid, (lures) => runSealed(attack, lures, runner, engine));
          if (runner === client) return report;
          await runner.close();
          const heard = runner.complaints.includes('TERMINAL INPUT');
          return heard
            ? { ...report, evidence: [...report.evidence, { proof: 'terminal', detail: runner.complaints }] }
            : report;
        } finally {
          if (runner !== client) await runner.close();
        }
      }),
    plain: (attack) =>
      turn(() =>
        withLures(client.pid, async (lures, folder) => {
          const proxy = attack.hosts ? await startOpenProxy(Number(lures.values['tcpPort'])) : undefined;
          const own = path.join(folder, 'plain');
          await mkdir(own);
          try {
            return await runPlainly(attack, lures, {
              folder: own,
              interpreters,
              environment,
              descriptors,
              terminalHost: (words) => [python, terminalHost, ...words],
              proxy,
            });
          } finally {
            await proxy?.close();
          }
        }),
      ),
    close: () => (closing ??= close()),
  };
}

/** The scratch folder of a runner that is root is elsewhere: its cards are not, and could not enter the engine's. */
async function leftBy(runnerPid: number, scratch: string): Promise<string[]> {
  const elsewhere = (await readdir('/var/tmp')).filter((name) =>
    name.startsWith(`sallyport-runner-${runnerPid}-`),
  );
  return [...(await readdir(scratch)), ...elsewhere];
}

/** Locked folders are among them, and such that are deeper than a path can say, which Node's own removal can't reach. */
async function removeAll(folder: string): Promise<void> {
  const run = promisify(execFile);
  await run('chmod', ['-R', 'u+rwx', '--', folder]).catch(() => undefined);
  await run('rm', ['-rf', '--', folder]);
}

async function layOutEngine(folder: string, canary: string): Promise<EnginePlaces> {
  const secret = `a result of another card: ${canary}\n`;
  const digest = createHash('sha256').update(secret).digest('hex');
  const places = {
    blobs: path.join(folder, 'blobs'),
    scratch: path.join(folder, 'scratch'),
    database: path.join(folder, 'sallyport.sqlite'),
    secretBlob: path.join(folder, 'blobs', digest.slice(0, 2), digest.slice(2)),
  };
  await mkdir(places.scratch, { recursive: true, mode: 0o700 });
  await mkdir(path.dirname(places.secretBlob), { recursive: true });
  await writeFile(places.secretBlob, secret);
  await writeFile(places.database, `${canary}\n`);
  return places;
}

/** Lets at most `count` of what it is given run at a time, in order. */
function limited(count: number): <T>(run: () => Promise<T>) => Promise<T> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
