import type { ChildProcess } from 'node:child_process';
import { Channel } from '../../../protocol/src/channel.ts';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import {
  emptyResult,
  runnerEvents,
  runnerProtocolVersion,
  runnerSide,
  type IsolationReport,
  type JobSpec,
} from '../../../protocol/src/runner.ts';
import type { CardJob, CardRunner, JobEvents } from './cardRunner.ts';
import { createStdioTransport } from './stdioTransport.ts';

/** What the runner says of itself and of the machine that it is on. */
export type RunnerInfo = ResultOf<(typeof runnerSide)['requests']['runner/hello']>;

export interface LocalRunnerOptions {
  /** Starts the runner with piped standard input and output. */
  readonly spawn: () => ChildProcess;
  /** Absolute folders: blobs, and where the runner builds what a job sees. */
  readonly blobs: string;
  readonly scratch: string;
  readonly maxJobs: number;
  /** Told of what goes wrong without failing a card: messages that break the contract, the runner's own stderr. */
  readonly onProblem: (problem: string) => void;
}

/** A place for sealed cards: the runner as a child of this engine, started when first needed. */
export interface LocalRunner extends CardRunner {
  /** Starts the runner where it is not running. Throws `isolation-missing` where it can't be started. */
  ready(): Promise<RunnerInfo>;
  /** Probes the isolation again. */
  probe(): Promise<IsolationReport>;
}

type RunnerChannel = Channel<typeof runnerEvents, typeof runnerSide>;

interface Started {
  readonly channel: RunnerChannel;
  readonly info: RunnerInfo;
  readonly ended: Promise<void>;
}

/**
 * Keeps one runner alive. When it dies, the jobs in it reject with `closed` (their end was not observed) and the next
 * call starts another; a start is tried a few times, then refused until someone asks again.
 */
export function createLocalRunner(options: LocalRunnerOptions): LocalRunner {
  const jobs = new Map<string, JobEvents>();
  let starting: Promise<Started> | undefined;
  let isDisposed = false;

  const started = async (): Promise<Started> => {
    if (isDisposed) throw new UserError('closed', 'The engine is ending');
    starting ??= startWithRetries(options, jobs, () => (starting = undefined));
    try {
      return await starting;
    } catch (error) {
      starting = undefined;
      throw error;
    }
  };

  return {
    async ready() {
      return (await started()).info;
    },
    async probe() {
      return (await started()).channel.call('runner/probe', {});
    },
    async run(job, events, signal) {
      const { channel } = await started();
      jobs.set(job.jobId, events);
      try {
        // The signal is not given to the call: a cancelled job still answers, when nothing of it is left running.
        const cancel = () => void channel.call('job/cancel', { jobId: job.jobId }).catch(() => undefined);
        if (signal.aborted) return emptyResult({ kind: 'cancelled' });
        signal.addEventListener('abort', cancel, { once: true });
        try {
          return await channel.call('job/run', toSpec(job));
        } finally {
          signal.removeEventListener('abort', cancel);
        }
      } finally {
        jobs.delete(job.jobId);
      }
    },
    async dispose() {
      isDisposed = true;
      const running = await starting?.catch(() => undefined);
      if (!running) return;
      running.channel.close();
      await running.ended;
    },
  };
}

const startAttempts = 3;
const helloTimeoutMs = 30_000;
/** The runner ends its jobs first; each of them is gone well before this. */
const killAfterMs = 5_000;

async function startWithRetries(
  options: LocalRunnerOptions,
  jobs: ReadonlyMap<string, JobEvents>,
  onEnd: () => void,
): Promise<Started> {
  let last: unknown;
  for (let attempt = 0; attempt < startAttempts; attempt++) {
    try {
      return await start(options, jobs, onEnd);
    } catch (error) {
      last = error;
      options.onProblem(`The runner did not start: ${errorMessage(error)}`);
    }
  }
  throw new UserError(
    'isolation-missing',
    `The runner could not be started: ${errorMessage(last)}`,
    {},
    { cause: last },
  );
}

async function start(
  options: LocalRunnerOptions,
  jobs: ReadonlyMap<string, JobEvents>,
  onEnd: () => void,
): Promise<Started> {
  const child = options.spawn();
  const kill = () => void child.kill('SIGKILL');
  const { stdin, stdout, stderr } = child;
  const state = { isUp: false, isClosed: false };
  if (!stdin || !stdout) throw new Error('no pipes');
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  stderr?.setEncoding('utf8').on('data', (text: string) => options.onProblem(text.slice(0, 4096)));
  const channel: RunnerChannel = new Channel(createStdioTransport(stdout, stdin), runnerSide, {
    local: runnerEvents,
    requestHandlers: {},
    notificationHandlers: {
      'job/started': ({ jobId }) => jobs.get(jobId)?.started(),
      'job/log': ({ jobId, stream, text }) => jobs.get(jobId)?.log(stream, text),
      'job/progress': ({ jobId, fraction, text }) => jobs.get(jobId)?.progress(fraction, text),
      'egress/record': (record) => jobs.get(record.jobId)?.egress(record),
    },
    onBadMessage: (method, problem) => options.onProblem(`The runner sent a bad ${method}: ${problem}`),
    onClose: () => {
      state.isClosed = true;
      if (!state.isUp) return;
      onEnd();
      // A runner whose pipe is broken but which lives on must not keep running cards that no one hears of.
      const timer = setTimeout(kill, killAfterMs);
      void ended.then(() => clearTimeout(timer));
    },
  });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  void ended.then(() => channel.close('the runner ended'));
  try {
    const info = await Promise.race([
      channel.call(
        'runner/hello',
        {
          protocol: runnerProtocolVersion,
          blobs: options.blobs,
          scratch: options.scratch,
          maxJobs: options.maxJobs,
        },
        { timeoutMs: helloTimeoutMs },
      ),
      failed,
    ]);
    if (info.protocol !== runnerProtocolVersion) throw new Error(`it speaks protocol ${info.protocol}`);
    if (state.isClosed) throw new Error('it ended');
    state.isUp = true;
    void channel.call('runner/sweep', {}).catch(() => undefined);
    return { channel, info, ended };
  } catch (error) {
    channel.close();
    kill();
    throw error;
  }
}

/** The job as a runner is told it. Throws for a `js` card, which has a place of its own. */
export function toSpec(job: CardJob): JobSpec {
  const { runtime } = job;
  if (runtime === 'js')
    throw new TypeError('Failed to run a js card in the runner: it has a place of its own');
  return {
    jobId: job.jobId,
    cardId: job.cardId,
    runtime,
    entry: job.entry,
    code: job.code,
    inputs: [...job.inputs],
    outputs: [...job.outputs],
    params: job.params,
    limits: job.limits,
    access: job.access,
    ...(job.vault && job.vault.length > 0 && { vault: [...job.vault] }),
    // No names of the vault: those are for the engine that asks.
    ...(job.releaseLater && {
      awaitsVault: { ticket: job.releaseLater.ticket, waitSeconds: job.releaseLater.waitSeconds },
    }),
  };
}
