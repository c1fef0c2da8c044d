import type { IncomingHttpHeaders } from 'node:http';
import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import type { providerRequests } from '../../../protocol/src/agent.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { brokerWords } from '../agentMessages.ts';
import type { Scrubber } from '../keys/scrubber.ts';
import { joinBelow } from './address.ts';
import { AnswerStreams } from './answerStreams.ts';
import type { ConnectionKeys } from './connectionKeys.ts';
import { connectionKindFacts } from './connectionKinds.ts';
import type { SavedConnection } from './connectionStore.ts';
import { BrokerStream, toNetworkError } from './brokerStream.ts';
import type { HttpAnswer, OpenHttp } from './httpRequest.ts';

type Open = (typeof providerRequests)['provider/open'];
type Read = (typeof providerRequests)['provider/read'];

export interface ProviderBrokerOptions {
  readonly find: (id: string) => SavedConnection | undefined;
  readonly keys: ConnectionKeys;
  readonly openHttp: OpenHttp;
  readonly createId: () => string;
}

/** Headers that the engine may set, beside what the broker itself adds. None can hold a credential or a host. */
const allowedHeaders: ReadonlySet<string> = new Set([
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'openai-beta',
]);
/** Headers of an answer that the engine gets to see. */
const returnedHeaders = [
  'content-type',
  'retry-after',
  'retry-after-ms',
  'request-id',
  'x-request-id',
] as const;
const silenceMs = 5 * 60_000;

/**
 * Makes the engine's requests to providers. The engine names a connection, a path and a body; the address, the key and
 * the rest are added here. A redirect is an error, and the key is taken out of everything that comes back.
 */
export class ProviderBroker {
  readonly #options: ProviderBrokerOptions;
  readonly #streams: AnswerStreams;

  constructor(options: ProviderBrokerOptions) {
    this.#options = options;
    this.#streams = new AnswerStreams(options.createId);
  }

  /** Rejects with `UserError`: `closed` and `timeout` for the network, anything else for the connection itself. */
  async open(params: ParamsOf<Open>, signal: AbortSignal): Promise<ResultOf<Open>> {
    const connection = this.#options.find(params.connection);
    if (!connection || connection.kind === 'vscode') {
      throw new UserError('not-found', brokerWords.noConnection());
    }
    const { kind } = connection;
    const facts = connectionKindFacts[kind];
    const url = facts.paths.includes(params.path) ? joinBelow(connection.base, params.path) : undefined;
    if (url === undefined) throw new UserError('unsafe-path', brokerWords.path());
    const headers = { ...facts.headers, ...pickHeaders(params.headers) };
    return this.#streams.open(async () => {
      const access = await this.#options.keys.authorize(connection, kind);
      refuseCancelled(signal);
      const all = { ...headers, ...access.headers };
      const answer = await this.#send(url, all, params.body, signal, access.scrubber);
      return {
        answer: new BrokerStream(answer.body, access.scrubber),
        status: answer.status,
        headers: shownHeaders(answer.headers, access.scrubber),
      };
    }, signal);
  }

  async read({ stream }: ParamsOf<Read>, signal: AbortSignal): Promise<ResultOf<Read>> {
    return this.#streams.read(stream, signal);
  }

  close(stream: string): void {
    this.#streams.close(stream);
  }

  /** The engine is gone: nobody reads on. */
  closeAll(): void {
    this.#streams.closeAll();
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  async #send(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
    scrubber: Scrubber,
  ): Promise<HttpAnswer> {
    let answer: HttpAnswer;
    try {
      answer = await this.#options.openHttp({ url, method: 'POST', headers, body, signal, silenceMs });
    } catch (error) {
      if (signal.aborted) throw new UserError('cancelled', 'The request was cancelled');
      throw toNetworkError(error, scrubber);
    }
    refuseRedirect(answer);
    return answer;
  }
}

function refuseCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new UserError('cancelled', 'The request was cancelled');
}

/** Throws for a redirect: what it points to was not saved by a person. The answer is let go. */
export function refuseRedirect(answer: HttpAnswer): void {
  if (answer.status < 300 || answer.status > 399) return;
  answer.body.destroy();
  throw new UserError('conflict', brokerWords.redirect());
}

function pickHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (!allowedHeaders.has(lower) || !/^[\x20-\x7e]{0,1024}$/.test(value)) {
      throw new UserError('bad-message', brokerWords.header());
    }
    picked[lower] = value;
  }
  return picked;
}

function shownHeaders(headers: IncomingHttpHeaders, scrubber: Scrubber): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name of returnedHeaders) {
    const value = headers[name];
    if (typeof value === 'string') shown[name] = scrubber.text(value).slice(0, 1024);
  }
  return shown;
}
