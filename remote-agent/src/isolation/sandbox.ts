import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { createDeferred } from '../deferred.ts';
import type { ProcessId } from '../processes.ts';
import { initDescriptors, parseReport, readyScript, type Preparation, type Report } from './initScript.ts';
import type { Keeper } from './keeper.ts';

/** How the shell inside ended its one command, or that it was lost before it could say. */
export type ProgramEnd =
  Extract<Report, { kind: 'exited' | 'signalled' }> | { readonly kind: 'lost'; readonly said: string };

/** A sandbox that stands and waits for one script. It holds nothing of a card until its folders are filled. */
export interface Sandbox {
  /** Where the outputs folder is seen from outside, as long as the sandbox stands. */
  readonly outputsPath: string;
  /** False once it is gone; `outputsPath` means nothing then. */
  stands(): boolean;
  /** The first process inside; everything inside descends from it. */
  readonly first: ProcessId;
  readonly output: Readable;
  readonly errors: Readable;
  readonly progress: Readable;
  /** Gives the shell its script. Once. */
  start(script: string): void;
  /** Settles with the end of the command that `start` gave, or of the sandbox. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Ends every process inside and settles when none is left. Safe to call at any time, any number of times. */
  end(): Promise<void>;
}

export interface OpenOptions {
  readonly keeper: Keeper;
  readonly outputsPath: (first: ProcessId) => string;
  readonly preparation?: Preparation | undefined;
}

const reportLimit = 64 * 1024;
const startTimeoutMs = 20_000;
/** The first process is named before the shell is started, so this is long. */
const namedTimeoutMs = 2_000;

/**
 * Takes a shell that was just spawned inside a sandbox to the point where it answers. Rejects with what it printed
 * where that does not come about, with nothing left running.
 */
export async function openSandbox(child: ChildProcess, options: OpenOptions): Promise<Sandbox> {
  const shell = followShell(child);
  const timer = setTimeout(() => void options.keeper.end(), startTimeoutMs);
  try {
    shell.script.write(readyScript(options.preparation));
    await shell.ready;
    const first = await within(options.keeper.first, namedTimeoutMs);
    return {
      outputsPath: options.outputsPath(first),
      stands: () => options.keeper.stands(),
      first,
      output: pipeOf(child, initDescriptors.output),
      errors: pipeOf(child, initDescriptors.errors),
      progress: pipeOf(child, initDescriptors.progress),
      start: (script) => void shell.script.write(script),
      ended: shell.ended,
      end: () => options.keeper.end(),
    };
  } catch (error) {
    await options.keeper.end();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A shell that answers without being known to be inside anything is none that a card may run in. */
async function within<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no process of a sandbox was named')), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** One end of a pipe that the child was spawned with. Its errors say nothing that the child's end does not. */
export function pipeOf(child: ChildProcess, descriptor: number): Readable & Writable {
  const stream = child.stdio[descriptor] as (Readable & Writable) | null | undefined;
  if (!stream) throw new TypeError(`The sandbox was spawned without descriptor ${descriptor}`);
  return stream;
}

interface Shell {
  readonly script: Writable;
  readonly ready: Promise<undefined>;
  readonly ended: Promise<ProgramEnd>;
}

function followShell(child: ChildProcess): Shell {
  const ready = createDeferred<undefined>();
  const ended = createDeferred<ProgramEnd>();
  ready.promise.catch(() => undefined);
  let said = '';
  const lose = (detail: string) => {
    const text = said.replace(/^ready\n/, '').trim() || detail;
    ready.reject(new Error(text));
    ended.resolve({ kind: 'lost', said: text });
  };
  for (const stream of child.stdio) stream?.on('error', () => undefined);
  child.once('error', (error) => lose(error.message));
  const report = pipeOf(child, initDescriptors.report);
  report.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, reportLimit);
    const parsed = parseReport(said);
    if (parsed.kind === 'ready') ready.resolve(undefined);
    if (parsed.kind === 'exited' || parsed.kind === 'signalled') ended.resolve(parsed);
  });
  report.once('close', () => lose('the shell inside ended'));
  return { script: pipeOf(child, initDescriptors.script), ready: ready.promise, ended: ended.promise };
}
