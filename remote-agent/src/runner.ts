import { availableParallelism } from 'node:os';
import type { RequestHandlers } from '../../protocol/src/contract.ts';
import { UserError } from '../../protocol/src/errors.ts';
import {
  emptyResult,
  runnerProtocolVersion,
  type EgressRecord,
  type IsolationReport,
  type JobResult,
  type JobSpec,
  type runnerSide,
} from '../../protocol/src/runner.ts';
import type { CgroupRoot } from './cgroup.ts';
import type { Environment } from './environment.ts';
import { createBlobStore, type BlobStore } from './files/blobStore.ts';
import type { FileOwner } from './files/materialize.ts';
import { findInterpreters, type Interpreters } from './interpreters.ts';
import { remediesOf, type Probed } from './isolation/isolation.ts';
import type { Flow, LogStream } from './jobLog.ts';
import { runJob, toRefusal, type JobServices } from './jobs.ts';
import { Places } from './places.ts';
import { createRunnerFolder, rootScratch, sweepRunnerFolders, type RunnerFolder } from './runnerFolder.ts';
import { Turnstile, type Entrance } from './turnstile.ts';
import { openJobValues } from './vault/jobValues.ts';
import { createRecipientKey, type RecipientKey } from './vault/openValue.ts';
import { Watchdog } from './watchdog.ts';

/** Where events go: the engine's side of the channel. */
export interface RunnerEvents {
  /** Right before a program is started, which waits for it; a rejection refuses the job. */
  starting?(jobId: string): Promise<void>;
  started(jobId: string): void;
  log(jobId: string, stream: LogStream, text: string): void;
  progress(jobId: string, fraction: number, text: string): void;
  egress(record: EgressRecord): void;
}

export interface RunnerOptions {
  readonly version: string;
  readonly environment: Environment;
  readonly events: RunnerEvents;
  readonly flow: Flow;
  readonly now: () => number;
  /** Probes this machine; called at the start and whenever somebody asks anew. */
  readonly probe: (folder: RunnerFolder, interpreters: Interpreters) => Promise<Probed>;
  readonly openCgroup: () => CgroupRoot | undefined;
  /** Where jobs wait, where this machine's turns are not this runner's alone. */
  readonly entrance?: Entrance | undefined;
  /** Names this start where one process is started more than once, as in a stored VM. */
  readonly start?: () => string;
  /**
   * Who acts in shared folders, where they are another machine's and shown to this one as that user's. Absent: their
   * owners, where the runner is root.
   */
  readonly folderUser?: FileOwner;
  /** For diagnostics: never contents of a job. */
  readonly onProblem: (doing: string, error: unknown) => void;
}

type Handlers = RequestHandlers<(typeof runnerSide)['requests']>;
type Hello = Parameters<Handlers['runner/hello']>[0];

/** What stands after the first message. */
interface Session {
  readonly hello: Hello;
  readonly store: BlobStore;
  readonly folder: RunnerFolder;
  readonly entrance: Entrance;
  /** What the last probe found; a probe that is asked for puts another in its place. */
  found: Found;
}

interface Found {
  readonly interpreters: Interpreters;
  readonly report: IsolationReport;
  /** Undefined where nothing here seals a card. */
  readonly places: Places | undefined;
}

/**
 * Answers the engine: probes the machine once, runs jobs side by side up to the number it was given, and refuses all of
 * them where the probe failed. `dispose` ends every job and removes what the runner made.
 */
