import { UserError } from '../../../../protocol/src/errors.ts';
import { limits } from '../../../../protocol/src/limits.ts';
import { looksLikePage, ProviderFailure, toStatusFailure } from './failures.ts';
import type { PersonSide } from './personSide.ts';

/** The address that the provider packages are given. No name server knows it (RFC 2606), and nothing asks one. */
export const placeholderOrigin = 'https://connection.invalid';

/** Headers that a request may carry; whatever else a package adds, a placeholder key above all, stays here. */
const sentHeaders: ReadonlySet<string> = new Set([
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'openai-beta',
]);

/** A request body must fit one message, with room for what is around it. */
const largestBody = limits.messageBytes - 256 * 1024;
const errorBodyBytes = 64 * 1024;

/** What a request was and what came back, for the view of what is sent. */
export interface BrokerWatch {
  readonly sent: (request: { readonly path: string; readonly body: string }) => void;
  readonly answered: (status: number) => void;
  readonly received: (bytes: number) => void;
  /** The end of the stream came. `tail` is its last part as text. */
  readonly ended: (tail: string) => void;
}

const tailBytes = 4096;

/**
 * A `fetch` for the provider packages that asks the person's side for "this connection, this path, this body". Bytes
 * are pulled one read at a time, so a slow reader slows the sender; cancelling closes the stream over there. A status
 * that is not 2xx, a redirect included, and a web page reject with `ProviderFailure`.
 */
export function createBrokerFetch(person: PersonSide, connection: string, watch: BrokerWatch): typeof fetch {
  return async (input, init) => {
    const path = pathOf(input);
    const body = typeof init?.body === 'string' ? init.body : '';
    if (Buffer.byteLength(body) > largestBody)
      throw new ProviderFailure('too-long', 'The request is larger than 8 MB');
    const signal = init?.signal ?? undefined;
    watch.sent({ path, body });
    const opened = await person
      .ask('provider/open', { connection, path, headers: pickHeaders(init?.headers), body }, signal)
      .catch((error: unknown) => {
        throw toOpenFailure(error, signal);
      });
    watch.answered(opened.status);
    const source = new BrokerSource(person, opened.stream, watch, signal);
    if (opened.status < 200 || opened.status > 299) {
      throw toStatusFailure(opened.status, opened.headers, await source.readText(errorBodyBytes));
    }
    if (looksLikePage(opened.headers['content-type'], '')) {
      await source.close();
      throw new ProviderFailure('not-an-api', '', { status: opened.status });
    }
    const headers = new Headers();
    const type = opened.headers['content-type'];
    if (type !== undefined) headers.set('content-type', type);
    return new Response(source.stream(), { status: opened.status, headers });
  };
}

function pathOf(input: Parameters<typeof fetch>[0]): string {
  const address = new URL(input instanceof Request ? input.url : input);
  if (address.origin !== placeholderOrigin)
    throw new ProviderFailure('connection', 'A request went to an address that is not the connection’s');
  return address.pathname.slice(1) + address.search;
}

function pickHeaders(headers: RequestInit['headers']): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of new Headers(headers)) if (sentHeaders.has(name)) picked[name] = value;
  return picked;
}

function toOpenFailure(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (!(error instanceof UserError)) return error;
  const network = error.code === 'closed' || error.code === 'timeout';
  return new ProviderFailure(network ? 'network' : 'connection', error.message, { cause: error });
}

/** The bytes of one answer. */
class BrokerSource {
  readonly #person: PersonSide;
  readonly #id: string;
  readonly #watch: BrokerWatch;
  readonly #signal: AbortSignal | undefined;
  #tail = Buffer.alloc(0);
  #isOver = false;

  constructor(person: PersonSide, id: string, watch: BrokerWatch, signal: AbortSignal | undefined) {
    this.#person = person;
    this.#id = id;
    this.#watch = watch;
    this.#signal = signal;
  }

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const bytes = await this.#read();
          if (bytes) controller.enqueue(bytes);
          else controller.close();
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** All of it as text, up to `most` bytes; the rest is left unread. */
  async readText(most: number): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for (let bytes = await this.#read(); bytes && size < most; bytes = await this.#read()) {
        chunks.push(bytes);
        size += bytes.byteLength;
      }
    } catch (error) {
      if (this.#signal?.aborted) throw error;
    }
    await this.close();
    return Buffer.concat(chunks).subarray(0, most).toString('utf8');
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#person.ask('provider/close', { stream: this.#id }).catch(() => undefined);
  }

  /** The next bytes that are not none; null at the end. */
  async #read(): Promise<Uint8Array | null> {
    while (!this.#isOver) {
      const { base64, done } = await this.#pull();
      if (done) this.#isOver = true;
      const bytes = Buffer.from(base64, 'base64');
      this.#watch.received(bytes.byteLength);
      this.#tail = Buffer.concat([this.#tail, bytes]).subarray(-tailBytes);
      if (done) this.#watch.ended(this.#tail.toString('utf8'));
      if (bytes.byteLength > 0) return bytes;
    }
    return null;
  }

  async #pull(): Promise<{ base64: string; done: boolean }> {
    try {
      this.#signal?.throwIfAborted();
      return await this.#person.ask('provider/read', { stream: this.#id }, this.#signal);
    } catch (error) {
      await this.close();
      if (this.#signal?.aborted) throw this.#signal.reason;
      throw new ProviderFailure('cut', '', { cause: error });
    }
  }
}
