import { lstatSync, mkdirSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import {
  emptyResult,
  runnerProtocolVersion,
  type JobResult,
  type JobSpec,
} from '../../../protocol/src/runner.ts';
import { createBlobStore } from '../files/blobStore.ts';
import { toRefusal } from '../jobs.ts';
import { Runner, type RunnerOptions } from '../runner.ts';
import { artifactsOf, missingBlobs } from '../served/blobNeeds.ts';
import { EventLog } from '../served/eventLog.ts';
import { awaitValues } from './awaitValues.ts';
import type { BatchFolder, Submit } from './batchFolder.ts';

export interface OnceOptions {
  readonly folder: BatchFolder;
  readonly name: string;
  readonly index: number;
  /** The batch system's task, and which start of it this is: `12_3`, 0. */
  readonly task: string;
  readonly restart: number;
  readonly runner: Omit<RunnerOptions, 'events' | 'flow'>;
  /** The runner's own file. */
  readonly program: string;
  readonly stop: AbortSignal;
  /** How many processes of this task the kernel has ended for want of memory; undefined where it does not tell. */
  readonly memoryKills: () => number | undefined;
  readonly now: () => number;
}

/**
 * Runs one task on a node: the probe, or one job, sealed. The program of a job is started only by whoever takes its
 * claim, so that a job that was handed over twice, or started again by the batch system, runs once.
 */
export async function runOnce(options: OnceOptions): Promise<void> {
  const submit = options.folder.readSubmit(options.name);
  // Cancelled and forgotten meanwhile.
  if (!submit) return;
  const scratch = ownFolder(options.runner.environment.uid);
  if (submit.expects === null) {
    await probe(options, submit, scratch);
    return;
  }
  const job = submit.jobs[options.index];
  if (job) await runJobOnce(options, submit, job, scratch);
}

/** This user's folder on the node's own disk. Throws `unsafe-path` where another user was there first. */
function ownFolder(uid: number): string {
  const path = join(tmpdir(), `sallyport-${uid}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o777) !== 0o700)
    throw new UserError('unsafe-path', `${path} is no folder of this user alone`, { path });
  return path;
}

async function probe(options: OnceOptions, { chosen }: Submit, scratch: string): Promise<void> {
  const { folder, program, now } = options;
  const runner = new Runner({ ...options.runner, flow: neverCongested, events: silent });
  try {
    const { version, platform, node, isolation, interpreters } = await greet(runner, options, scratch);
    folder.writeFacts({
      program: basename(program),
      host: hostname(),
      chosen,
      at: now(),
      version,
      platform,
      node,
      isolation,
      interpreters,
    });
  } finally {
    await runner.dispose();
  }
}

async function runJobOnce(
  options: OnceOptions,
  submit: Submit,
  job: JobSpec,
  scratch: string,
): Promise<void> {
  const { folder, stop, task, restart, memoryKills } = options;
  const mine = { by: 'node', task, host: hostname() } as const;
  const before = folder.claimOf(job.jobId);
  if (before) {
    // Somebody has it. It was this task itself where the batch system has started it again.
    if (restart > 0 && before.by === 'node' && before.task === task) {
      const detail = `Its task was put back into the queue after the card had been started on ${before.host}; it is not run again by itself`;
      folder.writeResult(job.jobId, {
        lastSeq: lastSeqOf(folder, job.jobId),
        result: emptyResult({ kind: 'unknown', detail }),
      });
    }
    return;
  }
  const killsBefore = memoryKills();
  let isMine = false;
  let log: EventLog | undefined;
  let toldAt = -Infinity;
  const claim = (): boolean => {
    isMine ||= folder.takeClaim(job.jobId, mine);
    if (isMine) log ??= new EventLog(folder.runFile(`${job.jobId}.events`));
    return isMine;
  };
  const runner = new Runner({
    ...options.runner,
    flow: neverCongested,
    events: {
      starting: () =>
        claim() ? Promise.resolve() : Promise.reject(new UserError('conflict', 'Somebody else has this job')),
      started: () => log?.append({ kind: 'started' }),
      log: (_jobId, stream, text) => log?.append({ kind: 'log', stream, text }),
      egress: (record) => log?.append({ kind: 'egress', record }),
      progress: (jobId, fraction, text) => {
        const now = options.runner.now();
        if (now - toldAt < progressMs && fraction < 1) return;
        toldAt = now;
        folder.writeProgress(jobId, fraction, text);
      },
    },
  });
  let result: JobResult;
  try {
    const hello = await greet(runner, options, scratch);
    assertExpected(submit, job, hello);
    const missing = missingBlobs(createBlobStore(folder.blobs), artifactsOf(job));
    if (missing.length > 0)
      throw new UserError('not-found', `${missing.length} of its inputs are not in ${folder.path} any more`, {
        remedy: 'Run it again: they are copied again then.',
      });
    const ready = hello.isolation.kind === 'none' ? job : await withValues(options, job, runner);
    if (!ready) {
      options.runner.onProblem(
        'get vault values',
        new Error('another start of this job has told a key since'),
      );
      return;
    }
    result = await runner.handlers['job/run'](ready, stop);
  } catch (error) {
    result = emptyResult(toRefusal(error));
  } finally {
    await runner.dispose();
  }
  const kills = memoryKills();
  const isCounted = killsBefore !== undefined && kills !== undefined;
  if (claim())
    folder.writeResult(job.jobId, {
      lastSeq: log?.lastSeq ?? 0,
      result,
      ...(isCounted && { killedForMemory: kills > killsBefore }),
    });
  log?.close();
}

/** The job with its vault values, for which this asks with the key of this runner. Undefined where another start has it. */
async function withValues(
  { folder, runner, stop }: OnceOptions,
  job: JobSpec,
  { vaultKey: { publicKey } }: Runner,
): Promise<JobSpec | undefined> {
  const { awaitsVault: awaits, ...rest } = job;
  if (!awaits) return job;
  const { now } = runner;
  const values = await awaitValues({ folder, jobId: job.jobId, awaits, publicKey, now, signal: stop });
  return values && { ...rest, vault: [...values] };
}

async function greet(runner: Runner, { folder }: OnceOptions, scratch: string) {
  const { signal } = new AbortController();
  const hello = { protocol: runnerProtocolVersion, blobs: folder.blobs, scratch, maxJobs: 1 };
  const said = await runner.handlers['runner/hello'](hello, signal);
  // What tasks that were killed outright have left on this node.
  await runner.handlers['runner/sweep']({}, signal);
  return said;
}

/** A result is stored under what the probed node had: another node must have the same. */
function assertExpected(
  { expects }: Submit,
  { runtime }: JobSpec,
  found: Pick<NonNullable<Submit['expects']>, 'platform' | 'interpreters'>,
): void {
  const versionIn = (all: typeof found.interpreters) => {
    const known = all.find((each) => each.runtime === runtime);
    return known && `${known.version} (${known.path})`;
  };
  const [wanted, had] = [versionIn(expects?.interpreters ?? []), versionIn(found.interpreters)];
  if (expects?.platform === found.platform && wanted === had) return;
  throw new UserError(
    'interpreter-missing',
    `The node ${hostname()} has ${runtime} ${had ?? 'none'} on ${found.platform}, the node of the first job had ${wanted ?? 'none'} on ${expects?.platform ?? ''}`,
    {
      remedy:
        'Let this place send cards to nodes of one kind only (docs/slurm.md says how), and check it anew.',
    },
  );
}

function lastSeqOf(folder: BatchFolder, jobId: string): number {
  const log = new EventLog(folder.runFile(`${jobId}.events`));
  log.close();
  return log.lastSeq;
}

/** Progress goes through a shared file. */
const progressMs = 1000;
const neverCongested = { isCongested: false, whenClear: () => Promise.resolve() };
const nothing = () => undefined;
const silent = { started: nothing, log: nothing, progress: nothing, egress: nothing };
