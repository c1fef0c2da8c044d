import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import {
  emptyResult,
  interpreter,
  isolationReport,
  jobLimits,
  jobResult,
  jobSpec,
} from '../../../protocol/src/runner.ts';
import type { JobSpec } from '../../../protocol/src/runner.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { jobKeyText } from '../../../protocol/src/servedRunner.ts';
import { releasedValues } from '../../../protocol/src/vault.ts';
import { systemCode, toFileError } from '../files/fileError.ts';
import { openRunnerHome } from '../served/runnerHome.ts';
import { isBatchName } from './batchSystem.ts';

/** What a node was found to be by the probe there; jobs on a node that differs are refused. */
const nodeFacts = z.strictObject({
  /** Digest of the runner that found it. */
  program: z.string(),
  host: z.string(),
  /** Which machines were asked for. */
  chosen: z._default(z.string(), ''),
  at: z.number(),
  version: z.string(),
  platform: z.string(),
  node: z.string(),
  isolation: isolationReport,
  interpreters: z.array(interpreter),
});
export type NodeFacts = z.infer<typeof nodeFacts>;

const submitHead = z.strictObject({
  version: z.literal(1),
  name: z.string(),
  engine: z.string(),
  limits: jobLimits,
  acceptedAt: z.number(),
  /** Which machines it is sent to (`BatchSystem.chosen`). */
  chosen: z._default(z.string(), ''),
  /** What the jobs count on; null for a probe, which has no job. */
  expects: z.nullable(z.strictObject({ platform: z.string(), interpreters: z.array(interpreter) })),
});

/** Jobs that were handed to the batch system together; task `n` runs the `n`-th. */
export interface Submit extends z.infer<typeof submitHead> {
  readonly jobs: readonly JobSpec[];
}

/** Who may let a job's program run: the first that takes the claim, once and for all. */
export const claim = z.strictObject({
  by: z.enum(['node', 'login']),
  /** The task of the batch system, with how often it was started again. */
  task: z.string(),
  host: z.string(),
});
export type Claim = z.infer<typeof claim>;

const keptResult = z.strictObject({
  /** Number of the last event before the end. */
  lastSeq: z.int(),
  result: jobResult,
  /** Whether the kernel ended a process of the task for want of memory; absent where that is not told. */
  killedForMemory: z.optional(z.boolean()),
});
export type KeptResult = z.infer<typeof keptResult>;

/** The key to which a job that has started wants its vault values sealed, with what shows that it is its own. */
const jobKey = z.strictObject({ publicKey: jobKeyText, proof: jobKeyText });
export type JobKey = z.infer<typeof jobKey>;

/** The answer to a key: sealed values, or why there are none. */
export const keptValues = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('released'), publicKey: jobKeyText, values: releasedValues }),
  z.strictObject({
    kind: z.literal('refused'),
    publicKey: jobKeyText,
    detail: z.string(),
    remedy: z.optional(z.string()),
  }),
]);
export type KeptValues = z.infer<typeof keptValues>;

/**
 * A folder that login node and compute nodes share, with everything that must outlive a connection:
 *
 *   blobs/                  by content, as everywhere
 *   submits/NAME.jobs       head and jobs, a line each; written whole before the batch system hears of it
 *   submits/NAME.id         what the batch system answered
 *   runs/JOB.claim          made exclusively: who has it decides whether the program runs
 *   runs/JOB.events         what the job tells, a line each
 *   runs/JOB.progress       the last progress
 *   runs/JOB.key, .values   what its vault values are sealed to, and those values, sealed; there while it waits for them
 *   runs/JOB.result         made exclusively: the one end of the job
 *   runs/JOB.cancel, .gone  the engine asked for its end; has its result
 *   runs/NAME.INDEX.said    what the script and the runner said that is no event
 *   facts                   what the first job found on its node
 *
 * What is made exclusively is written beside and linked, which holds on network file systems too: of two that try, one
 * is told that it was late.
 */
export class BatchFolder {
  readonly path: string;
  readonly blobs: string;
  readonly #uid: number;

  /** Opens the folder, made where it is missing, 0700. Throws `unsafe-path`, `disk-full`, `unreadable`. */
  constructor(path: string, uid: number) {
    this.path = path;
    this.#uid = uid;
    this.blobs = openRunnerHome(path, uid).blobs;
    for (const name of ['submits', 'runs']) mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
  }

