import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { Channel } from '../../protocol/src/channel.ts';
import type { ResultOf } from '../../protocol/src/contract.ts';
import { encodeFrame, FrameDecoder } from '../../protocol/src/framing.ts';
import {
  runnerEvents,
  runnerProtocolVersion,
  runnerSide,
  type EgressRecord,
  type JobResult,
  type JobSpec,
} from '../../protocol/src/runner.ts';

const root = path.resolve(import.meta.dirname, '../..');

export interface RunnerOptions {
  /** Absolute folders that the caller owns and removes. */
  readonly blobs: string;
  readonly scratch: string;
  readonly maxJobs?: number;
  /** Put before `node runner`, as an argument list: a program that prepares a place and runs the rest in it. */
  readonly wrapper?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** Descriptors of this process that the runner inherits, by the number that they have there (from 3). */
  readonly descriptors?: ReadonlyMap<number, number>;
}

/** All that one job told, in order of arrival, and how it ended. */
export interface JobReport {
  readonly result: JobResult;
  readonly stdout: string;
  readonly stderr: string;
  readonly started: boolean;
  readonly progress: readonly { readonly fraction: number; readonly text: string }[];
  readonly egress: readonly EgressRecord[];
}

export interface RunJobOptions {
  readonly signal?: AbortSignal;
  /** Called at each piece of log with all the log so far of that stream. */
  readonly onLog?: (soFar: string) => void;
}

type Hello = ResultOf<(typeof runnerSide.requests)['runner/hello']>;

interface Listener {
  stdout: string;
  stderr: string;
  started: boolean;
  readonly progress: { fraction: number; text: string }[];
  readonly egress: EgressRecord[];
  readonly onLog: ((soFar: string) => void) | undefined;
}

/**
 * A runner of its own, spoken to over stdio as the engine does. `close` ends its stdin, which must end the runner,
 * and rejects where that takes longer than ten seconds.
 */
export class RunnerClient {
  readonly hello: Hello;
  /** What a job's events named although no such job was running, and messages that broke the contract. */
  readonly strays: readonly string[];
  readonly #link: Link;

  static async start(options: RunnerOptions): Promise<RunnerClient> {
    const link = new Link(options);
    try {
      const hello = await link.channel.call('runner/hello', {
        protocol: runnerProtocolVersion,
        blobs: options.blobs,
        scratch: options.scratch,
        maxJobs: options.maxJobs ?? 2,
      });
      return new RunnerClient(link, hello);
    } catch (error) {
      await link.close();
      throw new Error(`The runner did not start: ${link.complaints.join('')}`, { cause: error });
    }
  }

  private constructor(link: Link, hello: Hello) {
    this.#link = link;
    this.hello = hello;
    this.strays = link.strays;
  }

  get pid(): number {
    return this.#link.child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#link.child.exitCode === null && this.#link.child.signalCode === null;
  }

  /** What the runner wrote to its stderr. */
  get complaints(): string {
    return this.#link.complaints.join('');
  }

  get channel(): Channel<typeof runnerEvents, typeof runnerSide> {
    return this.#link.channel;
  }

  async run(spec: JobSpec, options: RunJobOptions = {}): Promise<JobReport> {
    const listener: Listener = {
      stdout: '',
      stderr: '',
      started: false,
      progress: [],
      egress: [],
      onLog: options.onLog,
    };
    this.#link.listeners.set(spec.jobId, listener);
    try {
      const result = await this.channel.call(
        'job/run',
        spec,
        options.signal ? { signal: options.signal } : {},
      );
      return { ...listener, result };
    } finally {
      // What runs when the runner is told to end may still say something.
      if (!this.#link.isClosing) this.#link.listeners.delete(spec.jobId);
    }
  }

  /** Cancels by name, as the engine does for a run: the job's own answer then says how it ended. */
  async cancel(jobId: string): Promise<boolean> {
    return (await this.channel.call('job/cancel', { jobId })).found;
  }

  async close(): Promise<void> {
    await this.#link.close();
  }
}

/** What running cards in a place takes: the runner's own client, or one of a runner elsewhere. */
export type CardClient = Pick<
  RunnerClient,
  'hello' | 'pid' | 'isRunning' | 'complaints' | 'strays' | 'run' | 'cancel' | 'close'
>;

/** The bundle where it was built from the sources as they are, else the sources themselves. */
export function runnerProgram(): string {
  const bundle = path.join(root, 'dist/remote-agent.cjs');
  const newest = Math.max(newestChange('remote-agent/src'), newestChange('protocol/src'));
  return existsSync(bundle) && statSync(bundle).mtimeMs >= newest
    ? bundle
    : path.join(root, 'remote-agent/src/main.ts');
}

function newestChange(folder: string): number {
  const files = readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true });
  return Math.max(0, ...files.map((file) => statSync(path.join(file.parentPath, file.name)).mtimeMs));
}

class Link {
  readonly child: ChildProcess;
  readonly channel: Channel<typeof runnerEvents, typeof runnerSide>;
  readonly listeners = new Map<string, Listener>();
  readonly strays: string[] = [];
  readonly complaints: string[] = [];
  isClosing = false;
  readonly #ended: Promise<void>;

  constructor(options: RunnerOptions) {
    const words = [...(options.wrapper ?? []), process.execPath, runnerProgram()];
    const child = spawn(words[0] ?? '', words.slice(1), {
      stdio: stdioWith(options.descriptors ?? new Map<number, number>()),
      env: options.environment ?? process.env,
    });
    this.child = child;
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.complaints.push(error.message);
        resolve();
      });
      child.once('exit', () => resolve());
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.complaints.push(text));
    child.stdin?.on('error', () => undefined);
    this.channel = new Channel(
      {
        send: (message) => child.stdin?.write(encodeFrame(message)),
        start: (onMessage, onClose) => {
          const decoder = new FrameDecoder();
          child.stdout?.on('data', (chunk: Uint8Array) => {
            for (const message of decoder.push(chunk)) onMessage(message);
          });
          child.once('error', (error) => onClose(error.message));
          child.once('exit', (code, signal) => onClose(`the runner ended: ${signal ?? code ?? 'unknown'}`));
        },
        close: () => child.stdin?.end(),
      },
      runnerSide,
      {
        local: runnerEvents,
        requestHandlers: {},
        notificationHandlers: {
          'job/started': ({ jobId }) => this.#hear(jobId, (job) => (job.started = true)),
          'job/log': ({ jobId, stream, text }) =>
            this.#hear(jobId, (job) => {
              job[stream] += text;
              job.onLog?.(job[stream]);
            }),
          'job/progress': ({ jobId, fraction, text }) =>
            this.#hear(jobId, (job) => job.progress.push({ fraction, text })),
          'egress/record': (record) => this.#hear(record.jobId, (job) => job.egress.push(record)),
        },
        onBadMessage: (method, problem) => this.strays.push(`${method}: ${problem}`),
      },
    );
  }

  async close(): Promise<void> {
    this.isClosing = true;
    this.channel.close();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(timer);
    if (this.child.signalCode === 'SIGKILL') throw new Error('The runner did not end when its input did');
  }

  #hear(jobId: string, tell: (job: Listener) => void): void {
    const job = this.listeners.get(jobId);
    if (job) tell(job);
    else this.strays.push(`an event of ${jobId}, which is not running`);
  }
}

function stdioWith(descriptors: ReadonlyMap<number, number>): StdioOptions {
  const last = Math.max(2, ...descriptors.keys());
  return Array.from({ length: last + 1 }, (_, at) => (at < 3 ? 'pipe' : (descriptors.get(at) ?? 'ignore')));
}
