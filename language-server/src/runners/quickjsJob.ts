import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import type { PortType } from '../../../protocol/src/manifests.ts';
import type { JobOutcome, JobResult, OutputProblem } from '../../../protocol/src/runner.ts';
import type { JsCardJob } from '../../../protocol/src/worker.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { readTree } from '../../../remote-agent/src/files/readTree.ts';
import type { CardJob } from './cardRunner.ts';
import type { ThreadEnd } from './quickjsThread.ts';

const pageBytes = 65_536;
const mebibyte = 1024 * 1024;
/** An instance starts with 16 MiB: a smaller limit can't be kept. */
const fewestPages = 256;
/** All modules of a card together. */
const moduleBytes = 8 * mebibyte;
const moduleFiles = 2000;
/** All inputs together: half of what an instance has, as the card needs room for what it makes of them. */
const inputBytes = limits.quickjsMemoryBytes / 2;

/** Log that a thread may have under way to the engine at once: a thread does not wait for its reader. */
const mostLogBytes = 64 * mebibyte;

/** Pages of WebAssembly memory for a card: what its manifest allows, within what QuickJS ever gets. */
export function pagesFor(memoryMB: number): number {
  const bytes = Math.min(memoryMB * mebibyte, limits.quickjsMemoryBytes);
  return Math.max(fewestPages, Math.floor(bytes / pageBytes));
}

/** A job that must not run, with the outcome to report. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused';
  readonly outcome: JobOutcome;

  constructor(outcome: JobOutcome) {
    super('The card was refused');
    this.outcome = outcome;
  }
}

/**
 * What the worker is told of a job: its modules and inputs, read from the store. Throws `JobRefused` where the job can't
 * run in QuickJS.
 */
