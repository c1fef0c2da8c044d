import type { ParamsOf, ResultOf } from '../../protocol/src/contract.ts';
import type { personRequests } from '../../protocol/src/engineContract.ts';
import { UserError } from '../../protocol/src/errors.ts';
import type { PersonSide } from '../../language-server/src/agent/providers/personSide.ts';

type Requests = typeof personRequests;
type Method = keyof Requests;
type LmPart = ResultOf<Requests['lm/read']>['parts'][number];

/** Where a connection of a test goes, and the key that only this side has. */
export interface FakeConnection {
  readonly address: string;
  readonly key: string;
}

/** A scripted answer of one of VS Code's own models: what each read brings. */
export type LmScript = readonly (readonly LmPart[])[];

/** The extension host's part in plain Node: fetches for the engine, adds the key, answers questions. */
export class FakePersonSide implements PersonSide {
  readonly connections = new Map<string, FakeConnection>();
  readonly asked: { readonly method: Method; readonly params: unknown }[] = [];
  readonly dirty = new Set<string>();
  /** Answers of a person to `ask_person`, in order; null turns away. */
  readonly answers: (string | null)[] = [];
  /** What VS Code's models answer, in order. */
  readonly lm: LmScript[] = [];
  /** What a test answers to everything else: the vault, other places. */
  readonly others = new Map<Method, (params: never) => unknown>();
  /** Bytes of the largest piece that one read gives. */
  pieceBytes = 64 * 1024;
  readonly #streams = new Map<string, ReadableStreamDefaultReader<Uint8Array>>();
  readonly #aborts = new Map<string, AbortController>();
  readonly #rest = new Map<string, Uint8Array>();
  readonly #lmStreams = new Map<string, LmPart[][]>();
  #count = 0;

  /** Streams that were opened and neither read to the end nor closed. */
  get openStreams(): number {
    return this.#streams.size + this.#lmStreams.size;
  }

  async ask<M extends Method>(
    method: M,
    params: ParamsOf<Requests[M]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Requests[M]>> {
    this.asked.push({ method, params });
    const answer = await this.#answer(method, params as never, signal);
    return answer as ResultOf<Requests[M]>;
  }

  async #answer(method: Method, params: never, signal: AbortSignal | undefined): Promise<unknown> {
    switch (method) {
      case 'provider/open':
        return this.#open(params, signal);
      case 'provider/read':
        return this.#read(params);
      case 'provider/close':
        return this.#close(params);
      case 'lm/open': {
        const script = this.lm.shift();
        if (!script) throw new UserError('not-found', 'VS Code offers no such model');
        const stream = `lm${++this.#count}`;
        this.#lmStreams.set(
          stream,
          script.map((each) => [...each]),
        );
        return { stream };
      }
      case 'lm/read': {
        const { stream } = params as ParamsOf<Requests['lm/read']>;
        const left = this.#lmStreams.get(stream) ?? [];
        const parts = left.shift() ?? [];
        const done = left.length === 0;
        if (done) this.#lmStreams.delete(stream);
        return { parts, done };
      }
      case 'person/ask':
        return { answer: this.answers.shift() ?? null };
      case 'editor/dirty': {
        const { paths } = params as ParamsOf<Requests['editor/dirty']>;
        return paths.filter((path) => this.dirty.has(path));
      }
      case 'editor/problems':
        return [];
      case 'editor/symbols':
        return null;
      default: {
        const answer = this.others.get(method);
        if (!answer) throw new UserError('not-found', `Nobody here answers ${method}`);
        return answer(params);
      }
    }
  }

  async #open(
    { connection, path, headers, body }: ParamsOf<Requests['provider/open']>,
    signal: AbortSignal | undefined,
  ): Promise<ResultOf<Requests['provider/open']>> {
    const known = this.connections.get(connection);
    if (!known) throw new UserError('not-found', 'There is no such connection');
    const abort = new AbortController();
    let response: Response;
    try {
      response = await fetch(`${known.address}/${path}`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${known.key}`, 'x-api-key': known.key },
        body,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([abort.signal, signal]) : abort.signal,
      });
    } catch {
      throw new UserError('closed', 'The address can’t be reached');
    }
    const stream = `s${++this.#count}`;
    if (response.body) this.#streams.set(stream, response.body.getReader());
    this.#aborts.set(stream, abort);
    return { stream, status: response.status, headers: Object.fromEntries(response.headers) };
  }

  async #read({ stream }: ParamsOf<Requests['provider/read']>): Promise<ResultOf<Requests['provider/read']>> {
    const reader = this.#streams.get(stream);
    if (!reader) return { base64: '', done: true };
    const bytes = this.#rest.get(stream) ?? (await this.#next(stream, reader));
    if (!bytes) {
      this.#streams.delete(stream);
      return { base64: '', done: true };
    }
    if (bytes.byteLength > this.pieceBytes) this.#rest.set(stream, bytes.subarray(this.pieceBytes));
    else this.#rest.delete(stream);
    return { base64: Buffer.from(bytes.subarray(0, this.pieceBytes)).toString('base64'), done: false };
  }

  async #next(
    stream: string,
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Promise<Uint8Array | undefined> {
    try {
      return (await reader.read()).value;
    } catch {
      this.#streams.delete(stream);
      throw new UserError('closed', 'The connection broke');
    }
  }

  #close({ stream }: ParamsOf<Requests['provider/close']>): null {
    this.#aborts.get(stream)?.abort();
    this.#streams.delete(stream);
    this.#lmStreams.delete(stream);
    return null;
  }
}
