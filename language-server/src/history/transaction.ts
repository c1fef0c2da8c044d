import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { systemCode, toFileError } from '../../../remote-agent/src/files/fileError.ts';
import { childPath, openEntry, type OpenedFolder } from '../../../remote-agent/src/files/noFollow.ts';
import { createPace } from '../../../remote-agent/src/files/pace.ts';
import { placeNew } from '../placeNew.ts';
import { signatureAt, type FileState } from './fileState.ts';
import { namesIn, namesInBase } from './namesIn.ts';
import { absolutePath, depthOf, isWithin, parentOf, withParent, type Place } from './place.ts';

/** A state to be brought about. A file's bytes are in the blob store; `mode` null keeps or takes the system's own. */
export type WantedState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly digest: string; readonly mode: number | null }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number | null };

/** One path of a transaction: what was seen there, and what is to be there. */
export interface Step {
  readonly place: Place;
  readonly from: FileState;
  /** Of the look that found `from`. */
  readonly signature: string;
  readonly to: WantedState;
}

/**
 * Brings every path to its wanted state, or leaves all as they were. Contents are written beside their targets first,
 * then the names are exchanged; a path that is not as it was seen stops everything with `conflict`, and what was done
 * is taken back from the blobs. This is the one place of the engine that writes a person's files. It never writes into
 * an existing file and never follows a link: the folders on the way are opened one by one, and a name is replaced.
 * `tag` is of this engine: what a crash leaves behind is known by it.
 */
export async function applySteps(steps: readonly Step[], blobs: BlobStore, tag: string): Promise<void> {
  const pace = createPace();
  const temporary = new Map<Step, Temporary>();
  const done: Act[] = [];
  try {
    const going = steps.filter(({ from, to }) => from.kind === 'folder' && isInTheWay(from, to));
    for (const step of steps) {
      if (pace.isDue()) await pace.rest();
      if (needsContent(step)) temporary.set(step, prepare(step, going, blobs, tag));
    }
    const touched = new Set<Step>();
    for (const act of inOrder(steps)) {
      const { step } = act;
      if (pace.isDue()) await pace.rest();
      if (!touched.has(step)) assertAsSeen(step);
      touched.add(step);
      if (act.act === 'remove') remove(step.place, step.from.kind === 'folder');
      else put(step, temporary.get(step));
      done.push(act);
    }
  } catch (error) {
    const left = takeBack(done, blobs, tag);
    if (left.length === 0) throw error;
    throw new UserError(
      'internal',
      `${errorMessage(error)}. What had been done could not all be taken back: ${left.join('; ')}`,
      { paths: left },
      { cause: error },
    );
  } finally {
    for (const { place } of temporary.values()) quietly(() => remove(place, false));
  }
}

/** Removes what a killed engine left on the way to a place. */
export function sweepTemporary(place: Place, tag: string): void {
  const sweep = (names: readonly string[], prefix: string) => {
    for (const name of names.filter((each) => each.startsWith(prefixOf(tag))))
      quietly(() => remove({ base: place.base, path: prefix + name }, false));
  };
  for (let folder = parentOf(place); folder; folder = parentOf(folder))
    sweep(namesIn(folder), `${folder.path}/`);
  sweep(namesInBase(place.base), '');
}

function prefixOf(tag: string): string {
  return `.sallyport-${tag}-`;
}

interface Temporary {
  readonly place: Place;
}

interface Act {
  readonly step: Step;
  readonly act: 'remove' | 'put';
}

/** Removals from the deepest up, then folders from the top down, then what lies in them. */
function inOrder(steps: readonly Step[]): Act[] {
  const byDepth = [...steps].sort((a, b) => depthOf(a.place) - depthOf(b.place));
  const removals = byDepth.filter(({ from, to }) => isInTheWay(from, to)).reverse();
  const folders = byDepth.filter(({ to }) => to.kind === 'folder');
  const others = byDepth.filter(({ to }) => to.kind === 'file' || to.kind === 'link');
  return [
    ...removals.map((step): Act => ({ step, act: 'remove' })),
    ...[...folders, ...others].map((step): Act => ({ step, act: 'put' })),
  ];
}

/** True where the old must be gone before the new can come: a rename replaces only what is no folder. */
function isInTheWay(from: FileState, to: WantedState): boolean {
  if (from.kind === 'absent') return false;
  if (to.kind === 'absent') return true;
  return (from.kind === 'folder') !== (to.kind === 'folder');
}

function needsContent({ from, to }: Step): boolean {
  if (to.kind === 'link') return true;
  return to.kind === 'file' && !(from.kind === 'file' && from.digest === to.digest);
}

/** Writes the new content under a name of no meaning, in the deepest folder on the way that stays: not in one of `going`. */
function prepare(step: Step, going: readonly Step[], blobs: BlobStore, tag: string): Temporary {
  const name = prefixOf(tag) + randomBytes(9).toString('hex');
  const goes = (folder: Place) => going.some((each) => isWithin(each.place, folder));
  let folder = parentOf(step.place);
  while (folder) {
    const place = { base: folder.base, path: `${folder.path}/${name}` };
    if (!goes(folder) && writeTemporary(place, step, blobs)) return { place };
    folder = parentOf(folder);
  }
  const place = { base: step.place.base, path: name };
  writeTemporary(place, step, blobs);
  return { place };
}

/** False where the folder is not there. */
function writeTemporary(place: Place, { from, to }: Step, blobs: BlobStore): boolean {
  const isThere = withParent(place, (folder, name) => {
    if (to.kind === 'link') symlinkSync(to.target, childPath(folder, name));
    if (to.kind === 'file') {
      const mode = to.mode ?? (from.kind === 'file' ? from.mode : null);
      writeNew(folder, name, { blobs, digest: to.digest }, mode);
    }
    return true;
  });
  return isThere ?? false;
}

