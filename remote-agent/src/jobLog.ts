import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { limits } from '../../protocol/src/limits.ts';

export type LogStream = 'stdout' | 'stderr';

/** Tells a writer to wait, and when to go on. */
export interface Flow {
  readonly isCongested: boolean;
  /** Settles when there is room again. */
  whenClear(): Promise<void>;
}

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

  /** Reads a stream to its end and settles then. Pauses it while the reader of the log can't follow. */
  follow(stream: LogStream, source: Readable): Promise<void> {
    const decoder = new StringDecoder('utf8');
    source.on('data', (chunk: Buffer) => {
      const room = Math.max(0, this.#limitBytes - this.keptBytes);
      const kept = chunk.length <= room ? chunk : chunk.subarray(0, room);
      this.keptBytes += kept.length;
      this.cutBytes += chunk.length - kept.length;
      this.#tellPieces(stream, decoder.write(kept));
      if (this.#flow.isCongested) {
        source.pause();
        void this.#flow.whenClear().then(() => source.resume());
      }
    });
    return new Promise((resolve) => {
      source.once('close', () => {
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
