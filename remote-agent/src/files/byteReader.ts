import type { Readable } from 'node:stream';

/** Reads a stream in pieces of exact length, holding back the sender while nobody reads. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer, undefined>;
  #held: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  }

  /** Exactly `count` bytes, or undefined where the stream ended before the first of them. Throws where it ended later. */
  async read(count: number): Promise<Buffer | undefined> {
    while (this.#held.length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) {
        if (this.#held.length === 0) return undefined;
        throw new Error(`the stream ended ${count - this.#held.length} bytes early`);
      }
      this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
    }
    const piece = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return piece;
  }

  /** The next `count` bytes as they come. Throws where the stream ends before. */
  async *pieces(count: number): AsyncGenerator<Buffer, void, undefined> {
    for (let left = count; left > 0;) {
      if (this.#held.length === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) throw new Error(`the stream ended ${left} bytes early`);
        this.#held = next.value;
      }
      const piece = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  /** What was read from the stream and not asked for yet. */
  get held(): Buffer {
    return this.#held;
  }
}
