import { createHash, hash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { blobPath } from '../../../protocol/src/runner.ts';
import { systemCode, toFileError } from './fileError.ts';
import { openIncomingFile, type IncomingFile, type WriteCall } from './incomingFile.ts';
import { createPace, type Pace } from './pace.ts';

export interface StoredBlob {
  /** SHA-256 of the bytes, lower-case hexadecimal. */
  readonly digest: string;
  readonly sizeBytes: number;
}

/**
 * A folder of byte strings, each named by its SHA-256, that any number of processes may read and write at once.
 *
 * A blob appears whole or not at all: it is written beside and renamed. It is not synced: a killed process loses
 * nothing, a power cut may leave a short blob under the right name, which is why sizes are checked where a blob is
 * used and content where it is read, and why putting the same bytes again mends a short one.
 * Files are 0600, folders 0700. Writing throws `UserError('disk-full')` where there is no space and leaves nothing.
 */
export interface BlobStore {
  readonly folder: string;
  has(digest: string): boolean;
  /** Bytes on disk, or undefined where there is no such blob. */
  sizeOf(digest: string): number | undefined;
  /** Absolute path of a blob, there or not. For reading only: whoever writes to it damages every use of it. */
  pathOf(digest: string): string;
  /** Stores what is in memory. Synchronous: for listings, parameters and small results. */
  putBytes(bytes: Uint8Array): StoredBlob;
  /** Stores an open file from its current position to its end, through a buffer of at most 1 MiB. */
  putFile(descriptor: number, options?: PutFileOptions): Promise<StoredBlob>;
  /**
   * The whole blob. Throws `not-found`; `too-large` beyond `limitBytes`; and, unless `verify` is false,
   * `store-damaged` where the bytes are not those that were stored.
   */
  readBytes(digest: string, options?: ReadBytesOptions): Buffer;
  /** Reads the whole blob and tells whether it is what its name says. False where there is none. */
  verify(digest: string, signal?: AbortSignal): Promise<boolean>;
  /** Every blob, in the order of digests, read as the caller goes on. */
  list(): Generator<StoredBlob, void, undefined>;
  /** Removes a blob and returns the bytes that this frees; 0 where there was none. */
  remove(digest: string): number;
  /** Removes what interrupted writers left more than `ageMs` ago and returns the number of files. */
  sweep(ageMs: number): number;
}

export interface PutFileOptions {
  /** More than this throws `UserError('too-large')` and stores nothing. */
  readonly limitBytes?: number;
  readonly pace?: Pace;
  /** Sees all bytes in order before they are stored; what it throws leaves nothing stored. */
  readonly inspect?: ((bytes: Uint8Array) => void) | undefined;
}

export interface ReadBytesOptions {
  readonly limitBytes?: number;
  /** Default true. */
  readonly verify?: boolean;
}

const digestPattern = /^[0-9a-f]{64}$/;
const firstLevel = /^[0-9a-f]{2}$/;
const secondLevel = /^[0-9a-f]{62}$/;
const chunkBytes = 1024 * 1024;
/** Up to this a file is read first and written only where its bytes are new. */
const smallBytes = 256 * 1024;

/** Opens the store in `folder`, making the folder where it is missing. Nothing stays open, so nothing is closed. */
export function createBlobStore(folder: string, { write }: { write?: WriteCall } = {}): BlobStore {
  const incoming = join(folder, 'incoming');
  try {
    mkdirSync(incoming, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    throw toFileError(error, 'make the folder', incoming);
  }

  const pathOf = (digest: string): string => {
    if (!digestPattern.test(digest))
      throw new UserError('bad-message', `Not a digest: ${digest.slice(0, 80)}`);
    return join(folder, blobPath(digest));
  };

  const sizeOf = (digest: string): number | undefined => {
    const found = statSync(pathOf(digest), { throwIfNoEntry: false });
    return found?.isFile() ? found.size : undefined;
  };

  /** Lets `fill` write a fresh file and keeps it under the digest that comes back, or leaves nothing. */
  const receive = async (fill: (file: IncomingFile) => Promise<StoredBlob>): Promise<StoredBlob> => {
    const file = openIncomingFile(incoming, write);
    try {
      const blob = await fill(file);
      file.keep(pathOf(blob.digest));
      return blob;
    } catch (error) {
      file.drop();
      throw error;
    }
  };

  const putBytes = (bytes: Uint8Array): StoredBlob => {
    const blob = { digest: hash('sha256', bytes), sizeBytes: bytes.length };
    if (sizeOf(blob.digest) === blob.sizeBytes) return blob;
    const file = openIncomingFile(incoming, write);
    try {
      file.write(bytes);
      file.keep(pathOf(blob.digest));
      return blob;
    } catch (error) {
      file.drop();
      throw error;
    }
  };

  return {
    folder,
    has: (digest) => sizeOf(digest) !== undefined,
    sizeOf,
    pathOf,
    putBytes,
    async putFile(descriptor, { limitBytes = Infinity, pace = createPace(), inspect } = {}) {
      const expected = fstatSync(descriptor).size;
      if (expected > limitBytes) throw tooLarge(limitBytes);
      const chunk = Buffer.allocUnsafe(expected < smallBytes ? expected + 1 : chunkBytes);
      const first = readUpTo(descriptor, chunk);
      if (first < chunk.length) {
        if (first > limitBytes) throw tooLarge(limitBytes);
        inspect?.(chunk.subarray(0, first));
        return putBytes(chunk.subarray(0, first));
      }
      return receive(async (file) => {
        const sum = createHash('sha256');
        let sizeBytes = 0;
        for (let count = first; count > 0; count = readUpTo(descriptor, chunk)) {
          sizeBytes += count;
          if (sizeBytes > limitBytes) throw tooLarge(limitBytes);
          const bytes = chunk.subarray(0, count);
          inspect?.(bytes);
          sum.update(bytes);
          await file.append([bytes]);
          if (pace.isDue()) await pace.rest();
        }
        return { digest: sum.digest('hex'), sizeBytes };
      });
    },
    readBytes(digest, { limitBytes = Infinity, verify = true } = {}) {
      const descriptor = openBlob(pathOf(digest), digest);
      try {
        const size = fstatSync(descriptor).size;
        if (size > limitBytes) throw tooLarge(limitBytes);
        const bytes = Buffer.allocUnsafe(size);
        const whole = readUpTo(descriptor, bytes) === size;
        if (!whole || (verify && hash('sha256', bytes) !== digest)) throw damaged(pathOf(digest), digest);
        return bytes;
      } finally {
        closeSync(descriptor);
      }
    },
    async verify(digest, signal) {
      if (sizeOf(digest) === undefined) return false;
      const pace = createPace(signal);
      const descriptor = openBlob(pathOf(digest), digest);
      try {
        const sum = createHash('sha256');
        const chunk = Buffer.allocUnsafe(chunkBytes);
        for (let count = readUpTo(descriptor, chunk); count > 0; count = readUpTo(descriptor, chunk)) {
          sum.update(chunk.subarray(0, count));
          if (pace.isDue()) await pace.rest();
        }
        return sum.digest('hex') === digest;
      } finally {
        closeSync(descriptor);
      }
    },
    *list() {
      for (const head of readdirSync(folder).sort()) {
        if (!firstLevel.test(head)) continue;
        for (const tail of readdirSync(join(folder, head)).sort()) {
          if (!secondLevel.test(tail)) continue;
          const found = statSync(join(folder, head, tail), { throwIfNoEntry: false });
          if (found?.isFile()) yield { digest: head + tail, sizeBytes: found.size };
        }
      }
    },
    remove(digest) {
      const size = sizeOf(digest);
      if (size === undefined) return 0;
      try {
        unlinkSync(pathOf(digest));
        return size;
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return 0;
        throw toFileError(error, 'remove', pathOf(digest));
      }
    },
    sweep(ageMs) {
      const before = Date.now() - ageMs;
      const left = readdirSync(incoming)
        .map((name) => join(incoming, name))
        .filter((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < before);
      for (const path of left) rmSync(path, { force: true });
      return left.length;
    },
  };
}

function openBlob(path: string, digest: string): number {
  try {
    return openSync(path, constants.O_RDONLY);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw toFileError(error, 'read', path);
    throw new UserError('not-found', `Failed to read the stored result ${digest}: it was removed`, {
      digest,
    });
  }
}

/** Fills `into` from the current position; fewer bytes mean the end of the file. */
function readUpTo(descriptor: number, into: Buffer): number {
  let done = 0;
  while (done < into.length) {
    const count = readSync(descriptor, into, done, into.length - done, null);
    if (count === 0) break;
    done += count;
  }
  return done;
}

function tooLarge(limitBytes: number): UserError {
  return new UserError('too-large', `More than ${limitBytes} bytes`, { limitBytes });
}

function damaged(path: string, digest: string): UserError {
  return new UserError('store-damaged', `The stored result ${path} is not what was stored`, { path, digest });
}
