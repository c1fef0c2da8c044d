import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { createDeferred } from '../deferred.ts';
import { identifyProcess, isAlive, type ProcessId } from '../processes.ts';
import { initDescriptors, parseReport, readyScript, type Preparation, type Report } from './initScript.ts';

/** How the shell inside ended its one command, or that it was lost before it could say. */
export type ProgramEnd =
  | Extract<Report, { kind: 'exited' | 'signalled' }>
  | { readonly kind: 'lost'; readonly said: string };

/** A sandbox that stands and waits for one script. It holds nothing of a card until its folders are filled. */
export interface Sandbox {
  /** Where the outputs folder is seen from outside, as long as the sandbox stands. */
  readonly outputsPath: string;
  /** The first process of its own process namespace; everything inside descends from it. */
  readonly first: ProcessId;
  readonly output: Readable;
  readonly errors: Readable;
  readonly progress: Readable;
  /** Gives the shell its script. Once. */
  start(script: string): void;
  /** Settles with the end of the command that `start` gave, or of the sandbox. */
  readonly ended: Promise<ProgramEnd>;
  /** Ends every process inside and settles when none is left. Safe to call at any time, any number of times. */
  kill(): Promise<void>;
}

/** Where bubblewrap reports in JSON, and its first free descriptor after that. */
export const statusDescriptor = 6;
export const firstFreeDescriptor = 7;

const reportLimit = 64 * 1024;
const startTimeoutMs = 20_000;

/**
 * Takes a `bwrap` that was just spawned to the point where its shell answers. Rejects with what bubblewrap printed
 * where that does not come about, with nothing left running.
 */
export async function openSandbox(
  child: ChildProcess,
  outputsPath: (pid: number) => string,
  preparation?: Preparation,
): Promise<Sandbox> {
  const watched = new BubblewrapSandbox(child, outputsPath, readyScript(preparation));
  const timer = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
  try {
    await watched.standing;
    return watched;
  } catch (error) {
    await watched.kill();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

class BubblewrapSandbox implements Sandbox {
  readonly output: Readable;
  readonly errors: Readable;
  readonly progress: Readable;
  readonly ended: Promise<ProgramEnd>;
  /** Settles when the shell has answered. */
  readonly standing: Promise<void>;
  readonly #child: ChildProcess;
  readonly #script: Writable;
  readonly #exited: Promise<void>;
  readonly #outputsPath: (pid: number) => string;
  #first: ProcessId | undefined;

  constructor(child: ChildProcess, outputsPath: (pid: number) => string, opening: string) {
    this.#child = child;
    this.#outputsPath = outputsPath;
    const pipes = child.stdio as unknown as readonly (Readable & Writable)[];
    const pipe = (descriptor: number): Readable & Writable => {
      const stream = pipes[descriptor];
      if (!stream) throw new TypeError(`The sandbox was spawned without descriptor ${descriptor}`);
      // A reset of a pipe whose far side was killed says nothing that the end of the process does not.
      stream.on('error', () => undefined);
      return stream;
    };
    this.#script = pipe(initDescriptors.script);
    this.output = pipe(initDescriptors.output);
    this.errors = pipe(initDescriptors.errors);
    this.progress = pipe(initDescriptors.progress);
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    const report = this.#follow(pipe(initDescriptors.report), pipe(statusDescriptor));
    this.standing = report.standing;
    this.ended = report.ended;
    this.#script.write(opening);
  }

  get first(): ProcessId {
    if (!this.#first) throw new TypeError('The sandbox does not stand yet');
    return this.#first;
  }

  get outputsPath(): string {
    return this.#outputsPath(this.first.pid);
  }

  start(script: string): void {
    this.#script.write(script);
  }

  async kill(): Promise<void> {
    const first = this.#first;
    if (first && isAlive(first)) signal(first.pid);
    else this.#child.kill('SIGKILL');
    await this.#exited;
    if (first) await gone(first);
    this.#script.destroy();
  }

  #follow(report: Readable, status: Readable): { standing: Promise<void>; ended: Promise<ProgramEnd> } {
    let statusText = '';
    let said = '';
    const standing = createDeferred<undefined>();
    const ended = createDeferred<ProgramEnd>();
    standing.promise.catch(() => undefined);
    const stand = () => {
      if (this.#first && parseReport(said).kind !== 'running') standing.resolve(undefined);
    };
    status.setEncoding('utf8').on('data', (text: string) => {
      if (this.#first) return;
      statusText = (statusText + text).slice(0, reportLimit);
      const pid = /"child-pid": *([0-9]+)/.exec(statusText)?.[1];
      if (pid !== undefined) this.#first = identifyProcess(Number(pid));
      stand();
    });
    report.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, reportLimit);
      const parsed = parseReport(said);
      stand();
      if (parsed.kind === 'exited' || parsed.kind === 'signalled') ended.resolve(parsed);
    });
    const lose = (detail: string) => {
      const text = said.replace(/^ready\n/, '').trim() || detail;
      standing.reject(new Error(text));
      ended.resolve({ kind: 'lost', said: text });
    };
    report.once('close', () => lose('the shell inside ended'));
    this.#child.once('error', (error) => lose(error.message));
    return { standing: standing.promise, ended: ended.promise };
  }
}

/** Settles when the process has ended; it was sent SIGKILL or its parent's death does so. */
async function gone(process: ProcessId): Promise<void> {
  for (let waitMs = 1; isAlive(process); waitMs = Math.min(50, waitMs * 2)) {
    signal(process.pid);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
