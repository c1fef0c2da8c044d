import { Buffer } from 'node:buffer';
import { ownMemory } from './ownMemory.ts';

/**
 * Bytes that are to be wiped: a value, a password or a key. They are in memory of their own, outside Node's shared pool,
 * and never become text by accident: printing, JSON and templates give a mark.
 */
export class Secret implements Disposable {
  #bytes: Buffer | undefined;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Takes the bytes over: whoever made them must not keep them. */
  static own(bytes: Buffer): Secret {
    return new Secret(bytes);
  }

  static copy(bytes: Uint8Array): Secret {
    const own = ownMemory(bytes.length);
    own.set(bytes);
    return new Secret(own);
  }

  /** UTF-8 of a text; the text itself can't be wiped. Throws a RangeError for a lone surrogate, which has no UTF-8. */
  static fromText(text: string): Secret {
    if (!text.isWellFormed()) throw new RangeError('Not a text: lone surrogate');
    const own = ownMemory(Buffer.byteLength(text));
    own.write(text);
    return new Secret(own);
  }

  get length(): number {
    return this.#bytes?.length ?? 0;
  }

  get isWiped(): boolean {
    return this.#bytes === undefined;
  }

  /** Lends the bytes; they must not be kept beyond the call, or beyond its promise. Throws when they were wiped. */
  use<T>(work: (bytes: Buffer) => T): T {
    if (!this.#bytes) throw new Error('The secret was wiped');
    return work(this.#bytes);
  }

  wipe(): void {
    this.#bytes?.fill(0);
    this.#bytes = undefined;
  }

  [Symbol.dispose](): void {
    this.wipe();
  }

  toString(): string {
    return mark;
  }

  toJSON(): string {
    return mark;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return mark;
  }
}

const mark = '[secret]';
