import type { Readable } from 'node:stream';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';
import { limits } from '../../../protocol/src/limits.ts';

const longestHead = 4096;
const endOfHead = Buffer.from('\r\n\r\n');

/**
 * Reads LSP's framing with a bound. A message over the limit is skipped without being kept, and a body that is not a
 * JSON object is dropped: both are reported by `onError` and the stream goes on. A head that is none ends the stream,
 * since nobody can tell any more where the next message begins.
 */
export class BoundedMessageReader extends AbstractMessageReader {
  readonly #input: Readable;
  readonly #limitBytes: number;
  #head: Buffer = Buffer.alloc(0);
  #body: Buffer[] = [];
  /** Bytes of the current body that are still to come; undefined while a head is read. */
  #left: number | undefined;
  #isSkipping = false;
  #isClosed = false;

  constructor(input: Readable, limitBytes: number = limits.messageBytes) {
    super();
    this.#input = input;
    this.#limitBytes = limitBytes;
  }

  override listen(callback: DataCallback): Disposable {
    const onData = (chunk: Buffer) => this.#push(chunk, callback);
    const onEnd = () => this.#close();
    this.#input.on('data', onData);
    this.#input.once('end', onEnd);
    this.#input.once('close', onEnd);
    this.#input.once('error', onEnd);
    return { dispose: () => void this.#input.off('data', onData) };
  }

  #push(chunk: Buffer, callback: DataCallback): void {
    let rest = chunk;
    while (rest.length > 0 && !this.#isClosed) {
      rest = this.#left === undefined ? this.#readHead(rest) : this.#readBody(rest, this.#left, callback);
    }
  }

  /** Takes bytes of a head and returns what comes after it. */
  #readHead(chunk: Buffer): Buffer {
    const head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = head.indexOf(endOfHead);
    if (end < 0 || end > longestHead) {
      this.#head = head;
      if (head.length > longestHead) this.#giveUp('the head of a message is too long');
      return Buffer.alloc(0);
    }
    const match = /^content-length: *([0-9]{1,15})\r?$/im.exec(head.toString('latin1', 0, end));
    if (!match) {
      this.#giveUp('the head of a message has no Content-Length');
      return Buffer.alloc(0);
    }
    this.#head = Buffer.alloc(0);
    const length = Number(match[1]);
    this.#isSkipping = length > this.#limitBytes;
    if (this.#isSkipping) this.fireError(new RangeError(`a message of ${length} bytes is over the limit`));
    this.#left = length > 0 ? length : undefined;
    return head.subarray(end + endOfHead.length);
  }

  #readBody(chunk: Buffer, left: number, callback: DataCallback): Buffer {
    const taken = chunk.subarray(0, left);
    if (!this.#isSkipping) this.#body.push(taken);
    if (taken.length < left) {
      this.#left = left - taken.length;
      return Buffer.alloc(0);
    }
    const body = this.#body;
    this.#body = [];
    this.#left = undefined;
    if (!this.#isSkipping) this.#deliver(Buffer.concat(body), callback);
    return chunk.subarray(left);
  }

  #deliver(body: Buffer, callback: DataCallback): void {
    let message: unknown;
    try {
      message = JSON.parse(utf8.decode(body));
    } catch {
      return this.fireError(new Error('a message is not JSON in UTF-8'));
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      return this.fireError(new Error('a message is not a JSON object'));
    }
    callback(message as Message);
  }

  #giveUp(why: string): void {
    this.fireError(new Error(why));
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.fireClose();
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
