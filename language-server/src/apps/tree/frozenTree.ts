import { canonicalJson } from '../../../../protocol/src/canonicalJson.ts';
import type { ArtifactRef, Tree, TreeEntry } from '../../../../protocol/src/artifacts.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { createPace } from '../../../../remote-agent/src/files/pace.ts';
import { readTree } from '../../../../remote-agent/src/files/readTree.ts';
import { showName } from '../../../../remote-agent/src/files/treePath.ts';
import { EntryPaths } from './entryPaths.ts';

type FileEntry = Extract<TreeEntry, { kind: 'file' }>;

/**
 * The files of an app, frozen: a listing and its files in the blob folder, each under the SHA-256 of its bytes. Nothing
 * of it is ever written to a path that its author chose.
 */
export class FrozenTree {
  readonly ref: ArtifactRef;
  readonly files: ReadonlyMap<string, FileEntry>;
  readonly #blobs: BlobStore;

  /** Throws as `readTree`, and `unsafe-path` or `too-large` where the listing breaks the rules of apps. */
  constructor(blobs: BlobStore, ref: ArtifactRef) {
    const { entries } = readTree(blobs, ref);
    this.ref = ref;
    this.#blobs = blobs;
    const paths = new EntryPaths();
    const files = new Map<string, FileEntry>();
    let totalBytes = 0;
    for (const entry of entries) {
      const fault = paths.add(entry.path, entry.kind === 'file' ? 'file' : 'folder');
      if (fault !== undefined) throw badEntry(entry.path, fault);
      if (entry.kind !== 'file') continue;
      totalBytes += entry.sizeBytes;
      files.set(entry.path, entry);
    }
    if (files.size > appLimits.files || totalBytes > appLimits.totalBytes) throw tooLarge();
    this.files = files;
  }

  has(path: string): boolean {
    return this.files.has(path);
  }

  /** The verified bytes of a file. Throws `not-found`, `too-large`, `store-damaged`. */
  read(path: string, limitBytes: number = appLimits.fileBytes): Buffer {
    const entry = this.files.get(path);
    if (!entry) throw new UserError('not-found', `The app has no file ${showName(path)}`, { path });
    return this.#blobs.readBytes(entry.digest, { limitBytes });
  }

  /** Reads every byte again. Throws `store-damaged` where a file is not what the listing says. */
  async verify(signal?: AbortSignal): Promise<void> {
    const pace = createPace(signal);
    for (const { digest, path } of this.files.values()) {
      const size = this.#blobs.sizeOf(digest);
      const isSmall = size !== undefined && size < smallBytes;
      const isWhole = isSmall ? isSame(this.#blobs, digest) : await this.#blobs.verify(digest, signal);
      if (!isWhole)
        throw new UserError('conflict', `${showName(path)} is not what was reviewed. Stage the app again.`, {
          path,
        });
      if (pace.isDue()) await pace.rest();
    }
  }

  /** True where every file is there with its size: a look, not a proof. */
  isWhole(): boolean {
    for (const { digest, sizeBytes } of this.files.values())
      if (this.#blobs.sizeOf(digest) !== sizeBytes) return false;
    return this.#blobs.has(this.ref.digest);
  }

  /** Every blob of it, the listing first. */
  digests(): Set<string> {
    return new Set([this.ref.digest, ...[...this.files.values()].map(({ digest }) => digest)]);
  }
}

const smallBytes = 256 * 1024;

function isSame(blobs: BlobStore, digest: string): boolean {
  try {
    blobs.readBytes(digest);
    return true;
  } catch {
    return false;
  }
}

/** Gathers files into a frozen tree, in any order. Nothing is a file on disk but the blobs. */
export class TreeBuilder {
  readonly #blobs: BlobStore;
  readonly #entries: FileEntry[] = [];

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** `path` must have passed `EntryPaths`. */
  add(path: string, bytes: Uint8Array): void {
    const { digest, sizeBytes } = this.#blobs.putBytes(bytes);
    this.#entries.push({ kind: 'file', path, digest, sizeBytes, executable: false });
  }

  finish(): ArtifactRef {
    const entries = this.#entries.sort((a, b) => (a.path < b.path ? -1 : 1));
    const listing: Tree = { version: 1, entries };
    return {
      kind: 'directory',
      digest: this.#blobs.putBytes(Buffer.from(canonicalJson(listing))).digest,
      sizeBytes: entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      files: entries.length,
    };
  }
}

/** The refusal of one entry, named. */
export function badEntry(path: string, fault: string): UserError {
  const shown = showName(path);
  return new UserError('unsafe-path', `${shown} ${fault}. Nothing of it was taken.`, { path: shown });
}

/** The refusal of all of it. */
export function tooLarge(): UserError {
  const megabytes = Math.round(appLimits.totalBytes / 1024 / 1024);
  return new UserError(
    'too-large',
    `The app is larger than Sallyport takes: at most ${appLimits.files} files and ${megabytes} MB together`,
    { limitBytes: appLimits.totalBytes },
  );
}
