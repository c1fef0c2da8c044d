import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { createPluginHarness, pluginFiles, startTimer, type PluginHarness } from '../support/pluginHost.ts';
import { preparePluginThreads } from '../../language-server/src/plugins/preparePluginThreads.ts';
import { bundleWorker } from '../support/quickjs.ts';
import { limitRow, measureInTurns, missingRow, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'plugins';
const rounds = 300;
const coldRounds = 15;
const idlePlugins = 100;
const mebibyte = 1024 * 1024;

const body = '({ sum: input.reduce((sum, value) => sum + value, 0) })';
const input = Array.from({ length: 100 }, (_, at) => at);
const source = `export const run = (input) => ${body};`;
const schema = {
  input: { type: 'array', items: { type: 'number' } },
  output: { type: 'object', properties: { sum: { type: 'number' } } },
} as const;
const echo =
  "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m));";

/**
 * Calls of plugins beside a bare message to a thread and back, the same expression in `isolated-vm` and in `node:vm`:
 * what the thread, the sandbox and the checks of both schemas cost. Then a cold start, a hundred that are idle, and how
 * soon one that runs away is gone.
 */
export async function pluginsBench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-plugins-'));
  try {
    await bundleWorker(folder);
    const script = join(folder, 'plugin-worker.mjs');
    return [
      ...(await warmCalls(folder, script)),
      ...(await coldStarts(folder, script)),
      ...(await idle(folder, script)),
      ...(await runaways(script)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function warmCalls(folder: string, script: string): Promise<BenchRow[]> {
  const harness = createPluginHarness({ folder, script });
  harness.install('bench/warm', { source, functions: { run: schema } });
  const echoThread = new Worker(echo, { eval: true });
  const vm = createContext({});
  const expression = new Script(`JSON.stringify(((input) => ${body})(JSON.parse(text)))`);
  const isolate = await openIsolate();
  const text = JSON.stringify(input);
  const work = {
    plugin: () => harness.call('bench/warm', input),
    message: () =>
      new Promise((resolve) => {
        echoThread.once('message', resolve);
        echoThread.postMessage(text);
      }),
    vm: () => {
      vm['text'] = text;
      return JSON.parse(expression.runInContext(vm) as string) as unknown;
    },
    isolate: () => isolate?.(text),
  };
  try {
    await measureInTurns(rounds, work);
    const times = await measureInTurns(rounds, work);
    const peerRow = (name: string, peer: number | null): BenchRow =>
      ratioRow({ group, name, ours: times.plugin, peer, unit: 'ms', goal: '' }, null);
    return [
      limitRow(
        {
          group,
          name: 'warm plugin call, less a bare message to a thread and back',
          ours: times.plugin - times.message,
          unit: 'ms',
        },
        0.3,
      ),
      peerRow('warm plugin call beside a bare message to a thread and back', times.message),
      isolate
        ? peerRow('warm plugin call beside isolated-vm, no thread and no schemas', times.isolate)
        : missingRow(group, 'isolated-vm: not installed here, not measured', ''),
      peerRow('warm plugin call beside node:vm, no boundary', times.vm),
    ];
  } finally {
    await Promise.all([harness.dispose(), echoThread.terminate()]);
  }
}

interface IsolatedVm {
  readonly Isolate: new (options: { memoryLimit: number }) => {
    createContextSync(): { evalClosure(code: string, values: unknown[], options: object): Promise<unknown> };
  };
}

/** The same call in an isolate of its own: text in, text out. Undefined where the package is not installed. */
async function openIsolate(): Promise<((text: string) => Promise<unknown>) | undefined> {
  try {
    const { default: ivm } = (await import('isolated-vm')) as unknown as { default: IsolatedVm };
    const context = new ivm.Isolate({ memoryLimit: 64 }).createContextSync();
    const code = `return JSON.stringify(((input) => ${body})(JSON.parse($0)));`;
    return async (text) =>
      JSON.parse((await context.evalClosure(code, [text], { timeout: 10_000 })) as string) as unknown;
  } catch {
    return undefined;
  }
}

async function coldStarts(folder: string, script: string): Promise<BenchRow[]> {
  const changes = { mostLive: 4 };
  const warmed = createPluginHarness({ folder, script, changes: { ...changes, standby: 1 } });
  const alone = createPluginHarness({ folder, script, changes });
  let next = 0;
  const first = async (harness: PluginHarness): Promise<void> => {
    const name = `bench/cold-${next++}`;
    harness.install(name, source);
    await harness.call(name, input);
  };
  const work = {
    pause: () => wait(150),
    standby: () => first(warmed),
    // What stands by for the next round is made first: making it is no part of what comes now.
    settle: () => wait(150),
    alone: () => first(alone),
    thread: async () => {
      const worker = new Worker(echo, { eval: true });
      await new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('');
      });
      await worker.terminate();
    },
  };
  try {
    await measureInTurns(2, work);
    const times = await measureInTurns(coldRounds, work);
    const name = 'first call of a plugin';
    return [
      limitRow({ group, name: `${name}, a worker standing by`, ours: times.standby, unit: 'ms' }, 60),
      limitRow({ group, name: `${name}, no worker standing by`, ours: times.alone, unit: 'ms' }, 60),
      ratioRow(
        {
          group,
          name: '… beside an empty thread',
          ours: times.alone,
          peer: times.thread,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
    ];
  } finally {
    await Promise.all([warmed.dispose(), alone.dispose()]);
  }
}

/** A hundred plugins that were all called, and are let alone; the workers are those of the product's own limit. */
async function idle(folder: string, script: string): Promise<BenchRow[]> {
  const before = process.memoryUsage.rss();
  const harness = createPluginHarness({ folder, script, changes: { standby: 1 } });
  for (let at = 0; at < idlePlugins; at++) {
    harness.install(`bench/idle-${at}`, source);
    await harness.call(`bench/idle-${at}`, input);
  }
  await wait(1000);
  const cpuBefore = process.cpuUsage();
  await wait(3000);
  const { user, system } = process.cpuUsage(cpuBefore);
  const rss = process.memoryUsage.rss() - before;
  await harness.dispose();
  return [
    limitRow({ group, name: `${idlePlugins} idle plugins, memory`, ours: rss / mebibyte, unit: 'MB' }, 400),
    // The clock of the bench itself wakes up once in this time.
    limitRow(
      {
        group,
        name: `${idlePlugins} idle plugins, share of a processor`,
        ours: (user + system) / 3e4,
        unit: '%',
      },
      0.5,
    ),
  ];
}

/** From the limit of a call that no interrupt reaches to the end of its thread. */
async function runaways(script: string): Promise<BenchRow[]> {
  const callMs = 300;
  const attacks = [
    "new Array(1e9).join('')",
    'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
    "'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b')",
  ];
  const start = await preparePluginThreads(
    { ...pluginFiles, script },
    { now: () => performance.now(), setTimer: startTimer, callMs, interruptMs: callMs },
  );
  const late: number[] = [];
  for (const attack of attacks) {
    const thread = start();
    await thread.load({
      modules: { 'index.js': `export const ready = () => 1; export function run() { ${attack}; }` },
      entry: 'index.js',
      serve: () => Promise.reject(new Error('none')),
      log: () => undefined,
    });
    const { signal } = new AbortController();
    await thread.call('ready', 'null', signal);
    const startedAt = performance.now();
    await thread.call('run', 'null', signal);
    await thread.gone;
    late.push(performance.now() - startedAt - callMs);
  }
  return [
    limitRow(
      {
        group,
        name: 'a native loop is gone after its limit (worst of 3)',
        ours: Math.max(...late),
        unit: 'ms',
      },
      200,
    ),
  ];
}
