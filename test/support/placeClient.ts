import type { JobSpec } from '../../protocol/src/runner.ts';
import type { PlaceInfo } from '../../language-server/src/runners/places/placeRunner.ts';
import type { TestPlace } from './remotePlace.ts';
import type { CardClient, JobReport, RunJobOptions } from './runnerClient.ts';

/** Runs jobs in another place as `RunnerClient` runs them here, with all that a job told. */
export class PlaceClient implements CardClient {
  readonly hello: PlaceInfo;
  /** The runner over there: the loopback host of a test is this machine. */
  readonly pid: number;
  readonly strays: readonly string[];
  readonly #place: TestPlace;
  readonly #isRunning: () => boolean;
  readonly #aborts = new Map<string, AbortController>();

  constructor(place: TestPlace, hello: PlaceInfo, pid: number, isRunning: () => boolean) {
    this.#place = place;
    this.hello = hello;
    this.pid = pid;
    this.strays = place.problems;
    this.#isRunning = isRunning;
  }

  get isRunning(): boolean {
    return this.#isRunning();
  }

  get complaints(): string {
    return this.#place.problems.join('\n');
  }

  async run(spec: JobSpec, options: RunJobOptions = {}): Promise<JobReport> {
    const abort = new AbortController();
    this.#aborts.set(spec.jobId, abort);
    options.signal?.addEventListener('abort', () => abort.abort(), { once: true });
    const report = {
      stdout: '',
      stderr: '',
      started: false,
      progress: [] as { fraction: number; text: string }[],
      egress: [] as JobReport['egress'][number][],
    };
    try {
      const result = await this.#place.runner.run(
        spec,
        {
          started: () => (report.started = true),
          log: (stream, text) => {
            report[stream] += text;
            options.onLog?.(report[stream]);
          },
          progress: (fraction, text) => report.progress.push({ fraction, text }),
          egress: (record) => report.egress.push(record),
        },
        abort.signal,
      );
      this.#place.runner.settled?.(spec.jobId);
      return { ...report, result };
    } finally {
      this.#aborts.delete(spec.jobId);
    }
  }

  cancel(jobId: string): Promise<boolean> {
    const abort = this.#aborts.get(jobId);
    abort?.abort();
    return Promise.resolve(abort !== undefined);
  }

  async close(): Promise<void> {
    await this.#place.runner.dispose();
  }
}
