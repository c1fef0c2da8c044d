import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { JobEvent } from '../../../protocol/src/servedRunner.ts';
import { jobEvent } from '../../../protocol/src/servedRunner.ts';
import * as z from 'zod/mini';
import { systemCode, toFileError } from '../files/fileError.ts';

const eventLine = z.object({ seq: z.int(), event: jobEvent });
const readBytes = 256 * 1024;

/** Reads a file of events that another machine appends to, as far as it is written. */
export class EventReader {
  readonly #path: string;
  #offset = 0;
  #isBroken = false;
  #rest: Buffer = Buffer.alloc(0);
  /** The number of the last event that was read. */
  lastSeq = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * The next events, at most some 256 kB of them; none where nothing more is there yet, and none after a line without
   * form. Opened anew each time, which is when a network file system looks at what others wrote.
   */
  read(): { seq: number; event: JobEvent }[] {
    const chunk = this.#isBroken ? Buffer.alloc(0) : this.#next();
    if (chunk.length === 0) return [];
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const found: { seq: number; event: JobEvent }[] = [];
    let start = 0;
    for (let end = this.#rest.indexOf(10, start); end >= 0; end = this.#rest.indexOf(10, start)) {
      const line = parseLine(this.#rest.toString('utf8', start, end));
      start = end + 1;
      if (!line) {
        this.#isBroken = true;
        break;
      }
      this.lastSeq = line.seq;
      found.push(line);
    }
    this.#rest = this.#rest.subarray(start);
    return found;
  }

  #next(): Buffer {
    let descriptor: number;
    try {
      descriptor = openSync(this.#path, 'r');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return Buffer.alloc(0);
      throw toFileError(error, 'read', this.#path);
    }
    try {
      // Looked at often and seldom longer than before.
      const left = fstatSync(descriptor).size - this.#offset;
      if (left <= 0) return Buffer.alloc(0);
      const chunk = Buffer.allocUnsafe(Math.min(readBytes, left));
      const count = readSync(descriptor, chunk, 0, chunk.length, this.#offset);
      this.#offset += count;
      return chunk.subarray(0, count);
    } finally {
      closeSync(descriptor);
    }
  }
}

function parseLine(text: string): z.infer<typeof eventLine> | undefined {
  try {
    return eventLine.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
