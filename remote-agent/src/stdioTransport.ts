import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '../../protocol/src/channel.ts';
import { errorMessage } from '../../protocol/src/errors.ts';
import { encodeFrame, FrameDecoder } from '../../protocol/src/framing.ts';
import type { Flow } from './jobLog.ts';

/** More than this waiting for the engine holds back the logs of jobs. */
const congestedBytes = 1024 * 1024;

/**
 * Framed messages over two byte streams. Never blocks: what the far side does not take is kept, and `isCongested`
 * tells those who could write much. Closes for good on the end of the input, on a broken pipe and on a bad frame.
 */
export class StdioTransport implements Transport, Flow {
  readonly #input: Readable;
  readonly #output: Writable;
  #onClose: ((reason: string) => void) | undefined;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  get isCongested(): boolean {
    return this.#output.writableLength > congestedBytes;
  }

  async whenClear(): Promise<void> {
    if (!this.isCongested || this.#output.destroyed) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        this.#output.off('drain', go).off('close', go);
        resolve();
      };
      this.#output.on('drain', go).on('close', go);
    });
  }

  send(message: unknown): void {
    this.#output.write(encodeFrame(message));
  }

  start(onMessage: (message: unknown) => void, onClose: (reason: string) => void): void {
    this.#onClose = onClose;
    const decoder = new FrameDecoder();
    this.#input.on('data', (chunk: Uint8Array) => {
      try {
        for (const message of decoder.push(chunk)) onMessage(message);
      } catch (error) {
        this.#end(errorMessage(error));
      }
    });
    this.#input.once('end', () => this.#end('the engine closed the connection'));
    this.#input.once('error', (error) => this.#end(error.message));
    this.#input.once('close', () => this.#end('the connection was closed'));
    this.#output.once('error', (error) => this.#end(error.message));
  }

  close(): void {
    this.#end('closed');
  }

  #end(reason: string): void {
    const tell = this.#onClose;
    this.#onClose = undefined;
    if (!tell) return;
    this.#input.removeAllListeners('data').destroy();
    this.#output.on('error', () => undefined).end();
    tell(reason);
  }
}

/** Standard output as a stream that does not block: `process.stdout` would, where it is a pipe. */
export function openStandardOutput(): Writable {
  try {
    return new Socket({ fd: 1, readable: false, writable: true });
  } catch {
    return process.stdout;
  }
}
