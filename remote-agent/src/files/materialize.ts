import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArtifactRef, TreeEntry } from '../../../protocol/src/artifacts.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from './blobStore.ts';
import { systemCode, toFileError } from './fileError.ts';
import { createPace, type Pace } from './pace.ts';
import { readTree } from './readTree.ts';
import { showName } from './treePath.ts';

export interface MaterializeOptions {
  /** False: files are 0444, or 0555 where executable. True: 0644 and 0755. Folders are 0755. */
  readonly writable?: boolean;
  /** Gives everything to this user, which only root can do. */
  readonly owner?: FileOwner;
  /** Put a directory's content into this folder, which must be there and empty, instead of making it. */
  readonly intoExisting?: boolean;
  readonly pace?: Pace;
}

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

const copyFlags = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL;
/** Up to this a file is read, compared with its digest, and written; above, the kernel copies or shares it. */
const smallBytes = 256 * 1024;

/**
 * Writes an artifact to `target`, which must not exist, as copies (reflinks where the file system has them), never as
 * links to the blobs. `target` must lie in a folder that nobody else can write to. Every file is created exclusively,
 * so two names that this file system takes for one are refused (`unsafe-path`). Throws `store-damaged` where a blob is
 * missing, has another size than listed or, if it is small, other content, `disk-full`, `cancelled`, and as `readTree` does.
 */
export async function materialize(
  store: BlobStore,
  ref: ArtifactRef,
  target: string,
  options: MaterializeOptions = {},
): Promise<void> {
  const pace = options.pace ?? createPace();
  if (ref.kind === 'file') {
    await writeFile(store, { ...ref, path: '', executable: false }, target, options);
    return;
  }
  const { entries } = readTree(store, ref);
  startFolder(target, options);
  const made = new Set<string>(['.']);
  const makeFolders = (path: string): void => {
    if (made.has(path)) return;
    makeFolders(dirname(path));
    makeFolder(join(target, path), path, options);
    made.add(path);
  };
  for (const entry of entries) {
    if (pace.isDue()) await pace.rest();
    makeFolders(entry.kind === 'directory' ? entry.path : dirname(entry.path));
    if (entry.kind === 'file') await writeFile(store, entry, join(target, entry.path), options);
  }
}

type FileEntry = Omit<Extract<TreeEntry, { kind: 'file' }>, 'kind'>;

async function writeFile(
  store: BlobStore,
  { digest, sizeBytes, path, executable }: FileEntry,
  target: string,
  { writable = false, owner }: MaterializeOptions,
): Promise<void> {
  const mode = (writable ? 0o644 : 0o444) | (executable ? 0o111 : 0);
  assertStored(store, digest, sizeBytes);
  try {
    if (sizeBytes <= smallBytes) writeSmall(target, store.readBytes(digest), mode);
    else {
      await copyFile(store.pathOf(digest), target, copyFlags);
      chmodSync(target, mode);
    }
    if (owner) chownSync(target, owner.uid, owner.gid);
  } catch (error) {
    throw explain(error, target, path);
  }
}

function assertStored(store: BlobStore, digest: string, sizeBytes: number): void {
  const stored = store.sizeOf(digest);
  if (stored === sizeBytes) return;
  const state = stored === undefined ? 'is missing' : `has ${stored} bytes instead of ${sizeBytes}`;
  throw new UserError('store-damaged', `The stored result ${digest} ${state}`, { digest });
}

function writeSmall(target: string, bytes: Uint8Array, mode: number): void {
  const descriptor = openSync(target, 'wx', mode);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes.subarray(done));
    // The mode given to open is less the umask.
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

function startFolder(target: string, options: MaterializeOptions): void {
  if (!options.intoExisting) {
    makeFolder(target, '', options);
    return;
  }
  try {
    if (readdirSync(target).length === 0) return;
  } catch (error) {
    throw toFileError(error, 'read the folder', target);
  }
  throw new UserError('conflict', `The folder ${target} is not empty`, { path: target });
}

function makeFolder(target: string, path: string, { owner }: MaterializeOptions): void {
  try {
    mkdirSync(target, 0o755);
    if (owner) chownSync(target, owner.uid, owner.gid);
  } catch (error) {
    throw explain(error, target, path);
  }
}

function explain(error: unknown, target: string, path: string): UserError {
  const code = systemCode(error);
  if (path !== '' && (code === 'EEXIST' || code === 'ENOTDIR')) {
    const shown = showName(path);
    const text = `${shown}: another name of this folder is the same one on this file system`;
    return new UserError('unsafe-path', text, { path: shown });
  }
  return toFileError(error, 'write', target);
}
