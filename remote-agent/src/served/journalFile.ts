import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../../../protocol/src/errors.ts';
import { systemCode, toFileError } from '../files/fileError.ts';

/** The calls that find a disk full or a process killed; tests replace them. */
export interface JournalDisk {
  write(descriptor: number, bytes: Uint8Array, offset: number): Promise<number>;
  sync(descriptor: number): Promise<void>;
}

interface Waiting {
  readonly line: Buffer;
  readonly onWritten: () => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const writeAt = promisify(write);
const syncData = promisify(fdatasync);
const realDisk: JournalDisk = {
  write: async (descriptor, bytes, offset) =>
    (await writeAt(descriptor, bytes, 0, bytes.length, offset)).bytesWritten,
  sync: (descriptor) => syncData(descriptor),
};

/**
 * For a disk that ends with its machine, as that of a VM: a record that is with the system outlives this process, and more
 * there is none to outlive.
 */
export const passingDisk: JournalDisk = {
  write: (descriptor, bytes, offset) =>
    Promise.resolve(writeSync(descriptor, bytes, 0, bytes.length, offset)),
  sync: () => Promise.resolve(),
};

/**
 * A file of records that are durable when `append` resolves. Each is a line: 16 hexadecimal digits of SHA-256 over the
 * JSON, a space, the JSON. What a crash left of a last record that was never acknowledged is cut off when the file is
 * opened; anything else that does not check is damage, and refused.
 */
export class JournalFile {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #disk: JournalDisk;
  #length: number;
  #waiting: Waiting[] = [];
  #isClosed = false;
  /** Settles when everything that was given is written; undefined where it is. */
  #writing: Promise<void> | undefined;

  constructor(path: string, descriptor: number, length: number, disk: JournalDisk) {
    this.#path = path;
    this.#descriptor = descriptor;
    this.#length = length;
    this.#disk = disk;
  }

  /**
   * Resolves when the record is on the disk: a power cut keeps it. Records that are given in the same turn, or while
   * others are being synced, share one sync. Throws `disk-full`, `unreadable`.
   */
  append(record: unknown): Promise<void> {
    return this.#add(record, () => undefined);
  }

  /** As `append`, but resolves when the record is with the system: it outlives this process, not yet the machine. */
  hand(record: unknown): Promise<void> {
    return new Promise((resolve, reject) => void this.#add(record, resolve).then(resolve, reject));
  }

  #add(record: unknown, onWritten: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new UserError('closed', 'The journal is closed');
      this.#waiting.push({ line: toLine(record), onWritten, resolve, reject });
      this.#writing ??= Promise.resolve().then(() => this.#writeAll());
    });
  }

  /** Takes nothing more, and settles when what was given is on the disk. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#writing;
    closeSync(this.#descriptor);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const bytes = Buffer.concat(batch.map(({ line }) => line));
        for (let done = 0; done < bytes.length;)
          done += await this.#disk.write(this.#descriptor, bytes.subarray(done), this.#length + done);
        for (const { onWritten } of batch) onWritten();
        await this.#disk.sync(this.#descriptor);
        this.#length += bytes.length;
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#cutBack();
        const told = toFileError(error, 'write the journal', this.#path);
        for (const { reject } of batch) reject(told);
      }
    }
    this.#writing = undefined;
  }

  /** Half a record must not stand before a whole one. */
  #cutBack(): void {
    try {
      ftruncateSync(this.#descriptor, this.#length);
    } catch {
      // The next record is written over it from the same place.
    }
  }
}

/**
 * Opens the file (0600), made where it is missing, and gives its records in order. With `keep` the file is written anew
 * with only the records that it returns, which replace the old ones at once or not at all. Throws `store-damaged`.
 */
export function openJournalFile(
  path: string,
  keep: (records: readonly unknown[]) => readonly unknown[] = (records) => records,
  disk: JournalDisk = realDisk,
): { file: JournalFile; records: readonly unknown[] } {
  const records = keep(readRecords(path));
  const fresh = `${path}.new`;
  try {
    unlinkQuietly(fresh);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
    const descriptor = openSync(fresh, flags, 0o600);
    const bytes = Buffer.concat(records.map(toLine));
    for (let done = 0; done < bytes.length;)
      done += writeSync(descriptor, bytes, done, bytes.length - done, done);
    fsyncSync(descriptor);
    renameSync(fresh, path);
    syncFolder(dirname(path));
    return { file: new JournalFile(path, descriptor, bytes.length, disk), records };
  } catch (error) {
    throw toFileError(error, 'write the journal', path);
  }
}

function readRecords(path: string): unknown[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw toFileError(error, 'read the journal', path);
  }
  const lines = text.split('\n');
  // Every acknowledged record ends with a line feed; what follows the last one was never acknowledged.
  const whole = lines.slice(0, -1);
  const records: unknown[] = [];
  for (const [index, line] of whole.entries()) {
    const record = fromLine(line);
    if (record !== undefined) records.push(record);
    // Blocks of one write may reach the disk out of order: the last records of a batch that was cut off by a crash.
    else if (whole.slice(index + 1).every((later) => fromLine(later) === undefined)) break;
    else throw toFileError(new Error('a record in the middle is damaged'), 'read the journal', path);
  }
  return records;
}

function toLine(record: unknown): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${checkOf(json)} ${json}\n`);
}

function fromLine(line: string): unknown {
  const json = line.slice(17);
  if (line[16] !== ' ' || checkOf(json) !== line.slice(0, 16)) return undefined;
  return JSON.parse(json);
}

function checkOf(json: string): string {
  return hash('sha256', json).slice(0, 16);
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // There was none.
  }
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
