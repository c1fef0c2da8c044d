import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { changeAlone } from './changeAlone.ts';

export interface AuditLimits {
  /** A file that would grow beyond this is set aside first. */
  readonly fileBytes: number;
  /** Files that were set aside and are kept. */
  readonly oldFiles: number;
}

/** What a line says: when, who, what; never a secret. */
export type LogEntry = Readonly<Record<string, string | number>>;

const newline = 0x0a;

/**
 * A log of lines of JSON in a folder of this user's own, mode 0600: the file `name` and, the newer the smaller the
 * number, `name.1` and so on. Several processes may write it. A line is written whole to one file or is an error; one that
 * a power failure or a full disk cut stays on a line of its own.
 */
export class AuditLog {
  readonly #folder: string;
  readonly #name: string;
  readonly #limits: AuditLimits;

  constructor(folder: string, name: string, limits: AuditLimits) {
    this.#folder = folder;
    this.#name = name;
    this.#limits = limits;
  }

  /** Throws where the line can't be written. */
  note(entry: LogEntry): void {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    if (sizeIn(this.#path(0)) + line.length > this.#limits.fileBytes) this.#setAside(line.length);
    const file = openSync(this.#path(0), appended, 0o600);
    try {
      const bytes = isWhole(file) ? line : Buffer.concat([Buffer.of(newline), line]);
      if (writeSync(file, bytes) < bytes.length)
        throw new UserError('disk-full', 'A line of the worker’s log could not be written whole');
    } finally {
      closeSync(file);
    }
  }

  /**
   * Makes room, alone. Each file moves up by one as far as the first number that is free, the last one's otherwise, so
   * that a process that is killed in between leaves a gap and nothing is lost. While another process changes the folder
   * the log grows: the next line looks again.
   */
  #setAside(wanted: number): void {
    const { fileBytes, oldFiles } = this.#limits;
    try {
      changeAlone(
        this.#folder,
        () => {
          // Another process may have done it.
          if (sizeIn(this.#path(0)) + wanted <= fileBytes) return;
          let free = 1;
          while (free < oldFiles && existsSync(this.#path(free))) free += 1;
          for (let number = free; number > 0; number -= 1)
            renameSync(this.#path(number - 1), this.#path(number));
        },
        { waitMs: 0 },
      );
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'conflict') throw error;
    }
  }

  #path(number: number): string {
    return join(this.#folder, number === 0 ? this.#name : `${this.#name}.${number}`);
  }
}

const appended = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** 0 where there is no such file. */
function sizeIn(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** False where the last line has no end. */
function isWhole(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === newline);
}
