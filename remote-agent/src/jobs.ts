import { fchmodSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { UserError, errorMessage } from '../../protocol/src/errors.ts';
import type { JobOutcome, JobResult, JobSpec } from '../../protocol/src/runner.ts';
import type { Scrubber } from '../../protocol/src/scrub/scrubber.ts';
import type { JobGroup } from './cgroup.ts';
import { collectOutputs, openOutputs, type CollectedOutputs, type OutputsHandle } from './collect.ts';
import type { BlobStore } from './files/blobStore.ts';
import { folderSize } from './folderSize.ts';
import type { PreparedSandbox } from './isolation/bubblewrapSandboxes.ts';
import { initScript } from './isolation/initScript.ts';
import type { ProgramEnd } from './isolation/sandbox.ts';
import { JobLog, type Flow, type LogStream } from './jobLog.ts';
import { decideOutcome, type Stop } from './jobOutcome.ts';
import { isOutputInMemory, logBytes, outputBytes, processLimits } from './limits.ts';
import { programOf, type ProgramPlace } from './program.ts';
import { createProgressReader } from './progress.ts';
import { stageJob } from './stage.ts';
import { noValues, type JobValues } from './vault/jobValues.ts';
import { isFull, type Excess, type Watchdog } from './watchdog.ts';

/** What is told while a job runs; nothing after it has settled. */
export interface JobEvents {
  /** Right before the program is started, which waits for it; a rejection refuses the job. */
  starting(): Promise<void>;
  started(): void;
  log(stream: LogStream, text: string): void;
  progress(fraction: number, text: string): void;
}

/** A sandbox for one job and its way out, if it has one. */
export interface OpenedPlace {
  readonly prepared: PreparedSandbox;
  /** Holds every process of the sandbox, where the kernel keeps limits. */
  readonly group: JobGroup | undefined;
  /** What the card's environment holds because of its network. */
  readonly environment: Readonly<Record<string, string>>;
  /** Settles when nothing of the job is left running, and every egress record was told. Safe to call twice. */
  end(): Promise<void>;
  /** Lets go of the job's folders. Call after `end`. */
  release(): void;
}

export interface JobServices {
  readonly isolation: JobResult['isolation'];
  readonly store: BlobStore;
  readonly programs: Omit<ProgramPlace, 'cardFolder'>;
  readonly kernelRelease: string;
  readonly watchdog: Watchdog;
  readonly flow: Flow;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
  /** Opens the vault values of a job. Throws `bad-message` where one of them can't be used. */
  values(job: JobSpec): JobValues;
  open(job: JobSpec, values: JobValues): Promise<OpenedPlace>;
}

/**
 * Runs one job to its end: open a sandbox, stage, start, follow, end everything inside, collect. Never rejects: what
 * went wrong on the way is the outcome. `waitMs` is how long the job waited for its place.
 */
export async function runJob(
  services: JobServices,
  job: JobSpec,
  events: JobEvents,
  signal: AbortSignal,
  waitMs: number,
): Promise<JobResult> {
  const run = new JobRun(services, job, events, signal);
  let outcome: JobOutcome;
  try {
    outcome = scrubOutcome(await run.run(), run.values.scrubber);
  } catch (error) {
    outcome = signal.aborted ? { kind: 'cancelled' } : scrubOutcome(toRefusal(error), run.values.scrubber);
  }
  return {
    outcome,
    ...(outcome.kind === 'exited' && outcome.exitCode === 0
      ? { outputs: run.collected.outputs, outputProblems: run.collected.problems }
      : { outputs: {}, outputProblems: [] }),
    logBytes: run.log.keptBytes,
    logCutBytes: run.log.cutBytes,
    waitMs,
    ...run.times,
    isolation: services.isolation,
  };
}

class JobRun {
  readonly log: JobLog;
  /** What the job may say none of. */
  values = noValues;
  readonly times = { runMs: 0, stageMs: 0, collectMs: 0 };
  collected: CollectedOutputs = { outputs: {}, problems: [] };
  readonly #services: JobServices;
  readonly #job: JobSpec;
  readonly #events: JobEvents;
  readonly #signal: AbortSignal;

  constructor(services: JobServices, job: JobSpec, events: JobEvents, signal: AbortSignal) {
    this.#services = services;
    this.#job = job;
    this.#events = events;
    this.#signal = signal;
    this.log = new JobLog(logBytes(job.limits), (stream, text) => events.log(stream, text), services.flow);
  }

  async run(): Promise<JobOutcome> {
    const startedAt = this.#services.now();
    this.#signal.throwIfAborted();
    this.values = this.#services.values(this.#job);
    const place = await this.#services.open(this.#job, this.values);
    let handle: OutputsHandle | undefined;
    try {
      const { prepared } = place;
      const argv = programOf(this.#job, { ...this.#services.programs, cardFolder: prepared.cardFolder });
      await stageJob(this.#services.store, this.#job, prepared.staged.folder, {
        prepared: true,
        signal: this.#signal,
        ...(prepared.owner && { owner: prepared.owner }),
      });
      handle = await openOutputs(prepared.sandbox.outputsPath);
      if (!prepared.sandbox.stands()) throw new Error('the sandbox ended before its program was started');
      this.times.stageMs = this.#services.now() - startedAt;
      const script = initScript({
        argv,
        environment: {
          ...this.values.environment,
          ...prepared.environment,
          ...place.environment,
          SALLYPORT_PARAMS: this.#job.params,
        },
        limits: processLimits(this.#job.limits, this.#services.kernelRelease),
        descriptors: this.values.descriptors,
      });
      const outcome = await this.#follow(place, script, handle);
      if (outcome.kind === 'exited' && outcome.exitCode === 0) await this.#collect(handle);
      return outcome;
    } finally {
      handle?.close();
      await place.end();
      place.release();
    }
  }

  /** From the start of the program until nothing of it is left and its log was read to the end. */
  async #follow(place: OpenedPlace, script: string, handle: OutputsHandle): Promise<JobOutcome> {
    const { sandbox } = place.prepared;
    const { scrubber } = this.values;
    // Before anything is waited for: a stream that ends unheard ends for nobody.
    const streams = [
      this.log.follow('stdout', sandbox.output, scrubber),
      this.log.follow('stderr', sandbox.errors, scrubber),
      followProgress(sandbox.progress, this.#services.now, (fraction, text) =>
        this.#events.progress(fraction, scrubber.text(text)),
      ),
    ];
    await this.#events.starting();
    this.#signal.throwIfAborted();
    place.group?.limit(this.#job.limits);
    const startedAt = this.#services.now();
    sandbox.start(script);
    this.#events.started();
    const { stop, end } = await this.#awaitEnd(place);
    this.times.runMs = this.#services.now() - startedAt;
    await place.end();
    await Promise.all(streams);
    const excess = this.#excessAfter(place.group, handle);
    if (end.kind === 'lost' && !stop && !excess) return lostOutcome(end);
    return decideOutcome({ stop, end, excess });
  }

  async #awaitEnd({
    prepared: { sandbox, staged },
  }: OpenedPlace): Promise<{ stop: Stop | undefined; end: ProgramEnd }> {
    const { limits } = this.#job;
    let cancelled: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    let unwatch: (() => void) | undefined;
    const stopped = new Promise<Stop>((resolve) => {
      cancelled = () => resolve({ kind: 'cancelled' });
      this.#signal.addEventListener('abort', cancelled, { once: true });
      if (this.#signal.aborted) cancelled();
      const expire = () => resolve({ kind: 'timeout', seconds: limits.seconds });
      timer = setTimeout(expire, limits.seconds * 1000);
      unwatch = this.#services.watchdog.watch({
        pid: sandbox.first.pid,
        limits,
        ownNetwork: this.#job.access.network.kind !== 'all',
        outputBytes: isOutputInMemory(limits) ? undefined : () => folderSize(staged.outputsFolder),
        onExcess: (excess) => resolve({ kind: 'excess', ...excess }),
      });
    });
    try {
      const first = await Promise.race([stopped, sandbox.ended]);
      return isStop(first)
        ? { stop: first, end: { kind: 'lost', said: 'it was stopped' } }
        : { stop: undefined, end: first };
    } finally {
      if (cancelled) this.#signal.removeEventListener('abort', cancelled);
      clearTimeout(timer);
      unwatch?.();
    }
  }

  #excessAfter(group: JobGroup | undefined, handle: OutputsHandle): Excess | undefined {
    const limit = group?.excess();
    if (limit) return { limit, detail: 'the kernel refused it more' };
    const { limits } = this.#job;
    const path = `/proc/self/fd/${handle.folder.descriptor}`;
    const isReached = isOutputInMemory(limits) ? isFull(path) : folderSize(path) >= outputBytes(limits);
    return isReached ? { limit: 'output', detail: `all of ${limits.outputMB} MB are used` } : undefined;
  }

  async #collect(handle: OutputsHandle): Promise<void> {
    const startedAt = this.#services.now();
    // A card may have closed its own outputs folder; nothing of it is left that could mind.
    fchmodSync(handle.folder.descriptor, 0o700);
    const { scrubber } = this.values;
    const found = await collectOutputs(handle, this.#job, this.#services.store, this.#signal, scrubber);
    this.collected = {
      outputs: found.outputs,
      problems: found.problems.map((problem) => ({
        ...problem,
        port: scrubber.text(problem.port),
        detail: scrubber.text(problem.detail),
      })),
    };
    this.times.collectMs = this.#services.now() - startedAt;
  }
}