export function toWorkerJob(job: CardJob, blobs: BlobStore): JsCardJob {
  if (typeof job.entry !== 'string') throw refuse('The entry of a js card is one file', '');
  refuseAccess(job);
  for (const { port, type } of [...job.inputs, ...job.outputs])
    if (type === 'directory')
      throw refuse(`The port "${port}" is a directory`, 'Use the runtime node or python for folders.');
  try {
    return {
      cardId: job.cardId,
      entry: job.entry.replace(/^\.\//, ''),
      modules: readModules(job, blobs),
      inputs: readInputs(job, blobs),
      outputs: job.outputs.map(({ port, type, optional }) => ({ port, type, optional })),
      params: job.params,
      deadlineMs: job.limits.seconds * 1000,
      outputBytes: Math.min(job.limits.outputMB * mebibyte, limits.quickjsMemoryBytes),
      logBytes: Math.min(job.limits.logMB * mebibyte, mostLogBytes),
    };
  } catch (error) {
    throw error instanceof UserError ? new JobRefused(storeFailure(error)) : error;
  }
}

/** The outcome of a card that ran, but for its outputs. */
export function toOutcome(end: ThreadEnd, job: CardJob, memoryPages: number): JobOutcome {
  const memory = (): JobOutcome => ({
    kind: 'limit',
    limit: 'memory',
    detail: `it has ${(memoryPages * pageBytes) / mebibyte} MB`,
  });
  switch (end.kind) {
    case 'timeout':
      return { kind: 'timeout', seconds: job.limits.seconds };
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'out-of-memory':
      return memory();
    case 'died':
      return { kind: 'exception', message: `The sandbox ended: ${end.detail.slice(0, 500)}` };
    case 'answered':
      if (end.result.kind === 'ok') return { kind: 'exited', exitCode: 0 };
      switch (end.result.code) {
        case 'timeout':
          return { kind: 'timeout', seconds: job.limits.seconds };
        case 'memory':
          return memory();
        case 'output-too-large':
          return { kind: 'limit', limit: 'output', detail: end.result.message.slice(0, 500) };
        case 'exception':
        case 'stack':
        case 'bad-output':
        case 'bad-entry':
          return { kind: 'exception', message: end.result.message };
      }
  }
}

/** Stores what a card returned. A declared port that it left out is a problem unless it is optional. */
export function storeOutputs(
  job: CardJob,
  returned: Readonly<Record<string, string | Uint8Array>>,
  blobs: BlobStore,
): Pick<JobResult, 'outputs' | 'outputProblems'> {
  const outputs: JobResult['outputs'] = {};
  const outputProblems: OutputProblem[] = [];
  for (const { port, optional } of job.outputs) {
    const value = Object.hasOwn(returned, port) ? returned[port] : undefined;
    if (value !== undefined) {
      const blob = blobs.putBytes(typeof value === 'string' ? Buffer.from(value) : value);
      outputs[port] = { kind: 'file', digest: blob.digest, sizeBytes: blob.sizeBytes, files: 1 };
    } else if (!optional) {
      outputProblems.push({ port, kind: 'missing', detail: 'the card returned nothing for it' });
    }
  }
  return { outputs, outputProblems };
}

/** A store that can't be read or written, as an outcome. */
export function storeFailure(error: unknown): JobOutcome {
  const code = error instanceof UserError ? error.code : undefined;
  return {
    kind: 'refused',
    code: code === 'disk-full' || code === 'unsafe-path' ? code : 'internal',
    detail: errorMessage(error),
  };
}

function refuseAccess({ access }: CardJob): void {
  const asked =
    access.network.kind !== 'none'
      ? 'the network'
      : access.hostFolders.length > 0
        ? 'folders of this computer'
        : access.projectRoot !== undefined
          ? "the project's folder"
          : undefined;
  if (asked !== undefined)
    throw refuse(
      `A js card reaches nothing but its inputs, and this one asks for ${asked}`,
      'Remove the permission from its _card.json, or use the runtime node or python.',
    );
}

function readModules(job: CardJob, blobs: BlobStore): Record<string, string> {
  const files = readTree(blobs, job.code).entries.filter(
    (entry) => entry.kind === 'file' && /\.m?js$/.test(entry.path),
  );
  const sizes = files.map((file) => (file.kind === 'file' ? file.sizeBytes : 0));
  if (files.length > moduleFiles || sizes.reduce((sum, size) => sum + size, 0) > moduleBytes)
    throw refuse(
      `The folder of ${job.cardId} has more than ${moduleFiles} .js files or ${moduleBytes / mebibyte} MiB of them`,
      'Bundle the code into fewer and smaller files.',
    );
  const modules = new Map<string, string>();
  for (const file of files)
    if (file.kind === 'file') modules.set(file.path, decode(blobs.readBytes(file.digest), file.path));
  return Object.fromEntries(modules);
}

function readInputs(job: CardJob, blobs: BlobStore): JsCardJob['inputs'] {
  const total = job.inputs.reduce((sum, { artifact }) => sum + artifact.sizeBytes, 0);
  if (total > inputBytes)
    throw new JobRefused({
      kind: 'limit',
      limit: 'memory',
      detail: `The inputs have ${total} bytes; a js card takes at most ${inputBytes}`,
    });
  const inputs: [string, JsCardJob['inputs'][string]][] = [];
  for (const { port, type, artifact } of job.inputs) {
    if (artifact.kind !== 'file')
      throw refuse(`The input "${port}" is a folder`, 'Use the runtime node or python for folders.');
    const bytes = blobs.readBytes(artifact.digest, { limitBytes: inputBytes });
    inputs.push([
      port,
      isBinary(type)
        ? { type, bytes: new Uint8Array(bytes) }
        : { type, text: decode(bytes, `The input "${port}"`) },
    ]);
  }
  return Object.fromEntries(inputs);
}

function isBinary(type: PortType): boolean {
  return type === 'file' || type === 'image';
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refuse(`${what} is not UTF-8 text`, 'Save it as UTF-8, or use the runtime node or python.');
  }
}

function refuse(detail: string, remedy: string): JobRefused {
  return new JobRefused({
    kind: 'refused',
    code: 'bad-input',
    detail,
    ...(remedy === '' ? {} : { remedy }),
  });
}
