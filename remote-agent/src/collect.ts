import { isUtf8 } from 'node:buffer';
import { closeSync } from 'node:fs';
import type { ArtifactRef } from '../../protocol/src/artifacts.ts';
import { limits } from '../../protocol/src/limits.ts';
import type { PortType } from '../../protocol/src/manifests.ts';
import { parseJson } from '../../protocol/src/parseJson.ts';
import type { JobSpec, OutputProblem } from '../../protocol/src/runner.ts';
import type { Scrubber } from '../../protocol/src/scrub/scrubber.ts';
import type { BlobStore } from './files/blobStore.ts';
import { CaptureError, captureEntry, type CaptureFault } from './files/captureTree.ts';
import { systemCode, toFileError } from './files/fileError.ts';
import { openFolder, readNames, type OpenedFolder } from './files/noFollow.ts';
import { createPace } from './files/pace.ts';
import { decodeName, showName } from './files/treePath.ts';

/** The outputs folder as it was before the card started; what its path names later does not matter. */
export interface OutputsHandle {
  readonly folder: OpenedFolder;
  /** Safe to call twice. */
  close(): void;
}

export interface CollectedOutputs {
  /** One for each port that was taken whole. */
  readonly outputs: Record<string, ArtifactRef>;
  readonly problems: OutputProblem[];
}

/** Entries that no port declares are named up to this many; the rest is counted. */
const unexpectedShown = 10;
/** Where more entries than this lie beside the ports, counting stops. */
const unexpectedCounted = 10_000;
/** Larger text is stored unread: what reads it finds out. */
const checkedBytes = 8 * 1024 * 1024;

/** Opens the folder that the card will write to. Call before the program starts; throws `unreadable`. */
export async function openOutputs(outputsFolder: string): Promise<OutputsHandle> {
  try {
    const folder = openFolder(outputsFolder);
    let open = true;
    const close = (): void => {
      if (open) closeSync(folder.descriptor);
      open = false;
    };
    return { folder, close };
  } catch (error) {
    throw toFileError(error, 'open the folder', outputsFolder);
  }
}

/**
 * Stores what a card left for its declared ports. Call once, after exit code 0 and with nothing of the job running;
 * the walk is safe even where something is. Each port is taken whole or not at all, in the order of declaration, as
 * regular files and folders only (hard links are refused, see `CaptureOptions`); `limits.outputMB` and
 * `limits.filesPerTree` hold over all of them together. Entries that no port declares are reported, never read.
 * A port in which one of `values` is found is not taken. Problems are results; thrown are only failures of this machine: `disk-full`, `unreadable`, and `cancelled`.
 */
export async function collectOutputs(
  handle: OutputsHandle,
  job: JobSpec,
  store: BlobStore,
  signal?: AbortSignal,
  values?: Scrubber,
): Promise<CollectedOutputs> {
  const outputs: Record<string, ArtifactRef> = {};
  const problems: OutputProblem[] = [];
  const options = {
    store,
    pace: createPace(signal),
    budget: { bytes: job.limits.outputMB * 1024 * 1024, entries: limits.filesPerTree },
    hardLinks: 'refuse',
    values,
  } as const;
  for (const { port, type, optional } of job.outputs) {
    if (options.pace.isDue()) await options.pace.rest();
    try {
      const artifact = await captureEntry(handle.folder, port, options);
      const fault = contentFault(store, type, artifact);
      if (fault === undefined) outputs[port] = artifact;
      else problems.push({ port, ...fault });
    } catch (error) {
      if (!(error instanceof CaptureError)) throw error;
      if (error.fault === 'missing' && optional) continue;
      problems.push({ port, kind: problemKinds[error.fault], detail: error.message });
    }
  }
  const ports = new Set(job.outputs.map((output) => output.port));
  try {
    problems.push(...findUnexpected(handle.folder, ports));
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw toFileError(error, 'list', handle.folder.path);
    const detail = 'what else is there can’t be listed: the card locked the folder of its outputs';
    problems.push({ port: '…', kind: 'unexpected', detail });
  }
  return { outputs, problems };
}

const problemKinds: Readonly<Record<CaptureFault, OutputProblem['kind']>> = {
  missing: 'missing',
  'not-regular': 'not-regular',
  'bad-name': 'bad-name',
  'too-large': 'too-large',
  changed: 'changed',
  unreadable: 'not-regular',
  'holds-value': 'invalid',
};

/** Checks that cost little against the type: file or folder, JSON that parses, text that is UTF-8. */
function contentFault(
  store: BlobStore,
  type: PortType,
  artifact: ArtifactRef,
): Omit<OutputProblem, 'port'> | undefined {
  if ((artifact.kind === 'directory') !== (type === 'directory')) {
    const detail =
      type === 'directory'
        ? 'a folder was promised, a file is there'
        : 'a folder is there, a file was promised';
    return { kind: 'not-regular', detail };
  }
  const form = contentForms[type];
  if (form === undefined || artifact.sizeBytes > checkedBytes) return undefined;
  const bytes = store.readBytes(artifact.digest, { verify: false });
  if (!isUtf8(bytes)) return { kind: 'invalid', detail: `not UTF-8 text, as ${type} must be` };
  if (form === 'text') return undefined;
  const value = parseJson(bytes.toString('utf8'));
  if (value === undefined) return { kind: 'invalid', detail: `not valid JSON, as ${type} must be` };
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (form === 'object' && !isObject)
    return { kind: 'invalid', detail: `not a JSON object, as ${type} must be` };
  return undefined;
}

/** Tables may be CSV, Arrow or Parquet, images of any kind: they are left to what shows them. */
const contentForms: Readonly<Partial<Record<PortType, 'text' | 'json' | 'object'>>> = {
  json: 'json',
  text: 'text',
  html: 'text',
  'vega-lite': 'object',
  plotly: 'object',
};

function findUnexpected(folder: OpenedFolder, ports: ReadonlySet<string>): OutputProblem[] {
  const problems: OutputProblem[] = [];
  let more = 0;
  for (const raw of readNames(folder)) {
    const name = decodeName(raw);
    if (name !== undefined && ports.has(name)) continue;
    if (problems.length < unexpectedShown) {
      problems.push({
        port: showName(raw).slice(0, 255).toWellFormed(),
        kind: 'unexpected',
        detail: 'no output port has this name; declare it in _card.json, or write it to $TMPDIR',
      });
    } else if (++more === unexpectedCounted) break;
  }
  if (more > 0) {
    const count = more === unexpectedCounted ? `at least ${more}` : String(more);
    problems.push({
      port: '…',
      kind: 'unexpected',
      detail: `${count} more entries that no output port names`,
    });
  }
  return problems;
}
