import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { UserError } from '../../../../protocol/src/errors.ts';

/**
 * The one port for bytes, lent to one user after another. Who ends the stream has done what was begun and leaves the
 * port as it was found; who destroys it leaves it in the middle of something, and it is opened anew.
 */
export class LentPort {
  readonly #open: (isReopened: boolean) => Promise<Socket>;
  #socket: Socket | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isReopened = false;
  #isClosed = false;

  constructor(open: (isReopened: boolean) => Promise<Socket>) {
    this.#open = open;
  }

  /** Waits for its turn. Throws `closed`, and what opening throws. */
  async lend(): Promise<Duplex> {
    const before = this.#turn;
    let giveBack: () => void = () => undefined;
    this.#turn = new Promise((resolve) => (giveBack = resolve));
    await before;
    try {
      const socket = await this.#opened();
      return new Lent(socket, (isClean) => {
        if (!isClean) socket.destroy();
        giveBack();
      });
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  async #opened(): Promise<Socket> {
    if (this.#isClosed) throw new UserError('closed', 'The connection to the VM was closed');
    if (this.#socket && !this.#socket.destroyed) return this.#socket;
    const socket = await this.#open(this.#isReopened);
    this.#isReopened = true;
    this.#socket = socket;
    return socket;
  }
}

class Lent extends Duplex {
  readonly #socket: Socket;
  readonly #giveBack: (isClean: boolean) => void;
  readonly #onData = (chunk: Buffer) => {
    if (!this.push(chunk)) this.#socket.pause();
  };
  readonly #onClose = () => {
    this.destroy(new UserError('closed', 'The connection to the VM was lost'));
  };

  constructor(socket: Socket, giveBack: (isClean: boolean) => void) {
    super();
    this.#socket = socket;
    this.#giveBack = giveBack;
    socket.on('data', this.#onData).once('close', this.#onClose);
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.off('data', this.#onData).off('close', this.#onClose);
    this.#giveBack(error === null && this.writableEnded);
    done(error);
  }
}
