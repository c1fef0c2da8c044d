import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type BigIntStats } from 'node:fs';
import { limits } from '../../../protocol/src/limits.ts';
import { problem, startOfFile } from '../manifests/problem.ts';
import type { Problem } from './model.ts';

/** What was found at a manifest's path. */
export type ManifestFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'text'; readonly text: string; readonly signature: Signature }
  | { readonly kind: 'problem'; readonly problem: Problem; readonly signature: Signature | undefined };

/**
 * What tells one state of a file from another without reading it. A file changed so shortly before it was read that
 * the clock could not tell a second change has no `key`: it equals nothing, itself included.
 */
export interface Signature {
  readonly key: FileKey | undefined;
}

type FileKey = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;

/** The kernel's clock for file times moves in steps of up to this many nanoseconds. */
const clockStepNs = 20_000_000n;

/** Reads a manifest without following a link at its end, without waiting on a pipe, and never more than is allowed. */
export function readManifest(path: string, nowMs: () => number = Date.now): ManifestFile {
  let file: number;
  try {
    file = openSync(path, openFlags);
  } catch (error) {
    return failure(path, error);
  }
  try {
    const now = nowMs();
    const stats = fstatSync(file, { bigint: true });
    const signature = { key: isSettled(stats, now) ? keyOf(stats) : undefined };
    if (!stats.isFile()) return { kind: 'problem', problem: notAFile(stats), signature };
    if (stats.size > limits.manifestBytes)
      return { kind: 'problem', problem: tooLarge(Number(stats.size)), signature };
    const bytes = readAtMost(file, limits.manifestBytes + 1);
    if (bytes.length > limits.manifestBytes) {
      return { kind: 'problem', problem: tooLarge(bytes.length), signature: undefined };
    }
    return { kind: 'text', text: utf8.decode(bytes), signature };
  } catch (error) {
    const isText = error instanceof TypeError;
    return isText
      ? { kind: 'problem', problem: problem('not-utf8', startOfFile, []), signature: undefined }
      : failure(path, error);
  } finally {
    closeSync(file);
  }
}

/** True where the file is still the one that was read. */
export function isUnchanged(path: string, signature: Signature | undefined): boolean {
  if (signature?.key === undefined) return false;
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats !== undefined && isSame(stats, signature.key);
  } catch {
    return false;
  }
}

/** Windows has neither of the last two. */
const optionalFlags: Readonly<Record<string, number | undefined>> = constants;
const openFlags =
  constants.O_RDONLY | (optionalFlags['O_NOFOLLOW'] ?? 0) | (optionalFlags['O_NONBLOCK'] ?? 0);

const utf8 = new TextDecoder('utf-8', { fatal: true });

function keyOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileKey {
  return { dev, ino, size, mtimeNs, ctimeNs };
}

function isSame(a: FileKey, b: FileKey): boolean {
  return (
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.dev === b.dev
  );
}

function isSettled(stats: BigIntStats, nowMs: number): boolean {
  return BigInt(Math.floor(nowMs)) * 1_000_000n - stats.ctimeNs > clockStepNs;
}

function readAtMost(file: number, limitBytes: number): Uint8Array {
  const size = Math.min(fstatSync(file).size + 1, limitBytes);
  let bytes = new Uint8Array(size);
  let length = 0;
  for (;;) {
    const read = readSync(file, bytes, length, bytes.length - length, null);
    length += read;
    if (read === 0 || length === limitBytes) return bytes.subarray(0, length);
    if (length === bytes.length) {
      const grown = new Uint8Array(Math.min(2 * bytes.length + 1024, limitBytes));
      grown.set(bytes);
      bytes = grown;
    }
  }
}

function failure(path: string, error: unknown): ManifestFile {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
  const isLink = code === 'ELOOP' || code === 'EMLINK' || code === 'ENXIO';
  const found = isLink
    ? notAFile(lstatSync(path, { throwIfNoEntry: false }))
    : problem('unreadable', startOfFile, [code]);
  return { kind: 'problem', problem: found, signature: undefined };
}

function notAFile(stats: { isDirectory(): boolean; isSymbolicLink(): boolean } | undefined): Problem {
  const kind = stats?.isDirectory() ? 'folder' : stats?.isSymbolicLink() ? 'link' : 'special file';
  return problem('not-a-file', startOfFile, [kind]);
}

function tooLarge(sizeBytes: number): Problem {
  return problem('too-large', startOfFile, [sizeBytes, limits.manifestBytes]);
}
