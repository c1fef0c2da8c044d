import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { limits } from '../../protocol/src/limits.ts';
import { createScrubber, type Scrubber } from '../../protocol/src/scrub/scrubber.ts';

export type LogStream = 'stdout' | 'stderr';

/** Tells a writer to wait, and when to go on. */
export interface Flow {
  readonly isCongested: boolean;
  /** Settles when there is room again. */
  whenClear(): Promise<void>;
}

const nothingKnown = createScrubber([]);
/** How long a program must be silent for the beginning of what may be a value to be told. */
const pauseMs = 50;

/** A UTF-16 unit is at most three bytes of UTF-8, so a piece of this many fits a chunk. */
const pieceUnits = Math.floor(limits.logChunkBytes / 3);

/**
 * The log of one job: both streams decoded (what is no UTF-8 is replaced), in pieces of at most
 * `limits.logChunkBytes`, up to `limitBytes` of raw bytes together. What goes beyond is read, counted and dropped, so
 * that no program blocks on it.
 */
export class JobLog {
  /** Raw bytes that were told, and that were dropped. */
  keptBytes = 0;
  cutBytes = 0;
  readonly #limitBytes: number;
  readonly #tell: (stream: LogStream, text: string) => void;
  readonly #flow: Flow;

  constructor(limitBytes: number, tell: (stream: LogStream, text: string) => void, flow: Flow) {
    this.#limitBytes = limitBytes;
    this.#tell = tell;
    this.#flow = flow;
  }

  /**
   * Reads a stream to its end and settles then. Pauses it while the reader of the log can't follow. What `scrubber` knows
   * is taken out first.
   */
  follow(stream: LogStream, source: Readable, scrubber: Scrubber = nothingKnown): Promise<void> {
    const decoder = new StringDecoder('utf8');
    const pass = scrubber.stream();
    const take = (bytes: Uint8Array) => {
      const room = Math.max(0, this.#limitBytes - this.keptBytes);
      const kept = bytes.length <= room ? bytes : bytes.subarray(0, room);
      this.keptBytes += kept.length;
      this.cutBytes += bytes.length - kept.length;
      this.#tellPieces(stream, decoder.write(Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength)));
    };
    let pause: NodeJS.Timeout | undefined;
    source.on('data', (chunk: Buffer) => {
      take(pass.push(chunk));
      if (!scrubber.isEmpty) {
        clearTimeout(pause);
        pause = setTimeout(() => take(pass.idle()), pauseMs);
      }
      if (this.#flow.isCongested) {
        source.pause();
        void this.#flow.whenClear().then(() => source.resume());
      }
    });
    return new Promise((resolve) => {
      source.once('close', () => {
        clearTimeout(pause);
        take(pass.end());
        this.#tellPieces(stream, decoder.end());
        resolve();
      });
    });
  }

  #tellPieces(stream: LogStream, text: string): void {
    for (let at = 0; at < text.length;) {
      let end = Math.min(text.length, at + pieceUnits);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
      this.#tell(stream, text.slice(at, end));
      at = end;
    }
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