  runFile(name: string): string {
    return join(this.path, 'runs', name);
  }

  /** Writes jobs down durably, before anybody is told that they were accepted. Throws `disk-full`. */
  writeSubmit({ jobs, ...head }: Submit): void {
    const lines = [head, ...jobs].map((line) => `${JSON.stringify(line)}\n`);
    this.#replace(join(this.path, 'submits', `${head.name}.jobs`), lines.join(''));
  }

  /** Undefined where there is none. Throws where the file has no form. */
  readSubmit(name: string): Submit | undefined {
    if (!isBatchName(name)) return undefined;
    const text = readOrNothing(join(this.path, 'submits', `${name}.jobs`));
    if (text === undefined) return undefined;
    const [head = '', ...jobs] = text.trimEnd().split('\n');
    return {
      ...submitHead.parse(JSON.parse(head)),
      jobs: jobs.map((line) => jobSpec.parse(JSON.parse(line))),
    };
  }

  submitNames(): string[] {
    return readdirSync(join(this.path, 'submits')).flatMap((file) =>
      file.endsWith('.jobs') && isBatchName(file.slice(0, -5)) ? [file.slice(0, -5)] : [],
    );
  }

  writeSubmitId(name: string, id: string): void {
    this.#replace(join(this.path, 'submits', `${name}.id`), id);
  }

  submitId(name: string): string | undefined {
    return readOrNothing(join(this.path, 'submits', `${name}.id`));
  }

  /** The names in `runs`, read once for many questions. */
  runFiles(): Set<string> {
    return new Set(readdirSync(join(this.path, 'runs')));
  }

  /** False where somebody else has the claim. */
  takeClaim(jobId: string, value: Claim): boolean {
    return this.#create(this.runFile(`${jobId}.claim`), JSON.stringify(value));
  }

  claimOf(jobId: string): Claim | undefined {
    const text = readOrNothing(this.runFile(`${jobId}.claim`));
    // Somebody has it, whoever that is: the program may have run.
    return text === undefined ? undefined : (parsed(claim, text) ?? { by: 'node', task: '', host: '' });
  }

  /** Removes claims made before then (milliseconds since the epoch) of jobs that no list names. */
  removeClaims(named: ReadonlySet<string>, before: number): void {
    for (const file of this.runFiles()) {
      const jobId = /^(.+)\.claim$/.exec(file)?.[1];
      if (jobId === undefined || named.has(jobId)) continue;
      const found = lstatSync(this.runFile(file), { throwIfNoEntry: false });
      if (found && found.mtimeMs < before) rmSync(this.runFile(file), { force: true });
    }
  }

  /** False where the job has an end already. */
  writeResult(jobId: string, value: KeptResult): boolean {
    return this.#create(this.runFile(`${jobId}.result`), JSON.stringify(value));
  }

  /** A result that can't be read is an end all the same: one that nobody knows. */
  resultOf(jobId: string): KeptResult | undefined {
    const text = readOrNothing(this.runFile(`${jobId}.result`));
    if (text === undefined) return undefined;
    const detail = `The result file of the job in ${this.path} can’t be read`;
    return parsed(keptResult, text) ?? { lastSeq: 0, result: emptyResult({ kind: 'unknown', detail }) };
  }

  /** An empty file whose presence says all. */
  mark(jobId: string, kind: 'cancel' | 'gone'): void {
    this.#create(this.runFile(`${jobId}.${kind}`), '');
  }

  /** A later key takes the place of an earlier one: of two starts of a job the last one is answered. */
  writeKey(jobId: string, value: JobKey): void {
    this.#replace(this.runFile(`${jobId}.key`), JSON.stringify(value));
  }

