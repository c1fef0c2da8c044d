import { limits } from './limits.ts';

/**
 * The framing of vscode-jsonrpc and LSP: `Content-Length: N\r\n\r\n` and N bytes of UTF-8 JSON. Written here because
 * the runner carries no package.
 */
export function encodeFrame(message: unknown): Uint8Array {
  const body = encoder.encode(JSON.stringify(message));
  if (body.length > limits.messageBytes)
    throw new RangeError(`Failed to send: message of ${body.length} bytes is over the limit`);
  const head = encoder.encode(`Content-Length: ${body.length}\r\n\r\n`);
  const frame = new Uint8Array(head.length + body.length);
  frame.set(head);
  frame.set(body, head.length);
  return frame;
}

/**
 * Splits a byte stream into parsed messages. `push` returns what is complete; it throws on a header that is not one,
 * on a length over the limit and on a body that is not JSON: such a stream can't be trusted further and must be closed.
 */
export class FrameDecoder {
  #buffer = new Uint8Array(0);
  #start = 0;
  #end = 0;
  #need: number | undefined;

  push(chunk: Uint8Array): unknown[] {
    this.#append(chunk);
    const messages: unknown[] = [];
    for (;;) {
      if (this.#need === undefined && !this.#readHead()) return messages;
      const need = this.#need ?? 0;
      if (this.#end - this.#start < need) return messages;
      const body = this.#buffer.subarray(this.#start, this.#start + need);
      this.#start += need;
      this.#need = undefined;
      messages.push(JSON.parse(decoder.decode(body)));
    }
  }

  #readHead(): boolean {
    const limit = Math.min(this.#end, this.#start + maximumHeadBytes);
    for (let at = this.#start; at + 3 < limit; at++) {
      if (
        this.#buffer[at] === 13 &&
        this.#buffer[at + 1] === 10 &&
        this.#buffer[at + 2] === 13 &&
        this.#buffer[at + 3] === 10
      ) {
        const head = decoder.decode(this.#buffer.subarray(this.#start, at));
        const match = /^content-length: *([0-9]{1,10})$/im.exec(head);
        if (!match?.[1]) throw new Error('Failed to read a message: no Content-Length');
        const length = Number(match[1]);
        if (length > limits.messageBytes)
          throw new RangeError(`Failed to read a message: ${length} bytes is over the limit`);
        this.#need = length;
        this.#start = at + 4;
        return true;
      }
    }
    if (this.#end - this.#start >= maximumHeadBytes)
      throw new Error('Failed to read a message: header too long');
    return false;
  }

  #append(chunk: Uint8Array): void {
    const held = this.#end - this.#start;
    if (this.#end + chunk.length > this.#buffer.length) {
      const size = Math.max(2 * held, held + chunk.length, 65_536);
      const grown = new Uint8Array(size);
      grown.set(this.#buffer.subarray(this.#start, this.#end));
      this.#buffer = grown;
      this.#start = 0;
      this.#end = held;
    }
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }
}

const maximumHeadBytes = 1024;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
