import { lookup } from 'node:dns';
import {
  ClientRequest,
  request as requestHttp,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';

export interface HttpRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Milliseconds of silence after which the request is given up. */
  readonly silenceMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Paused until it is read: what is not read slows the sender. The caller reads it to its end or destroys it. */
  readonly body: IncomingMessage;
}

export type OpenHttp = (request: HttpRequest) => Promise<HttpAnswer>;

/**
 * The one place that the extension makes requests to providers. Node's own client: it has no cookies, follows no
 * redirect and decodes nothing. Plain HTTP reaches this machine alone, whatever a name server says. Rejects with the
 * socket's error.
 */
export const openHttp: OpenHttp = ({ url, method, headers, body, signal, silenceMs }) =>
  new Promise((resolve, reject) => {
    const isPlain = url.startsWith('http:');
    const bytes = Buffer.from(body, 'utf8');
    const options = {
      method,
      signal,
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        'user-agent': 'Sallyport',
        ...(method === 'POST' && { 'content-length': String(bytes.byteLength) }),
      },
      ...(isPlain && { lookup: loopbackLookup }),
    };
    const request = (isPlain ? requestHttp : requestHttps)(url, options, (answer) => {
      answer.on('error', () => undefined);
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer });
    });
    request.setTimeout(silenceMs, () => request.destroy(new SilentError()));
    request.on('error', reject);
    request.end(bytes);
  });

/** A request whose connection was made, and for https verified, before. */
export interface ConnectedRequest {
  readonly connection: Duplex;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** All of them; only the length of the body and `Connection` are added. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly silenceMs: number;
}

/**
 * Makes a request over exactly this connection, which ends with it. By the settings for proxies, VS Code puts a connection
 * of its own in the place of one that `http.request` is given; the class behind it is left alone. Rejects with the
 * socket's error.
 */
export function requestOver(options: ConnectedRequest): Promise<HttpAnswer> {
  const { connection, method, path, headers, body, signal, silenceMs } = options;
  return new Promise((resolve, reject) => {
    const request = new ClientRequest(
      { method, path, signal, setHost: false, createConnection: () => connection },
      (answer) => {
        answer.on('error', () => undefined);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer });
      },
    );
    for (const [name, value] of headers) request.setHeader(name, value);
    if (body) request.setHeader('content-length', String(body.byteLength));
    request.setTimeout(silenceMs, () => request.destroy(new SilentError()));
    request.on('error', reject);
    request.end(body);
  });
}

/** Nothing came for the time that was set. */
export class SilentError extends Error {
  constructor() {
    super('Nothing came in time');
    this.name = 'SilentError';
  }
}

/** Looks a name up and answers with addresses of this machine only; a name that has none is refused. */
export function createLoopbackLookup(resolve: typeof lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const own = found.filter(({ address }) => address === '::1' || address.startsWith('127.'));
      const [first] = own;
      if (!first) return callback(new Error(`${hostname} is not an address of this machine`), []);
      if (options.all) callback(null, own);
      else callback(null, first.address, first.family);
    });
  };
}

const loopbackLookup = createLoopbackLookup(lookup);
