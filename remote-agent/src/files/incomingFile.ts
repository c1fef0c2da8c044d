import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
  writev,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemCode, toFileError } from './fileError.ts';

/** The call that finds a disk full; tests replace it. Returns how many bytes were written. */
export type WriteCall = (descriptor: number, bytes: Uint8Array) => number;

/**
 * A fresh file (0600) that gets its name when it is whole. Exactly one of `keep` and `drop` ends it. All of them throw
 * `disk-full` or `unreadable` but `drop`, which is for after a failure and throws nothing.
 */
export interface IncomingFile {
  write(bytes: Uint8Array): void;
  /** Writes all pieces in the thread pool: a disk that can't keep up holds up nothing else. */
  append(pieces: readonly Uint8Array[]): Promise<void>;
  /** Moves the file to `path`, over what is there, making the folder where it is missing (0700). */
  keep(path: string): void;
  drop(): void;
}

/** Opens a file of no lasting name in `folder`. */
export function openIncomingFile(folder: string, writeCall?: WriteCall): IncomingFile {
  const path = join(folder, `${process.pid}-${randomBytes(12).toString('hex')}`);
  const explain = (error: unknown) => toFileError(error, 'store a result in', dirname(folder));
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw explain(error);
    }
  };
  const descriptor = attempt(() =>
    openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600),
  );
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    closeSync(descriptor);
  };
  const write = (bytes: Uint8Array): void =>
    attempt(() => {
      for (let done = 0; done < bytes.length;)
        done += (writeCall ?? writeSync)(descriptor, bytes.subarray(done));
    });
  return {
    write,
    append: async (pieces) => {
      if (writeCall) {
        for (const piece of pieces) write(piece);
        return;
      }
      try {
        for (let rest = pieces; rest.length > 0;)
          rest = after(rest, (await writeLater(descriptor, rest)).bytesWritten);
      } catch (error) {
        throw explain(error);
      }
    },
    keep: (target) =>
      attempt(() => {
        close();
        moveIntoPlace(path, target);
      }),
    drop: () => {
      quietly(close);
      quietly(() => unlinkSync(path));
    },
  };
}

const writeLater = promisify(writev);

/** What is left of the pieces after so many bytes. */
function after(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let left = bytes;
  const index = pieces.findIndex((piece) => {
    if (left < piece.length) return true;
    left -= piece.length;
    return false;
  });
  if (index < 0) return [];
  const first = pieces[index]?.subarray(left) ?? new Uint8Array();
  return [first, ...pieces.slice(index + 1)];
}

function moveIntoPlace(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    renameSync(from, to);
  }
}

/** For tidying up after a failure that is reported already. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // The first failure is the one that counts.
  }
}
