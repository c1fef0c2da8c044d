import { build, type BuildOptions } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quickjsFiles } from './quickjsFiles.ts';
import {
  startThread,
  type QuickjsThread,
  type ThreadEnd,
  type ThreadOptions,
} from '../../language-server/src/runners/quickjsThread.ts';
import type { JsCardJob, JsCardResult } from '../../protocol/src/worker.ts';
import { createSandbox, type Sandbox } from '../../sandbox-worker/src/sandbox.ts';
import type { CardEvents } from '../../sandbox-worker/src/hostFunctions.ts';

const { targets } = (await import(join(import.meta.dirname, '../../scripts/build.mjs'))) as {
  targets: readonly (BuildOptions & { entryPoints: Record<string, string> })[];
};

/** QuickJS, compiled once for all tests of a process. */
export const wasmModule = await WebAssembly.compile(readFileSync(quickjsFiles.wasm));
export const guestSource = readFileSync(quickjsFiles.guest, 'utf8');

/** The most pages an instance gets: 64 MiB. */
export const standardPages = 1024;

/** A thread as the engine starts it, from the sources unless `script` is a bundle. */
export function startTestThread(
  script: string = quickjsFiles.script,
  changes: Partial<Omit<ThreadOptions, 'script' | 'data'>> = {},
): QuickjsThread {
  return startThread({ script, data: { wasmModule, guestSource, memoryPages: standardPages }, ...changes });
}

/** Bundles the worker as the product does and returns its path: such a thread starts three times faster. */
export async function bundleWorker(folder: string): Promise<string> {
  const target = targets.find((each) => 'sandbox-worker' in each.entryPoints);
  await build({ ...target, outdir: folder, sourcemap: false });
  return join(folder, 'sandbox-worker.mjs');
}

/** A job with one file and one optional `json` output `out`, unless said otherwise. */
export function jsJob(source: string, changes: Partial<JsCardJob> = {}): JsCardJob {
  return {
    cardId: 'card',
    modules: { 'main.js': source },
    entry: 'main.js',
    inputs: {},
    outputs: [{ port: 'out', type: 'json', optional: true }],
    params: '{}',
    deadlineMs: 60_000,
    outputBytes: 1024 * 1024,
    logBytes: 64 * 1024,
    ...changes,
  };
}

export interface SandboxRun {
  readonly sandbox: Sandbox;
  readonly result: JsCardResult;
  readonly log: string;
  readonly progress: readonly (readonly [number, string])[];
}

/** Runs a card on this thread. */
export async function runInSandbox(
  job: JsCardJob,
  options: { memoryPages?: number; now?: () => number } = {},
): Promise<SandboxRun> {
  const { memoryPages = standardPages, now = () => performance.now() } = options;
  const sandbox = await createSandbox({ wasmModule, guestSource, memoryPages, now });
  let log = '';
  const progress: [number, string][] = [];
  const events: CardEvents = {
    log: (stream, text) => (log += stream === 'stderr' ? `! ${text}` : text),
    progress: (fraction, text) => progress.push([fraction, text]),
    tick: () => undefined,
  };
  const result = sandbox.run(job, events);
  return { sandbox, result, log, progress };
}

export interface ThreadRun {
  readonly end: ThreadEnd;
  readonly log: string;
}

/** Runs a card on a thread of its own. */
export async function runOnThread(
  thread: QuickjsThread,
  job: JsCardJob,
  killAfterMs: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<ThreadRun> {
  let log = '';
  const events = {
    started: () => undefined,
    log: (_stream: string, text: string) => (log += text),
    progress: () => undefined,
  };
  const end = await thread.run(job, events, killAfterMs, signal);
  return { end, log };
}

/** The one word (or `returns JSON`) that the hostile fixtures use for an end. */
export function endWord(end: ThreadEnd): string {
  if (end.kind === 'timeout') return 'killed';
  if (end.kind !== 'answered') return end.kind;
  if (end.result.kind === 'error') return end.result.code;
  return `returns ${String(end.result.outputs['out'])}`;
}
