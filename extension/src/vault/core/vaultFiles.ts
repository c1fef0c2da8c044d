import { Buffer } from 'node:buffer';
import * as fs from 'node:fs';

/** The calls of `node:fs` that a vault makes, one by one, so that a test can fail or end the process at each. */
export type VaultFiles = Pick<
  typeof fs,
  | 'openSync'
  | 'closeSync'
  | 'writeSync'
  | 'readSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'fchmodSync'
  | 'renameSync'
  | 'unlinkSync'
  | 'mkdirSync'
  | 'readdirSync'
>;

export const nodeFiles: VaultFiles = fs;

/** Writes all of the bytes at a place of the file. Throws what the system throws. */
export function writeWhole(files: VaultFiles, handle: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;)
    done += files.writeSync(handle, bytes, done, bytes.length - done, at + done);
}

/** Opens, works, closes. */
export function withFile<T>(
  files: VaultFiles,
  path: string,
  flags: number | string,
  work: (handle: number) => T,
): T {
  const handle = files.openSync(path, flags, 0o600);
  try {
    return work(handle);
  } finally {
    files.closeSync(handle);
  }
}

/** Makes the names in a folder last. Windows has no such call. */
export function syncFolder(files: VaultFiles, folder: string): void {
  if (process.platform === 'win32') return;
  withFile(files, folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY, (handle) =>
    files.fsyncSync(handle),
  );
}

/**
 * A whole file in place of the one before, or of none: written, synced, renamed, and the folder synced. `first` is another
 * open file that must be on the disk before; synced right before, both mostly go with one commit of a file system.
 */
export function replaceFile(
  files: VaultFiles,
  folder: string,
  name: string,
  bytes: Uint8Array,
  suffix: string,
  first?: number,
): void {
  const temporary = `${folder}/${name}.${suffix}`;
  try {
    withFile(files, temporary, 'wx', (handle) => {
      writeWhole(files, handle, bytes, 0);
      if (first !== undefined) files.fsyncSync(first);
      files.fsyncSync(handle);
    });
    files.renameSync(temporary, `${folder}/${name}`);
  } catch (error) {
    unlinkIfThere(files, temporary);
    throw error;
  }
  syncFolder(files, folder);
}

/** The whole file, or undefined where there is none. A link in its place is an error, and so is more than the limit. */
export function readWhole(files: VaultFiles, path: string, limitBytes: number): Buffer | undefined {
  try {
    return withFile(files, path, readOnly, (handle) => {
      const { size } = files.fstatSync(handle);
      const bytes = Buffer.allocUnsafeSlow(Math.min(size, limitBytes + 1));
      let done = 0;
      for (let read = -1; read !== 0 && done < bytes.length; done += read)
        read = files.readSync(handle, bytes, done, bytes.length - done, done);
      return bytes.subarray(0, done);
    });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function unlinkIfThere(files: VaultFiles, path: string): void {
  try {
    files.unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

export const readOnly = fs.constants.O_RDONLY | noFollow();
export const readWrite = fs.constants.O_RDWR | noFollow();

/** The system's code of an error, such as `ENOSPC`; empty where it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function noFollow(): number {
  return (fs.constants as { O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0;
}