  /** Undefined where the job waits for no values. Throws `unsafe-path` for a file that others may have written. */
  keyOf(jobId: string): JobKey | undefined {
    const text = readOwn(this.runFile(`${jobId}.key`), this.#uid);
    return text === undefined ? undefined : parsed(jobKey, text);
  }

  writeValues(jobId: string, value: KeptValues): void {
    this.#replace(this.runFile(`${jobId}.values`), JSON.stringify(value));
  }

  /** Throws `unsafe-path` for a file that others may have written. */
  valuesOf(jobId: string): KeptValues | undefined {
    const text = readOwn(this.runFile(`${jobId}.values`), this.#uid);
    return text === undefined ? undefined : parsed(keptValues, text);
  }

  /** The key goes first: one without values would be asked for again. */
  removeValues(jobId: string): void {
    for (const kind of ['key', 'values']) rmSync(this.runFile(`${jobId}.${kind}`), { force: true });
  }

  writeProgress(jobId: string, fraction: number, text: string): void {
    const path = this.runFile(`${jobId}.progress`);
    this.#write(`${path}.new`, JSON.stringify({ fraction, text }));
    renameSync(`${path}.new`, path);
  }

  progressOf(jobId: string): { fraction: number; text: string } | undefined {
    const text = readOrNothing(this.runFile(`${jobId}.progress`));
    return text === undefined ? undefined : parsed(progress, text);
  }

  /** What the task said outside of events, its last 4 kB. */
  saidOf(name: string, index: number): string {
    return readOrNothing(this.runFile(`${name}.${index}.said`))?.slice(-4096) ?? '';
  }

  /** Removes what a job leaves. Its claim stays until `removeSubmit`, so that nothing can start it again. */
  removeRun(name: string, index: number, jobId: string): void {
    this.mark(jobId, 'gone');
    this.removeValues(jobId);
    for (const kind of ['events', 'progress', 'progress.new', 'result', 'cancel'])
      rmSync(this.runFile(`${jobId}.${kind}`), { force: true });
    rmSync(this.runFile(`${name}.${index}.said`), { force: true });
  }

  /** Removes jobs that are all gone. The list of jobs goes first: without it no task finds anything to run. */
  removeSubmit(name: string, jobs: readonly Pick<JobSpec, 'jobId'>[]): void {
    for (const kind of ['jobs', 'id']) rmSync(join(this.path, 'submits', `${name}.${kind}`), { force: true });
    for (const { jobId } of jobs)
      for (const kind of ['claim', 'gone']) rmSync(this.runFile(`${jobId}.${kind}`), { force: true });
  }

  writeFacts(facts: NodeFacts): void {
    this.#replace(join(this.path, 'facts'), JSON.stringify(facts));
  }

  facts(): NodeFacts | undefined {
    const text = readOrNothing(join(this.path, 'facts'));
    return text === undefined ? undefined : parsed(nodeFacts, text);
  }

  removeFacts(): void {
    rmSync(join(this.path, 'facts'), { force: true });
  }

  /** Puts the runner's file into the folder under its digest, so that every node finds it. Returns its path. */
  placeProgram(bytes: Uint8Array, digest: string): string {
    const path = join(this.path, `runner-${digest}.cjs`);
    const there = existsSync(path) && hash('sha256', readFileSync(path));
    if (there !== digest) this.#replace(path, bytes);
    return path;
  }

  #replace(path: string, content: string | Uint8Array): void {
    const beside = `${path}.${randomBytes(8).toString('hex')}`;
    this.#write(beside, content);
    renameSync(beside, path);
  }

  #create(path: string, content: string): boolean {
    const beside = `${path}.${randomBytes(8).toString('hex')}`;
    this.#write(beside, content);
    try {
      linkSync(beside, path);
      return true;
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return false;
      throw toFileError(error, 'write', path);
    } finally {
      rmSync(beside, { force: true });
    }
  }

  /** A fresh file, durable when this returns. */
  #write(path: string, content: string | Uint8Array): void {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(path, 'w', 0o600);
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
      fsyncSync(descriptor);
    } catch (error) {
      rmSync(path, { force: true });
      throw toFileError(error, 'write', path);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }
}

/** The text of a regular file that is this user's and that nobody else may write. */
function readOwn(path: string, uid: number): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toFileError(error, 'read', path);
  }
  try {
    const found = fstatSync(descriptor);
    const isOwn = found.isFile() && (uid < 0 || found.uid === uid) && (found.mode & 0o022) === 0;
    if (!isOwn || found.size > mostOwnBytes)
      throw new UserError('unsafe-path', `${path} is no file that only this user writes`, { path });
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** A hundred sealed values of the largest size, and more. */
const mostOwnBytes = 256 * 1024 * 1024;

const progress = z.strictObject({ fraction: z.number(), text: z.string() });

/** What another machine wrote is data: undefined where it has no form. */
function parsed<T extends z.ZodMiniType>(schema: T, text: string): z.infer<T> | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toFileError(error, 'read', path);
  }
}
