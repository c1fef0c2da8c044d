import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import type { JobSpec } from '../../protocol/src/runner.ts';
import { putTree } from '../support/blobs.ts';
import { RunnerClient } from '../support/runnerClient.ts';
import { measureInTurns, missingRow, ratioRow, type BenchRow } from './benchRow.ts';
import { installed } from './peers.ts';

const rounds = 80;
const slowRounds = 10;
/** Between two measurements, so that what one leaves to the background (a standby sandbox that is made anew, namespaces that the kernel takes down) does not fall on the next. */
const restMs = 25;

/** A sealed card through the whole runner, over its pipes, against a bare process and other sandboxes. */
export async function cardsBench(): Promise<BenchRow[]> {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/bwrap')) {
    return [missingRow('cards', 'a sealed card: bubblewrap', '')];
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'sallyport-bench-'));
  const [blobs, scratch] = [path.join(folder, 'blobs'), path.join(folder, 'scratch')];
  for (const each of [blobs, scratch]) mkdirSync(each);
  const client = await RunnerClient.start({ blobs, scratch });
  const restore: (() => Promise<void>)[] = [];
  try {
    const runCard = await createCards(client, blobs);
    for (let warm = 0; warm < 5; warm++) for (const run of Object.values(runCard)) await rested(run);
    const times = await measureInTurns(rounds, {
      rest: () => pause(restMs),
      sealedTrue: runCard.true,
      rest1: () => pause(restMs),
      plainTrue: () => ended('/bin/true', []),
      rest2: () => pause(restMs),
      bareTrue: () => ended('/usr/bin/bwrap', [...fullUnshare, '/bin/true']),
      rest3: () => pause(restMs),
      coldTrue: runCard.coldTrue,
      rest4: () => pause(restMs),
      sealedPython: runCard.python,
      rest5: () => pause(restMs),
      plainPython: () => ended('/usr/bin/python3', ['-c', 'pass']),
      rest6: () => pause(restMs),
    });
    const row = (name: string, ours: number, peer: number, goal: string, most: number | null) =>
      ratioRow({ group: 'cards', name, unit: 'ms', goal, ours, peer }, most);
    return [
      row('sealed true, against plain spawn', times.sealedTrue, times.plainTrue, '≤ 2 × plain spawn', 2),
      row('sealed true, against cold bwrap', times.sealedTrue, times.bareTrue, '≤ 0.7 × cold bwrap', 0.7),
      row(
        'sealed python, against python3 -c pass',
        times.sealedPython,
        times.plainPython,
        '≤ 1.3 × plain spawn',
        1.3,
      ),
      row('true without a standby, against cold bwrap', times.coldTrue, times.bareTrue, '', null),
      await againstOther('sandbox-runtime', runCard.true, await openSandboxRuntime(restore)),
      await againstOther('podman run', runCard.true, openPodman(path.join(folder, 'rootfs'))),
    ];
  } finally {
    for (const each of restore) await each();
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Work = () => Promise<void>;

async function createCards(
  client: RunnerClient,
  blobs: string,
): Promise<Record<'true' | 'coldTrue' | 'python', Work>> {
  const code = await putTree(blobs, { 'main.py': 'pass\n' });
  let count = 0;
  const run = async (more: Pick<JobSpec, 'runtime' | 'entry'>, outputMB: number) => {
    const { result } = await client.run({
      jobId: `bench-${++count}`,
      cardId: 'bench',
      code,
      inputs: [],
      outputs: [],
      params: '{}',
      limits: { seconds: 60, memoryMB: 1024, processes: 64, outputMB, logMB: 1 },
      access: { network: { kind: 'none' }, hostFolders: [] },
      ...more,
    });
    if (result.outcome.kind !== 'exited' || result.outcome.exitCode !== 0) {
      throw new Error(`A card of the bench did not succeed: ${JSON.stringify(result.outcome)}`);
    }
  };
  return {
    true: () => run({ runtime: 'command', entry: ['true'] }, 256),
    // Another size of outputs than the standby sandboxes have.
    coldTrue: () => run({ runtime: 'command', entry: ['true'] }, 255),
    python: () => run({ runtime: 'python', entry: 'main.py' }, 256),
  };
}

/** What others recommend for an untrusted command, cold for each. */
const fullUnshare = [
  ...['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL', '--die-with-parent'],
  ...['--new-session', '--clearenv', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
  ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev'],
  ...['--tmpfs', '/tmp', '--tmpfs', '/home', '--remount-ro', '/', '--'],
];

async function againstOther(name: string, ours: Work, peer: Work | undefined): Promise<BenchRow> {
  if (!peer) return missingRow('cards', `sealed true, against ${name}`, '');
  const times = await measureInTurns(slowRounds, {
    rest: () => pause(restMs),
    ours,
    rest1: () => pause(restMs),
    peer,
  });
  const row = { group: 'cards', name: `sealed true, against ${name}`, unit: 'ms', goal: '' };
  return ratioRow({ ...row, ours: times.ours, peer: times.peer }, null);
}

interface SandboxManager {
  initialize(config: object): Promise<void>;
  wrapWithSandbox(command: string): Promise<string>;
  reset(): Promise<void>;
}

/** `@anthropic-ai/sandbox-runtime` from npm in a cache of the bench's own; it needs ripgrep and socat. */
async function openSandboxRuntime(restore: (() => Promise<void>)[]): Promise<Work | undefined> {
  const name = '@anthropic-ai/sandbox-runtime';
  const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'sallyport-bench');
  const entry = path.join(cache, 'node_modules', name, 'dist/index.js');
  if (!installed('rg') || !installed('socat', '-V')) return undefined;
  if (!existsSync(entry)) {
    mkdirSync(cache, { recursive: true });
    const words = [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefix',
      cache,
      `${name}@0.0.83`,
    ];
    if (spawnSync('npm', words, { stdio: 'ignore', timeout: 120_000 }).status !== 0) return undefined;
  }
  const { SandboxManager: manager } = (await import(pathToFileURL(entry).href)) as {
    SandboxManager: SandboxManager;
  };
  const network = { allowedDomains: [], deniedDomains: [] };
  await manager.initialize({ network, filesystem: { denyRead: [], allowWrite: [tmpdir()], denyWrite: [] } });
  restore.push(() => manager.reset());
  return async () => ended('/bin/sh', ['-c', await manager.wrapWithSandbox('true')]);
}

/** A container of nothing but `true`, its loader and its library. */
function openPodman(rootfs: string): Work | undefined {
  if (!installed('podman')) return undefined;
  const libraries = spawnSync('ldd', ['/usr/bin/true'], { encoding: 'utf8' }).stdout.match(/\/\S+/g) ?? [];
  for (const file of ['/usr/bin/true', ...libraries]) {
    mkdirSync(path.join(rootfs, path.dirname(file)), { recursive: true });
    copyFileSync(file, path.join(rootfs, file));
  }
  for (const name of ['proc', 'dev', 'sys', 'etc', 'tmp', 'run']) mkdirSync(path.join(rootfs, name));
  const runtime = spawnSync('runc', ['--version']).status === 0 ? ['--runtime', 'runc'] : [];
  const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'];
  const words = [
    ...runtime,
    'run',
    '--rm',
    '--network',
    'none',
    ...limits,
    '--rootfs',
    rootfs,
    '/usr/bin/true',
  ];
  const works = spawnSync('podman', words, { stdio: 'ignore', timeout: 60_000 }).status === 0;
  return works ? () => ended('podman', words) : undefined;
}

async function rested(work: Work): Promise<void> {
  await work();
  await pause(restMs);
}

/** Spawns a program as Node does and waits for its exit. Throws unless it succeeds, so that no failure counts as fast. */
function ended(program: string, words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    spawn(program, words, { stdio: 'ignore' })
      .once('error', reject)
      .once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`))));
  });
}
