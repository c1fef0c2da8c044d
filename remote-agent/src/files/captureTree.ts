import { closeSync, fstatSync } from 'node:fs';
import type { ArtifactRef, Tree, TreeEntry } from '../../../protocol/src/artifacts.ts';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import { UserError, type ErrorCode } from '../../../protocol/src/errors.ts';
import type { Scrubber } from '../../../protocol/src/scrub/scrubber.ts';
import { limits } from '../../../protocol/src/limits.ts';
import type { BlobStore } from './blobStore.ts';
import { toFileError } from './fileError.ts';
import {
  asFolder,
  isUnchanged,
  openEntry,
  openFolder,
  readNames,
  type EntryKind,
  type OpenedEntry,
  type OpenedFolder,
} from './noFollow.ts';
import { createPace, type Pace } from './pace.ts';
import { decodeName, listingLimitBytes, showName, treePathFault } from './treePath.ts';

/** Why a file or folder was not taken. `not-regular` covers links, FIFOs, sockets, devices and hard links. */
export type CaptureFault =
  'missing' | 'not-regular' | 'bad-name' | 'too-large' | 'changed' | 'unreadable' | 'holds-value';

/** `message` names the entry with unprintable bytes escaped, and says what to do. */
export class CaptureError extends UserError {
  readonly fault: CaptureFault;

  constructor(fault: CaptureFault, message: string, path: string) {
    super(codeOf[fault], message, { path });
    this.name = 'CaptureError';
    this.fault = fault;
  }
}

/** What may still be taken; shared by several captures, it counts down over all of them. */
export interface CaptureBudget {
  bytes: number;
  /** Files and folders. */
  entries: number;
}

export interface CaptureOptions {
  readonly store: BlobStore;
  readonly budget: CaptureBudget;
  readonly pace: Pace;
  /**
   * `refuse` for what a card wrote: the other name of a hard link may be a file that the card could link to but not
   * read. `accept` for a person's own files, where package managers link freely.
   */
  readonly hardLinks: 'refuse' | 'accept';
  /** False for a path, relative to the folder, that is passed over with all below it. Absent takes everything. */
  readonly includes?: ((path: string) => boolean) | undefined;
  /** What must not be stored: a file, or a listing of names, that holds one of these values is a fault. */
  readonly values?: Scrubber | undefined;
}

const codeOf: Readonly<Record<CaptureFault, ErrorCode>> = {
  missing: 'not-found',
  'not-regular': 'unsafe-path',
  'bad-name': 'unsafe-path',
  'too-large': 'too-large',
  changed: 'conflict',
  unreadable: 'unreadable',
  'holds-value': 'unsafe-path',
};

/**
 * Stores `name`, one component of an open folder: a regular file, or a folder with all that is in it. Nothing is
 * followed: every file is opened from the folder above it, and what was opened is checked before it is read and again
 * after. Throws `CaptureError` at the first entry that is neither, is over the budget or changed meanwhile;
 * `UserError` `disk-full` or `cancelled`. What was stored by then stays in the store as unused blobs.
 */
export async function captureEntry(
  folder: OpenedFolder,
  name: string,
  options: CaptureOptions,
): Promise<ArtifactRef> {
  const entry = openChecked(folder, name, name);
  try {
    if (entry.kind === 'directory') {
      return await captureTree(asFolder(folder, name, entry), options, name);
    }
    const blob = await captureFile(entry, name, options);
    return { kind: 'file', ...blob, files: 1 };
  } finally {
    closeSync(entry.descriptor);
  }
}

/** Stores an open folder; as `captureEntry`. The folder stays open. `shown` goes before the paths in messages. */
export async function captureTree(
  folder: OpenedFolder,
  options: CaptureOptions,
  shown = '',
): Promise<ArtifactRef> {
  const entries: TreeEntry[] = [];
  await walk(folder, '', { ...options, shown, entries, listingBytes: 0 });
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  const files = entries.filter((entry) => entry.kind === 'file');
  const listing: Tree = { version: 1, entries };
  const listed = Buffer.from(canonicalJson(listing));
  if (options.values?.finds(listed)) throw holdsValue(shown);
  return {
    kind: 'directory',
    digest: options.store.putBytes(listed).digest,
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    files: files.length,
  };
}

export interface CaptureFolderOptions {
  readonly signal?: AbortSignal;
  readonly limitBytes?: number;
  readonly limitEntries?: number;
  readonly includes?: (path: string) => boolean;
}

/** Freezes a person's folder, such as a card's code. `path` itself must not be a symbolic link. */
export async function captureFolder(
  path: string,
  store: BlobStore,
  {
    signal,
    limitBytes = limits.cardFolderBytes,
    limitEntries = limits.filesPerTree,
    includes,
  }: CaptureFolderOptions = {},
): Promise<ArtifactRef> {
  let folder: OpenedFolder;
  try {
    folder = openFolder(path);
  } catch (error) {
    throw toFileError(error, 'open the folder', path);
  }
  try {
    const budget = { bytes: limitBytes, entries: limitEntries };
    return await captureTree(
      folder,
      { store, budget, pace: createPace(signal), hardLinks: 'accept', includes },
      path,
    );
  } finally {
    closeSync(folder.descriptor);
  }
}

