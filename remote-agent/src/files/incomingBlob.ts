import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from './blobStore.ts';
import { openIncomingFile, type IncomingFile } from './incomingFile.ts';

/** Few large writes: each costs a trip to the thread pool. */
const writeBytes = 1024 * 1024;
/** However small the pieces are, no more of them are kept. */
const writePieces = 1024;
/** Up to this the bytes are written at once, without that trip. */
const smallBytes = 64 * 1024;

/**
 * A blob that comes in pieces and is stored once it is whole and what its digest says. Exactly one of `keep` and `drop`
 * ends it; after `drop` nothing of it is left. Pieces must stay as they are until they were written.
 */
export class IncomingBlob {
  readonly #digest: string;
  readonly #path: string;
  readonly #file: IncomingFile;
  readonly #onWritten: (piece: Uint8Array) => void;
  readonly #sum = createHash('sha256');
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** The write that goes on while more is read and hashed. */
  #writing: Promise<void> = Promise.resolve();

  /** A piece that `onWritten` gets is the caller’s again. Throws `disk-full` and `unreadable`. */
  constructor(store: BlobStore, digest: string, onWritten: (piece: Uint8Array) => void = () => undefined) {
    this.#onWritten = onWritten;
    this.#digest = digest;
    this.#path = store.pathOf(digest);
    this.#file = openIncomingFile(join(store.folder, 'incoming'));
  }

  /** Takes the next bytes; waits while the disk can't keep up. Throws `disk-full` and `unreadable`, maybe later. */
  async add(piece: Uint8Array): Promise<void> {
    this.#sum.update(piece);
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < writeBytes && this.#held.length < writePieces) return;
    await this.#writing;
    this.#writing = this.#write(this.#takeHeld());
    // What it throws is thrown by whoever waits for it.
    this.#writing.catch(() => undefined);
  }

  /** Stores the blob. Throws `store-damaged` where the bytes are others, and as `add` does; then it must be dropped. */
  async keep(): Promise<void> {
    await this.#writing;
    const isSmall = this.#heldBytes <= smallBytes;
    const rest = this.#takeHeld();
    if (isSmall) for (const piece of rest) this.#file.write(piece);
    else await this.#write(rest);
    if (this.#sum.digest('hex') !== this.#digest)
      throw new UserError('store-damaged', `The bytes that came are not those of ${this.#digest}`, {
        digest: this.#digest,
      });
    this.#file.keep(this.#path);
  }

  async drop(): Promise<void> {
    this.#held = [];
    await this.#writing.catch(() => undefined);
    this.#file.drop();
  }

  async #write(pieces: readonly Uint8Array[]): Promise<void> {
    await this.#file.append(pieces);
    for (const piece of pieces) this.#onWritten(piece);
  }

  #takeHeld(): Uint8Array[] {
    const held = this.#held;
    [this.#held, this.#heldBytes] = [[], 0];
    return held;
  }
}
