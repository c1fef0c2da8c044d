import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** The beginning of an ordinary file. */
export interface BoundedText {
  readonly text: string;
  readonly sizeBytes: number;
  readonly isCut: boolean;
}

/**
 * Reads up to `most` bytes of the ordinary file at a real path, as text. Null for whatever is no ordinary file or
 * can't be read; a link in the last place is not followed.
 */
export function readBounded(realPath: string, most: number): BoundedText | null {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(stat.size, most));
    const read = readSync(descriptor, bytes, 0, bytes.length, 0);
    return {
      text: bytes.subarray(0, read).toString('utf8').toWellFormed(),
      sizeBytes: stat.size,
      isCut: stat.size > most,
    };
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
