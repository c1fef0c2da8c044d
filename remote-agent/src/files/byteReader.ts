import type { Readable } from 'node:stream';

/** What is taken from the stream ahead of who reads, and in how many pieces at most. */
const aheadBytes = 1024 * 1024;
const aheadPieces = 1024;

/**
 * Reads a stream in pieces of exact length, holding back the sender while nobody reads. One reader reads at a time, and
 * no other reads the stream from then on. What the stream gave is copied only where it must be cut or joined, so no piece
 * shares memory with another one, or with what was not read yet.
 */
export class ByteReader {
  readonly #stream: Readable;
  readonly #chunks: Buffer[] = [];
  #heldBytes = 0;
  #end: { readonly fault: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  constructor(stream: Readable) {
    this.#stream = stream;
    const end = (fault?: Error) => {
      this.#end ??= { fault };
      this.#wake();
    };
    // An iterator of the stream would join all chunks that came since the last one, which copies them.
    stream.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#heldBytes += chunk.length;
      if (this.#heldBytes >= aheadBytes || this.#chunks.length >= aheadPieces) stream.pause();
      this.#wake();
    });
    stream.once('end', () => end());
    stream.on('error', end);
    stream.once('close', () => end(new Error('the stream was closed')));
    if (stream.destroyed) end(stream.errored ?? new Error('the stream was closed'));
  }

  /** What was read from the stream and not asked for yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Exactly `count` bytes, or undefined where the stream ended before the first of them. Throws where it ended later. */
  async read(count: number): Promise<Buffer | undefined> {
    while (this.#heldBytes < count) {
      if (await this.#more()) continue;
      if (this.#heldBytes === 0) return undefined;
      throw new Error(`the stream ended ${count - this.#heldBytes} bytes early`);
    }
    const pieces: Buffer[] = [];
    for (let left = count; left > 0; left -= pieces.at(-1)?.length ?? left) pieces.push(this.#take(left));
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
  }

  /** The next `count` bytes as they come. Throws where the stream ends before. */
  async *pieces(count: number): AsyncGenerator<Buffer, void, undefined> {
    for (let left = count; left > 0;) {
      while (this.#heldBytes === 0)
        if (!(await this.#more())) throw new Error(`the stream ended ${left} bytes early`);
      const piece = this.#take(left);
      left -= piece.length;
      yield piece;
    }
  }

  /** Waits for more of the stream; false where it has ended. Throws what ended it. */
  async #more(): Promise<boolean> {
    const before = this.#heldBytes;
    if (!this.#end) {
      this.#stream.resume();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#heldBytes > before) return true;
    if (this.#end?.fault) throw this.#end.fault;
    return false;
  }

  /** At most so many of the bytes that are held: those of one chunk. */
  #take(most: number): Buffer {
    const first = this.#chunks[0] ?? Buffer.alloc(0);
    const isWhole = first.length <= most;
    if (isWhole) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(most);
    const piece = isWhole ? first : Buffer.from(first.subarray(0, most));
    this.#heldBytes -= piece.length;
    return piece;
  }
}
