import type { ArtifactRef } from '../../protocol/src/artifacts.ts';
import { emptyResult, type IsolationReport, type JobResult } from '../../protocol/src/runner.ts';
import type { CardJob, JobEvents } from '../../language-server/src/runners/cardRunner.ts';
import type { LocalRunner, RunnerInfo } from '../../language-server/src/runners/local.ts';
import type { BlobStore } from '../../remote-agent/src/files/blobStore.ts';

export type Behaviour = (
  job: CardJob,
  events: JobEvents,
  signal: AbortSignal,
) => Promise<JobResult> | JobResult;

export const soundIsolation: IsolationReport = {
  kind: 'bubblewrap',
  version: '0.8.0',
  checks: [],
  limits: 'watchdog',
};
export const noIsolation: IsolationReport = {
  kind: 'none',
  version: '',
  limits: 'watchdog',
  checks: [
    { id: 'bwrap', title: 'bubblewrap', ok: false, detail: 'not found', remedy: 'Install bubblewrap.' },
  ],
};

/** A runner that runs nothing: each card writes a text made of its code and inputs, or does what `behave` says. */
export class FakeRunner implements LocalRunner {
  readonly jobs: CardJob[] = [];
  info: RunnerInfo = {
    protocol: 1,
    version: '1',
    platform: 'linux-x64',
    node: 'v24',
    isolation: soundIsolation,
    interpreters: [
      { runtime: 'python', path: '/usr/bin/python3', version: '3.11' },
      { runtime: 'node', path: '/usr/bin/node', version: '24' },
    ],
  };
  readonly #blobs: BlobStore;
  readonly #behaviours = new Map<string, Behaviour>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  behave(card: string, behaviour: Behaviour): void {
    this.#behaviours.set(card, behaviour);
  }

  /** The cards that were run, in order, since the last call. */
  takeRun(): string[] {
    return this.jobs.splice(0).map(({ cardId }) => cardId);
  }

  ready(): Promise<RunnerInfo> {
    return Promise.resolve(this.info);
  }

  probe(): Promise<IsolationReport> {
    return Promise.resolve(this.info.isolation);
  }

  async run(job: CardJob, events: JobEvents, signal: AbortSignal): Promise<JobResult> {
    this.jobs.push(job);
    await Promise.resolve();
    events.started();
    return (this.#behaviours.get(job.cardId) ?? (() => this.succeed(job)))(job, events, signal);
  }

  /** The result of a card that wrote `text` (or its own text) to every output. */
  succeed(
    job: CardJob,
    text = `${job.code.digest} ${job.params} ${job.inputs.map((each) => each.artifact.digest).join(' ')}`,
  ): JobResult {
    const outputs = job.outputs.map(({ port }): [string, ArtifactRef] => {
      const blob = this.#blobs.putBytes(Buffer.from(`${port} ${text}`));
      return [port, { kind: 'file', ...blob, files: 1 }];
    });
    return { ...endedWith({ kind: 'exited', exitCode: 0 }), outputs: Object.fromEntries(outputs) };
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }
}

/** A job's result without outputs, after a millisecond. */
export function endedWith(outcome: JobResult['outcome']): JobResult {
  return { ...emptyResult(outcome, 'bubblewrap'), runMs: 1 };
}

/** A behaviour that waits until it is told to go on, or is cancelled. */
export function gatedBehaviour(runner: FakeRunner): {
  behaviour: Behaviour;
  open: () => void;
  entered: Promise<undefined>;
} {
  const opened = Promise.withResolvers<undefined>();
  const entered = Promise.withResolvers<undefined>();
  return {
    open: () => opened.resolve(undefined),
    entered: entered.promise,
    behaviour: async (job, _events, signal) => {
      entered.resolve(undefined);
      const cancelled = new Promise<'cancelled'>((resolve) =>
        signal.addEventListener('abort', () => resolve('cancelled'), { once: true }),
      );
      const end = await Promise.race([opened.promise, cancelled]);
      return end === 'cancelled' ? endedWith({ kind: 'cancelled' }) : runner.succeed(job);
    },
  };
}
