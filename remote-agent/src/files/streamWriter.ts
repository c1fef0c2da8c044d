import type { Writable } from 'node:stream';

/** What is gathered before it is written: full packets of whatever carries the stream. */
const gatheredBytes = 256 * 1024;

/** Writes to a stream in few large pieces, and waits where the stream is full. */
export class StreamWriter {
  readonly #stream: Writable;
  readonly #stop: AbortSignal | undefined;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  /** After `stop` nothing is written any more and nothing waits. */
  constructor(stream: Writable, stop?: AbortSignal) {
    this.#stream = stream;
    this.#stop = stop;
  }

  /** Takes bytes that stay as they are, and waits for room once enough is gathered. Throws as `flush` does. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= gatheredBytes) await this.flush();
  }

  /** Writes what was gathered and waits for room. Throws `StreamEnded`. */
  async flush(): Promise<void> {
    if (this.#heldBytes === 0 || this.#stop?.aborted) return;
    const bytes = this.#held.length === 1 ? (this.#held[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    if (hasEnded(this.#stream)) throw new StreamEnded('the stream has ended');
    if (!this.#stream.write(bytes)) await this.#until((done) => this.#stream.once('drain', done));
  }

  /**
   * Gives these bytes to the stream as they are, after what was gathered and flushed. Settles when they are the
   * caller's again, whatever became of them.
   */
  async lend(bytes: Uint8Array): Promise<void> {
    if (this.#stop?.aborted || hasEnded(this.#stream)) return;
    await this.#until((done) => this.#stream.write(bytes, done));
  }

  /** Waits for what `arrange` arranges, for the stream's end or for the stop. */
  #until(arrange: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#stream.off('drain', done).off('close', done);
        this.#stop?.removeEventListener('abort', done);
        resolve();
      };
      this.#stream.once('close', done);
      this.#stop?.addEventListener('abort', done, { once: true });
      arrange(done);
    });
  }
}

function hasEnded(stream: Writable): boolean {
  return stream.destroyed || stream.writableEnded;
}

/** There is nobody to write to any more. */
export class StreamEnded extends Error {}
