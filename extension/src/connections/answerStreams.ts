import { UserError } from '../../../protocol/src/errors.ts';
import { brokerWords } from '../agentMessages.ts';
import type { BrokerStream } from './brokerStream.ts';

/** Answers that the engine reads part by part, by their ids. */
export class AnswerStreams {
  readonly #createId: () => string;
  readonly #streams = new Map<string, BrokerStream>();
  #opening = 0;

  constructor(createId: () => string) {
    this.#createId = createId;
  }

  /** Keeps what `open` opens, and answers with its id. Rejects with `too-large` where too many are open. */
  async open<T extends { readonly answer: BrokerStream }>(
    open: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<Omit<T, 'answer'> & { readonly stream: string }> {
    if (this.#streams.size + this.#opening >= mostStreams)
      throw new UserError('too-large', brokerWords.tooMany(mostStreams));
    this.#opening++;
    try {
      const { answer, ...rest } = await open();
      if (signal.aborted) {
        // The answer came with the cancellation: nobody knows its id, so nobody would close it.
        answer.close();
        throw new UserError('cancelled', 'The request was cancelled');
      }
      const stream = this.#createId();
      this.#streams.set(stream, answer);
      return { ...rest, stream };
    } finally {
      this.#opening--;
    }
  }

  /** The next bytes. Rejects with `UserError`: `not-found`, and what the stream says. */
  async read(stream: string, signal: AbortSignal): Promise<{ base64: string; done: boolean }> {
    const found = this.#streams.get(stream);
    if (!found) throw new UserError('not-found', brokerWords.noStream());
    try {
      const part = await found.read(signal);
      if (part.done) this.#streams.delete(stream);
      return part;
    } catch (error) {
      if (!(error instanceof UserError && error.code === 'conflict')) this.close(stream);
      throw error;
    }
  }

  close(stream: string): void {
    this.#streams.get(stream)?.close();
    this.#streams.delete(stream);
  }

  /** The engine is gone: nobody reads on. */
  closeAll(): void {
    for (const stream of [...this.#streams.keys()]) this.close(stream);
  }

  get size(): number {
    return this.#streams.size;
  }
}

const mostStreams = 32;
