import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import type { JobEvent } from '../../../protocol/src/servedRunner.ts';
import { toFileError } from '../files/fileError.ts';
import type { Flow } from '../jobLog.ts';

/** The events of one job that are kept, as they were told: numbered lines of a file, read from any number on. */
export class EventLog {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #listeners = new Set<() => void>();
  #length = 0;
  /** The event that was kept last, for those who have heard all others. */
  #last: { readonly start: number; readonly event: JobEvent } | undefined;
  #isBroken = false;
  #isClosed = false;
  /** The number of the last kept event. */
  lastSeq = 0;

  /** Opens the file (0600), made where it is missing. A torn last line is cut off. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      for (const [seq, end] of this.#scan()) {
        this.lastSeq = seq;
        this.#length = end;
      }
      ftruncateSync(this.#descriptor, this.#length);
    } catch (error) {
      throw toFileError(error, 'open the log of a job', path);
    }
  }

  /** Keeps an event. Where the disk is full the event is lost, and so are all later ones: no gap is hidden. */
  append(event: JobEvent): void {
    if (this.#isBroken || this.#isClosed) return;
    const line = Buffer.from(`${JSON.stringify({ seq: this.lastSeq + 1, event })}\n`);
    try {
      for (let done = 0; done < line.length;)
        done += writeSync(this.#descriptor, line, done, line.length - done, this.#length + done);
    } catch {
      this.#isBroken = true;
      return;
    }
    this.#last = { start: this.#length, event };
    this.#length += line.length;
    this.lastSeq += 1;
    this.wake();
  }

  /** Lets every reader look again. */
  wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /**
   * Tells the events after `afterSeq`, then those that come, in order, waiting where `flow` is congested. Settles when
   * `isOver` says so and everything was told, when the signal aborts, or when the log is closed.
   */
  async follow(
    afterSeq: number,
    tell: (seq: number, event: JobEvent) => void,
    flow: Flow,
    isOver: () => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    let at = 0;
    let rest = Buffer.alloc(0);
    const isGone = () => signal.aborted || this.#isClosed;
    while (!isGone()) {
      if (at === this.#length) {
        if (isOver()) return;
        await this.#change(signal);
        continue;
      }
      if (at === this.#last?.start && rest.length === 0) {
        const [seq, { event }] = [this.lastSeq, this.#last];
        at = this.#length;
        if (seq > afterSeq) tell(seq, event);
        if (flow.isCongested) await flow.whenClear();
        continue;
      }
      const chunk = Buffer.allocUnsafe(Math.min(readBytes, this.#length - at));
      at += readSync(this.#descriptor, chunk, 0, chunk.length, at);
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = rest.indexOf(10, start); end >= 0 && !isGone(); end = rest.indexOf(10, start)) {
        const { seq, event } = JSON.parse(rest.toString('utf8', start, end)) as {
          seq: number;
          event: JobEvent;
        };
        start = end + 1;
        if (seq <= afterSeq) continue;
        tell(seq, event);
        if (flow.isCongested) await flow.whenClear();
      }
      rest = rest.subarray(start);
    }
  }

  /** Whoever reads comes to an end: the descriptor may soon be another file's. */
  close(): void {
    this.#isClosed = true;
    closeSync(this.#descriptor);
    this.wake();
  }

  remove(): void {
    unlinkSync(this.#path);
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** The number of each whole line and the offset where it ends. */
  *#scan(): Generator<[number, number]> {
    const size = fstatSync(this.#descriptor).size;
    let rest = Buffer.alloc(0);
    let offset = 0;
    let expected = 1;
    for (let at = 0; at < size;) {
      const chunk = Buffer.allocUnsafe(Math.min(readBytes, size - at));
      const count = readSync(this.#descriptor, chunk, 0, chunk.length, at);
      if (count === 0) return;
      at += count;
      rest = Buffer.concat([rest, chunk.subarray(0, count)]);
      let start = 0;
      for (let end = rest.indexOf(10, start); end >= 0; end = rest.indexOf(10, start)) {
        if (seqOf(rest.toString('utf8', start, end)) !== expected) return;
        yield [expected, offset + end + 1];
        expected += 1;
        start = end + 1;
      }
      offset += start;
      rest = rest.subarray(start);
    }
  }
}

const readBytes = 256 * 1024;

function seqOf(line: string): number | undefined {
  try {
    return (JSON.parse(line) as { seq?: number }).seq;
  } catch {
    return undefined;
  }
}