/** The system's own mask applies where `mode` is null. */
function writeNew(
  folder: OpenedFolder,
  name: string,
  content: { readonly blobs: BlobStore; readonly digest: string },
  mode: number | null,
): void {
  const path = childPath(folder, name);
  const shown = `${folder.path}/${name}`;
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
  } catch (error) {
    throw toFileError(error, 'write in', folder.path);
  }
  try {
    copyBlob(content.blobs, content.digest, descriptor);
    keepOwner(descriptor, folder);
    if (mode !== null) fchmodSync(descriptor, mode);
  } catch (error) {
    quietly(() => unlinkSync(path));
    throw toFileError(error, 'write', shown);
  } finally {
    closeSync(descriptor);
  }
}

/** Copies a stored content, whatever its size, and throws `store-damaged` where it is not what was stored. */
function copyBlob(blobs: BlobStore, digest: string, to: number): void {
  const size = blobs.sizeOf(digest);
  if (size === undefined || size <= chunkBytes) {
    const bytes = blobs.readBytes(digest);
    for (let at = 0; at < bytes.length;) at += writeSync(to, bytes, at);
    return;
  }
  const from = openSync(blobs.pathOf(digest), 'r');
  try {
    const sum = createHash('sha256');
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let count = readSync(from, chunk); count > 0; count = readSync(from, chunk)) {
      sum.update(chunk.subarray(0, count));
      for (let at = 0; at < count;) at += writeSync(to, chunk, at, count - at);
    }
    if (sum.digest('hex') !== digest)
      throw new UserError('store-damaged', `The kept content ${digest} is damaged`, { digest });
  } finally {
    closeSync(from);
  }
}

const chunkBytes = 1024 * 1024;

/** Root writes for the person whose folder it is, not for itself. */
function keepOwner(descriptor: number, folder: OpenedFolder): void {
  if (process.getuid?.() !== 0) return;
  const owner = fstatSync(folder.descriptor);
  if (owner.uid !== 0) quietly(() => fchownSync(descriptor, owner.uid, owner.gid));
}

function put(step: Step, temporary: Temporary | undefined): void {
  const { place, from, to } = step;
  const isPut = withParent(place, (folder, name) => {
    const path = childPath(folder, name);
    if (to.kind === 'folder') {
      const isNew = from.kind !== 'folder';
      if (isNew) mkdirSync(path);
      try {
        if (to.mode !== null) setMode(folder, name, to.mode);
      } catch (error) {
        if (isNew) quietly(() => rmdirSync(path));
        throw error;
      }
    } else if (temporary === undefined) {
      if (to.kind === 'file' && to.mode !== null) setMode(folder, name, to.mode);
    } else {
      const isFree = from.kind === 'absent' || from.kind === 'folder';
      withParent(temporary.place, (beside, temporaryName) => {
        exchange(childPath(beside, temporaryName), path, isFree, place);
      });
    }
    return true;
  });
  if (!isPut) throw changed(place);
}

/** Gives the new content its name. Where nothing was, nothing may have come meanwhile. */
function exchange(temporary: string, path: string, isFree: boolean, place: Place): void {
  if (!isFree) renameSync(temporary, path);
  else if (!placeNew(temporary, path)) throw changed(place);
}

/** chmod(2) follows links, so it is done to what was opened without following. */
function setMode(folder: OpenedFolder, name: string, mode: number): void {
  const entry = openEntry(folder, name);
  if (entry.kind !== 'file' && entry.kind !== 'directory') return;
  try {
    if (process.platform === 'win32') chmodSync(childPath(folder, name), mode);
    else fchmodSync(entry.descriptor, mode);
  } finally {
    closeSync(entry.descriptor);
  }
}

function remove(place: Place, isFolder: boolean): void {
  try {
    withParent(place, (folder, name) => {
      const path = childPath(folder, name);
      if (isFolder) rmdirSync(path);
      else unlinkSync(path);
    });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    if (systemCode(error) === 'ENOTEMPTY' || systemCode(error) === 'EEXIST') throw changed(place, error);
    throw toFileError(error, 'remove', absolutePath(place));
  }
}

function assertAsSeen({ place, signature }: Step): void {
  const there = withParent(place, (folder, name) => signatureAt(folder, name)) ?? 'absent';
  if (there !== signature) throw changed(place);
}

function changed(place: Place, cause?: unknown): UserError {
  const path = absolutePath(place);
  return new UserError('conflict', `${path} was changed by somebody else meanwhile`, { path }, { cause });
}

/** Does the opposite of each act, last first. Returns what could not be put back. */
function takeBack(done: readonly Act[], blobs: BlobStore, tag: string): string[] {
  const left: string[] = [];
  for (const act of [...done].reverse()) {
    try {
      reverse(act, blobs, tag);
    } catch (error) {
      left.push(`${absolutePath(act.step.place)}: ${errorMessage(error)}`);
    }
  }
  return left;
}

function reverse({ act, step }: Act, blobs: BlobStore, tag: string): void {
  const { place, from, to } = step;
  if (act === 'put' && (from.kind === 'absent' || isInTheWay(from, to))) {
    remove(place, to.kind === 'folder');
    return;
  }
  const back: Step = { place, from: act === 'put' ? from : { kind: 'absent' }, signature: '', to: from };
  put(back, from.kind === 'folder' ? undefined : prepare(back, [], blobs, tag));
}

/** For tidying up after a failure that is reported already. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // The first failure is the one that counts.
  }
}
