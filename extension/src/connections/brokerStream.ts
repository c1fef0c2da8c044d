import type { IncomingMessage } from 'node:http';
import { UserError } from '../../../protocol/src/errors.ts';
import type { ByteScrubber, Scrubber } from '../keys/scrubber.ts';
import { brokerWords } from '../agentMessages.ts';

/** One answer, read part by part. What nobody asks for stays with the sender. */
export class BrokerStream {
  readonly #body: IncomingMessage;
  readonly #parts: AsyncIterator<unknown, undefined>;
  readonly #pass: ByteScrubber;
  readonly #scrubber: Scrubber;
  readonly #limitBytes: number;
  #seenBytes = 0;
  #isReading = false;

  /** Of an answer that is longer than `limitBytes`, no more is read. */
  constructor(body: IncomingMessage, scrubber: Scrubber, limitBytes = Infinity) {
    this.#body = body;
    this.#parts = body[Symbol.asyncIterator]();
    this.#scrubber = scrubber;
    this.#limitBytes = limitBytes;
    this.#pass = scrubber.stream();
  }

  /**
   * The next bytes, without the key. Rejects with `UserError`: `closed` where the answer was cut, `timeout`, `too-large`.
   */
  async read(signal: AbortSignal): Promise<{ base64: string; done: boolean }> {
    if (this.#isReading) throw new UserError('conflict', brokerWords.readTwice());
    this.#isReading = true;
    const onAbort = () => this.close();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        const { value, done = false } = await this.#parts.next();
        this.#count(value);
        const bytes = done ? this.#pass.end() : this.#pass.push(value as Uint8Array);
        if (done || bytes.byteLength > 0) return { base64: toBase64(bytes), done };
      }
    } catch (error) {
      if (signal.aborted) throw new UserError('cancelled', 'The read was cancelled');
      if (error instanceof UserError) throw error;
      throw toNetworkError(error, this.#scrubber);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#isReading = false;
    }
  }

  close(): void {
    this.#body.destroy();
  }

  #count(part: unknown): void {
    this.#seenBytes += part instanceof Uint8Array ? part.byteLength : 0;
    if (this.#seenBytes > this.#limitBytes)
      throw new UserError('too-large', brokerWords.tooLong(this.#limitBytes));
  }
}

/** A socket's error in words, without the key. */
export function toNetworkError(error: unknown, scrubber: Scrubber): UserError {
  const isSilent = error instanceof Error && error.name === 'SilentError';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const detail = scrubber.text(code === '' || code === 'ABORT_ERR' ? 'ECONNRESET' : code);
  return isSilent
    ? new UserError('timeout', brokerWords.silent())
    : new UserError('closed', brokerWords.unreachable(detail));
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
