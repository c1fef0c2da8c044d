import { read, write } from 'node:fs';
import { Duplex } from 'node:stream';

/** The calls of `node:fs` that a port needs; replaced in tests. */
export interface PortFile {
  /** Bytes read; 0 while nobody is connected to the port (virtio_console of the Linux kernel). */
  read(buffer: Buffer): Promise<number>;
  write(chunk: Buffer): Promise<void>;
}

/** A character device that was opened for reading and writing. Reading it blocks one thread of the pool. */
export function openPortFile(descriptor: number): PortFile {
  return {
    read: (buffer) =>
      new Promise((resolve, reject) => {
        read(descriptor, buffer, 0, buffer.length, null, (error, count) =>
          error ? reject(error) : resolve(count),
        );
      }),
    write: async (chunk) => {
      for (let at = 0; at < chunk.length;) {
        at += await new Promise<number>((resolve, reject) => {
          write(descriptor, chunk, at, chunk.length - at, null, (error, count) =>
            error ? reject(error) : resolve(count),
          );
        });
      }
    },
  };
}

/** Bytes of one use of a port, until the other end lets go of it. */
export class PortStream extends Duplex {
  readonly #port: Port;

  constructor(port: Port) {
    super({ allowHalfOpen: false });
    this.#port = port;
  }

  override _read(): void {
    this.#port.want();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#port.write(this, chunk).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.letGo(this);
    done(error);
  }
}

/**
 * One port, used by one stream after another. `accept` is asked with the first line of a use and answers with what to
 * send back, or with undefined where it is no opening; then the port is read on until the next use.
 */
export class Port {
  readonly #file: PortFile;
  readonly #accept: (line: string) => Promise<string | undefined>;
  readonly #onStream: (stream: PortStream) => void;
  readonly #wait: (ms: number) => Promise<void>;
  #stream: PortStream | undefined;
  #opening = '';
  /** Writes go out in order, also those of a stream before. */
  #writing: Promise<void> = Promise.resolve();
  #wanted: (() => void) | undefined;

  constructor(options: {
    readonly file: PortFile;
    readonly accept: (line: string) => Promise<string | undefined>;
    readonly onStream: (stream: PortStream) => void;
    readonly wait: (ms: number) => Promise<void>;
    readonly openingBytes: number;
  }) {
    this.#file = options.file;
    this.#accept = options.accept;
    this.#onStream = options.onStream;
    this.#wait = options.wait;
    this.#openingBytes = options.openingBytes;
  }

  readonly #openingBytes: number;

  /** Serves the port for good; rejects where it can't be read any more. */
  async serve(): Promise<never> {
    const buffer = Buffer.allocUnsafe(256 * 1024);
    for (;;) {
      const count = await this.#file.read(buffer);
      if (count === 0) {
        this.#end();
        // The kernel tells nobody that someone is connected again, so it has to be asked. Only in that state.
        await this.#wait(disconnectedMs);
        continue;
      }
      await this.#take(Buffer.from(buffer.subarray(0, count)));
    }
  }

  want(): void {
    this.#wanted?.();
    this.#wanted = undefined;
  }

  write(stream: PortStream, chunk: Buffer): Promise<void> {
    const written = this.#writing.then(() =>
      // What a stream that is over has left would be taken for the next one's.
      stream === this.#stream ? this.#file.write(chunk) : undefined,
    );
    this.#writing = written.catch(() => undefined);
    return written;
  }

  letGo(stream: PortStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.want();
  }

  async #take(chunk: Buffer): Promise<void> {
    if (this.#stream) {
      if (this.#stream.push(chunk)) return;
      await new Promise<void>((resolve) => (this.#wanted = resolve));
      return;
    }
    const text = this.#opening + chunk.toString('latin1');
    const end = text.indexOf('\n');
    this.#opening = end < 0 && text.length <= this.#openingBytes ? text : '';
    if (end < 0) return;
    const answer = await this.#accept(text.slice(0, end));
    if (answer === undefined) return;
    const stream = new PortStream(this);
    this.#stream = stream;
    void this.write(stream, Buffer.from(answer, 'latin1'));
    const rest = text.slice(end + 1);
    if (rest !== '') stream.push(Buffer.from(rest, 'latin1'));
    this.#onStream(stream);
  }

  #end(): void {
    this.#opening = '';
    const stream = this.#stream;
    this.#stream = undefined;
    // What was received before is still read.
    stream?.push(null);
  }
}

const disconnectedMs = 200;