/** How often progress can be seen. Of what comes in between, the newest is told when the stream ends. */
const progressIntervalMs = 50;

function followProgress(source: Readable, now: () => number, tell: JobEvents['progress']): Promise<void> {
  let toldAt = -Infinity;
  let held: (() => void) | undefined;
  const read = createProgressReader((fraction, text) => {
    held = () => tell(fraction, text);
    if (now() - toldAt < progressIntervalMs) return;
    toldAt = now();
    held();
    held = undefined;
  });
  source.on('data', read);
  return new Promise((resolve) => {
    source.once('close', () => {
      held?.();
      resolve();
    });
  });
}

/** Details quote what shells and programs said. */
function scrubOutcome(outcome: JobOutcome, scrubber: Scrubber): JobOutcome {
  if (scrubber.isEmpty || !('detail' in outcome) || outcome.detail === undefined) return outcome;
  return { ...outcome, detail: scrubber.text(outcome.detail) };
}

function isStop(value: Stop | ProgramEnd): value is Stop {
  return value.kind === 'cancelled' || value.kind === 'timeout' || value.kind === 'excess';
}

/** The shell ends with this where it could not set the limits; nothing of the card ran then. */
function lostOutcome(end: Extract<ProgramEnd, { kind: 'lost' }>): JobOutcome {
  return /ulimit/.test(end.said)
    ? { kind: 'refused', code: 'internal', detail: `The limits could not be set: ${end.said}` }
    : decideOutcome({ stop: undefined, end, excess: undefined });
}

const refusals = {
  'isolation-missing': 'isolation-missing',
  'interpreter-missing': 'interpreter-missing',
  'disk-full': 'disk-full',
  'unsafe-path': 'unsafe-path',
  'bad-message': 'bad-input',
  'store-damaged': 'bad-input',
  'too-large': 'bad-input',
  'not-found': 'bad-input',
  'permission-needed': 'permission-needed',
} as const;

/** An error of ours as the outcome that says so. */
export function toRefusal(error: unknown): JobOutcome {
  if (!(error instanceof UserError)) {
    return { kind: 'refused', code: 'internal', detail: errorMessage(error) };
  }
  if (error.code === 'cancelled') return { kind: 'cancelled' };
  const known: Readonly<Partial<Record<string, (typeof refusals)[keyof typeof refusals]>>> = refusals;
  const remedy = error.data['remedy'];
  return {
    kind: 'refused',
    code: known[error.code] ?? 'internal',
    detail: error.message,
    ...(typeof remedy === 'string' && { remedy }),
  };
}