export class Runner {
  readonly handlers: Handlers = {
    'runner/hello': (params) => this.#hello(params),
    'runner/probe': () => this.#probeAgain(),
    'job/run': (job, signal) => this.#run(job, signal),
    'job/cancel': ({ jobId }) => ({ found: this.#cancel(jobId) }),
    'runner/sweep': () => ({ removed: this.#sweep() }),
  };
  readonly #options: RunnerOptions;
  readonly #jobs = new Map<string, AbortController>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #watchdog = new Watchdog();
  #recipient: { readonly start: string; readonly key: RecipientKey } | undefined;
  #cgroup: CgroupRoot | undefined;
  #session: Session | undefined;
  #isGreeted = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Settles when no job is left running and the runner's folder is gone. */
  async dispose(): Promise<void> {
    for (const controller of this.#jobs.values()) controller.abort();
    await Promise.all(this.#running);
    await this.#session?.found.places?.dispose();
    this.#session?.folder.remove();
    this.#session = undefined;
  }

  /** What vault values are sealed to: a key for each start, also of a VM that was stored with this runner in it. */
  get vaultKey(): RecipientKey {
    const start = this.#options.start?.() ?? '';
    if (this.#recipient?.start !== start) this.#recipient = { start, key: createRecipientKey() };
    return this.#recipient.key;
  }

  async #hello(hello: Hello): Promise<Awaited<ReturnType<Handlers['runner/hello']>>> {
    const { environment, version } = this.#options;
    if (hello.protocol !== runnerProtocolVersion) {
      const text = `The runner speaks protocol ${runnerProtocolVersion}, the engine ${hello.protocol}`;
      throw new UserError('bad-message', text, { remedy: 'Reload the window after an update.' });
    }
    if (this.#isGreeted) throw new UserError('conflict', 'The runner was greeted before');
    this.#isGreeted = true;
    const isRoot = environment.uid === 0;
    const scratch = isRoot ? rootScratch : hello.scratch;
    const folder = createRunnerFolder({ scratch, pid: environment.pid, passable: isRoot });
    this.#cgroup = this.#options.openCgroup();
    const found = await this.#find(hello, folder);
    const entrance = this.#options.entrance ?? new Turnstile(Math.max(1, hello.maxJobs));
    this.#session = { hello, store: createBlobStore(hello.blobs), folder, entrance, found };
    void found.places?.fill();
    return {
      protocol: runnerProtocolVersion,
      version,
      platform: environment.platform,
      node: environment.nodeVersion,
      isolation: found.report,
      interpreters: Object.values(found.interpreters),
      vaultKey: this.vaultKey.publicKey,
    };
  }

  /** Probes anew and goes on with what that found; jobs that run keep what they have. */
  async #probeAgain(): Promise<IsolationReport> {
    const session = this.#need();
    const before = session.found;
    session.found = await this.#find(session.hello, session.folder);
    await before.places?.retire();
    void session.found.places?.fill();
    return session.found.report;
  }

  async #find(hello: Hello, folder: RunnerFolder): Promise<Found> {
    const { environment, probe, events, onProblem } = this.#options;
    const interpreters = await findInterpreters(environment);
    const { isolation, report } = await probe(folder, interpreters);
    const places =
      isolation &&
      new Places({
        isolation,
        folder,
        cgroup: this.#cgroup,
        standbyCount: Math.min(hello.maxJobs, availableParallelism()) + 1,
        privateFolders: [hello.blobs, hello.scratch, folder.path],
        folderUser: this.#options.folderUser,
        nodePath: interpreters.node?.path,
        onEgress: (record) => events.egress(record),
        onProblem,
      });
    return { interpreters, places, report: { ...report, limits: this.#cgroup ? 'cgroup' : 'watchdog' } };
  }

  async #run(job: JobSpec, signal: AbortSignal): Promise<JobResult> {
    const session = this.#need();
    if (this.#jobs.has(job.jobId)) throw new UserError('conflict', `The job ${job.jobId} is running already`);
    const controller = new AbortController();
    const cancel = () => controller.abort();
    signal.addEventListener('abort', cancel, { once: true });
    // One that was aborted before tells nobody.
    if (signal.aborted) cancel();
    this.#jobs.set(job.jobId, controller);
    const done = this.#runInTurn(session, job, controller.signal);
    this.#running.add(done);
    try {
      return await done;
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#jobs.delete(job.jobId);
      this.#running.delete(done);
    }
  }

  async #runInTurn(session: Session, job: JobSpec, signal: AbortSignal): Promise<JobResult> {
    const { now, events } = this.#options;
    const askedAt = now();
    let leave: () => void;
    try {
      leave = await session.entrance.enter(signal);
    } catch {
      return { ...emptyResult({ kind: 'cancelled' }), waitMs: now() - askedAt };
    }
    try {
      const { places, report } = session.found;
      if (!places) return { ...emptyResult(missingIsolation(report)), waitMs: now() - askedAt };
      const told = {
        starting: async () => events.starting?.(job.jobId),
        started: () => events.started(job.jobId),
        log: (stream: LogStream, text: string) => events.log(job.jobId, stream, text),
        progress: (fraction: number, text: string) => events.progress(job.jobId, fraction, text),
      };
      const services = this.#services(session, places);
      return await runJob(services, job, told, signal, now() - askedAt);
    } finally {
      leave();
    }
  }

  #services(session: Session, places: Places): JobServices {
    const { environment, flow, now } = this.#options;
    return {
      isolation: session.found.report.kind,
      store: session.store,
      programs: {
        interpreters: session.found.interpreters,
        platform: environment.platform,
        hasFile: environment.hasFile,
      },
      kernelRelease: environment.kernelRelease,
      watchdog: this.#watchdog,
      flow,
      now,
      values: ({ jobId, vault = [], awaitsVault }) => {
        if (awaitsVault) throw new UserError('bad-message', 'The vault values of this job were not brought');
        return openJobValues(this.vaultKey, jobId, vault);
      },
      open: (job, values) => places.open(job, values),
    };
  }

  #cancel(jobId: string): boolean {
    const controller = this.#jobs.get(jobId);
    controller?.abort();
    return controller !== undefined;
  }

  #sweep(): number {
    const { hello, folder } = this.#need();
    const { uid } = this.#options.environment;
    const places = new Set([hello.scratch, ...(uid === 0 ? [rootScratch] : [])]);
    return [...places].reduce((sum, place) => sum + sweepRunnerFolders(place, uid, folder.path), 0);
  }

  #need(): Session {
    if (!this.#session) throw new UserError('bad-message', 'The runner was not greeted yet');
    return this.#session;
  }
}

function missingIsolation(report: IsolationReport): JobResult['outcome'] {
  const failed = report.checks.filter((check) => !check.ok);
  const detail = failed.map((check) => `${check.title}: ${check.detail}`).join('. ');
  const remedy = remediesOf(report);
  return toRefusal(new UserError('isolation-missing', detail || 'Nothing here seals a card', { remedy }));
}
