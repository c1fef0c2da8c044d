import { Duplex } from 'node:stream';
import { UserError } from '../../../../protocol/src/errors.ts';

/**
 * The one port for bytes, lent to one user after another. Who ends the stream has done what was begun and leaves the
 * port as it was found; who destroys it leaves it in the middle of something, and it is opened anew.
 */
export class LentPort {
  readonly #open: (isReopened: boolean) => Promise<Duplex>;
  #stream: Duplex | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isReopened = false;
  #isClosed = false;

  constructor(open: (isReopened: boolean) => Promise<Duplex>) {
    this.#open = open;
  }

  /** Waits for its turn. Throws `closed`, and what opening throws. */
  async lend(): Promise<Duplex> {
    const before = this.#turn;
    let giveBack: () => void = () => undefined;
    this.#turn = new Promise((resolve) => (giveBack = resolve));
    await before;
    try {
      const stream = await this.#opened();
      return new Lent(stream, (isClean) => {
        if (!isClean) stream.destroy();
        giveBack();
      });
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.destroy();
  }

  async #opened(): Promise<Duplex> {
    this.#assertOpen();
    if (this.#stream && !this.#stream.destroyed) return this.#stream;
    const stream = await this.#open(this.#isReopened);
    this.#isReopened = true;
    this.#stream = stream;
    try {
      this.#assertOpen();
      return stream;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new UserError('closed', 'The connection was closed');
  }
}

class Lent extends Duplex {
  readonly #stream: Duplex;
  readonly #giveBack: (isClean: boolean) => void;
  readonly #onData = (chunk: Buffer) => {
    if (!this.push(chunk)) this.#stream.pause();
  };
  readonly #onClose = () => {
    this.destroy(new UserError('closed', 'The connection was lost'));
  };

  constructor(stream: Duplex, giveBack: (isClean: boolean) => void) {
    super();
    this.#stream = stream;
    this.#giveBack = giveBack;
    stream.on('data', this.#onData).once('close', this.#onClose);
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#stream.write(chunk, done);
  }

  override _final(done: () => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stream.off('data', this.#onData).off('close', this.#onClose);
    this.#giveBack(error === null && this.writableEnded);
    done(error);
  }
}