interface Walk extends CaptureOptions {
  readonly shown: string;
  readonly entries: TreeEntry[];
  /** At least what the listing will have. */
  listingBytes: number;
}

/** Room for an entry's digest, size and punctuation. */
const entryBytes = 160;

async function walk(folder: OpenedFolder, prefix: string, run: Walk): Promise<void> {
  const { includes = () => true } = run;
  const names = namesOf(folder, prefix, run).filter((name) => includes(prefix + name));
  if (names.length === 0 && prefix !== '') run.entries.push({ kind: 'directory', path: prefix.slice(0, -1) });
  for (const name of names) {
    if (run.pace.isDue()) await run.pace.rest();
    const path = prefix + name;
    const shown = shownPath(run, path);
    const fault = treePathFault(path);
    if (fault !== undefined)
      throw new CaptureError('bad-name', `${shown}: the path ${fault}; rename it`, shown);
    run.listingBytes += entryBytes + Buffer.byteLength(path);
    if (run.listingBytes > listingLimitBytes)
      throw new CaptureError('too-large', `${shown}: the paths are too long together; keep fewer`, shown);
    const entry = openChecked(folder, name, shown);
    try {
      if (entry.kind === 'directory') {
        await walk(asFolder(folder, name, entry), `${path}/`, run);
      } else {
        const executable = (entry.stat.mode & 0o111n) !== 0n;
        run.entries.push({ kind: 'file', path, ...(await captureFile(entry, shown, run)), executable });
      }
    } finally {
      closeSync(entry.descriptor);
    }
  }
}

/** All names of a folder, decoded; stops at the first that the budget has no room for. */
function namesOf(folder: OpenedFolder, prefix: string, run: Walk): string[] {
  const names: string[] = [];
  try {
    for (const raw of readNames(folder)) {
      const name = decodeName(raw);
      if (name === undefined) {
        const shown = `${shownPath(run, prefix)}${showName(raw)}`;
        throw new CaptureError('bad-name', `${shown}: the name is not valid UTF-8; rename it`, shown);
      }
      if (run.budget.entries <= 0) {
        const shown = shownPath(run, prefix.slice(0, -1));
        throw new CaptureError('too-large', `${shown}: too many files and folders; keep fewer`, shown);
      }
      run.budget.entries -= 1;
      names.push(name);
    }
  } catch (error) {
    throw asCaptureError(error, shownPath(run, prefix.slice(0, -1)));
  }
  return names;
}

/** Throws at the first bytes that complete a value. */
function inspectorOf(values: Scrubber | undefined, shown: string): ((bytes: Uint8Array) => void) | undefined {
  if (!values || values.isEmpty) return undefined;
  const pass = values.stream();
  return (bytes) => {
    pass.push(bytes);
    if (pass.hasFound) throw holdsValue(shown);
  };
}

function holdsValue(shown: string): CaptureError {
  const text = `${shown}: it holds a vault value, and results are kept and shown; write it without`;
  return new CaptureError('holds-value', text, shown);
}

async function captureFile(
  entry: OpenedEntry,
  shown: string,
  { store, budget, pace, hardLinks, values }: CaptureOptions,
): Promise<{ digest: string; sizeBytes: number }> {
  if (hardLinks === 'refuse' && entry.stat.nlink > 1n) {
    throw new CaptureError('not-regular', `${shown}: the file has a second name (hard link); copy it`, shown);
  }
  try {
    const inspect = inspectorOf(values, shown);
    const blob = await store.putFile(entry.descriptor, { limitBytes: budget.bytes, pace, inspect });
    if (!isUnchanged(entry.stat, fstatSync(entry.descriptor, { bigint: true }))) {
      throw new CaptureError('changed', `${shown}: the file changed while it was read; try again`, shown);
    }
    budget.bytes -= blob.sizeBytes;
    return blob;
  } catch (error) {
    if (error instanceof UserError && error.code === 'too-large') {
      throw new CaptureError('too-large', `${shown}: larger than what may still be stored`, shown);
    }
    throw asCaptureError(error, shown);
  }
}

function openChecked(folder: OpenedFolder, name: string, shown: string): OpenedEntry {
  try {
    const entry = openEntry(folder, name);
    if (entry.kind === 'file' || entry.kind === 'directory') return entry;
    if (entry.kind === 'missing') throw new CaptureError('missing', `${shown}: not there`, shown);
    throw new CaptureError('not-regular', `${shown}: ${refusals[entry.kind]}`, shown);
  } catch (error) {
    throw asCaptureError(error, shown);
  }
}

const refusals: Readonly<Record<Exclude<EntryKind, 'file' | 'directory' | 'missing'>, string>> = {
  symlink: 'a symbolic link is never followed; put the file itself there',
  fifo: 'a named pipe cannot be stored',
  socket: 'a socket cannot be stored',
  device: 'a device cannot be stored',
  other: 'it was exchanged while it was opened',
};

/** Read failures name the entry; failures of the store (disk full, cancelled) keep their own words. */
function asCaptureError(error: unknown, shown: string): UserError {
  if (error instanceof UserError) return error;
  return new CaptureError('unreadable', toFileError(error, 'read', shown).message, shown);
}

function shownPath(run: Walk, path: string): string {
  return showName(run.shown === '' || path === '' ? run.shown + path : `${run.shown}/${path}`);
}
