import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { createQuickjsRunner } from '../../language-server/src/runners/quickjs.ts';
import { startThread, type QuickjsThread } from '../../language-server/src/runners/quickjsThread.ts';
import { createBlobStore } from '../../remote-agent/src/files/blobStore.ts';
import { bundleWorker, guestSource, wasmModule } from '../support/quickjs.ts';
import { cardJob, putFile } from '../support/quickjsRunner.ts';
import { quickjsFiles } from '../support/quickjsFiles.ts';
import { limitRow, measureInTurns, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'quickjs';
const rounds = 40;
/** Between two cards of a person or a graph; a machine that just made threads is still busy with them. */
const pauseMs = 20;

const body = '{ out: { sum: inputs.numbers.reduce((sum, value) => sum + value, 0) } }';
const input = JSON.stringify(Array.from({ length: 100 }, (_, index) => index));
const echo =
  "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m));";
const silent = {
  started: () => undefined,
  log: () => undefined,
  progress: () => undefined,
  egress: () => undefined,
};

/**
 * A `js` card from submit to its stored result, beside the same expression in `node:vm` and a bare message to a thread
 * and back: what the sandbox, the thread and the blobs cost.
 */
export async function quickjsBench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-js-'));
  const script = await bundleWorker(folder);
  const threads: QuickjsThread[] = [];
  const blobs = createBlobStore(join(folder, 'blobs'));
  const start = (memoryPages: number): QuickjsThread => {
    const thread = startThread({ script, data: { wasmModule, guestSource, memoryPages } });
    threads.push(thread);
    return thread;
  };
  const files = { ...quickjsFiles, script };
  const warm = createQuickjsRunner({ blobs, files, startThread: start, standby: 2 });
  const cold = createQuickjsRunner({ blobs, files, standby: 0 });
  const echoThread = new Worker(echo, { eval: true });
  const vm = createContext({});

  const job = cardJob(blobs, `export default ({ inputs }) => (${body});`, {
    inputs: [{ port: 'numbers', type: 'json', artifact: putFile(blobs, input) }],
  });
  const run = async (runner: typeof warm): Promise<void> => {
    const { outcome } = await runner.run(job, silent, new AbortController().signal);
    if (outcome.kind !== 'exited') throw new Error(`The card ended in ${outcome.kind}`);
  };
  const standBy = async (): Promise<void> => {
    await wait(pauseMs);
    await Promise.all(threads.map((thread) => thread.ready));
    await wait(pauseMs);
  };
  const bareThread = (thread: Worker): Promise<unknown> =>
    new Promise((resolve) => {
      thread.once('message', resolve);
      thread.postMessage(input);
    });
  const work = {
    standBy,
    warm: () => run(warm),
    message: () => bareThread(echoThread),
    vm: () =>
      new Script(
        `JSON.stringify((({ inputs }) => (${body}))({ inputs: { numbers: ${input} } }))`,
      ).runInContext(vm) as unknown,
    cold: () => run(cold),
    thread: async () => {
      const thread = new Worker(echo, { eval: true });
      await bareThread(thread);
      await thread.terminate();
    },
  };
  try {
    await run(warm);
    await measureInTurns(3, work);
    const times = await measureInTurns(rounds, work);
    return [
      limitRow(
        { group, name: 'js card, submit to stored result, thread standing by', ours: times.warm, unit: 'ms' },
        2,
      ),
      ratioRow(
        {
          group,
          name: '… beside a message to a thread and back',
          ours: times.warm,
          peer: times.message,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
      ratioRow(
        {
          group,
          name: '… beside the same expression in node:vm, no boundary',
          ours: times.warm,
          peer: times.vm,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
      ratioRow(
        {
          group,
          name: 'js card without a thread standing by, beside an empty thread',
          ours: times.cold,
          peer: times.thread,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
    ];
  } finally {
    await Promise.all([warm.dispose(), cold.dispose(), echoThread.terminate()]);
    rmSync(folder, { recursive: true, force: true });
  }
}
