import { request as requestPlain, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { WebAddress } from '../../../remote-agent/src/webAddress.ts';

export interface WebRequest {
  readonly method: string;
  readonly address: WebAddress;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export interface WebAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The answer was longer than the bound and is cut there. */
  readonly isCut: boolean;
}

export interface ExchangeOptions {
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  /** Certificates of authorities (PEM) in place of the system's; for tests. */
  readonly authorities?: string;
}

/**
 * Makes one HTTP/1.1 request on a connection that was judged before. Nothing is added but `Host`, and nothing is
 * followed. The caller destroys the socket. Rejects with what Node says.
 */
export function exchange(
  { method, address, headers, body }: WebRequest,
  socket: Socket,
  { signal, limitBytes, authorities }: ExchangeOptions,
): Promise<WebAnswer> {
  const { url, target, isTls } = address;
  const stream = isTls
    ? connectTls({
        socket,
        // What the certificate must be for; without a name it would be `localhost`.
        host: target.host,
        ...(target.isAddress ? {} : { servername: target.host }),
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: true,
        ...(authorities === undefined ? {} : { ca: authorities }),
      })
    : socket;
  const { host, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    const sent = requestPlain({
      method,
      path: `${pathname}${search}`,
      headers: { ...headers, host, 'accept-encoding': 'identity', connection: 'close' },
      setHost: false,
      signal,
      createConnection: () => stream,
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      readBody(response, limitBytes).then(({ bytes, isCut }) => {
        resolve({
          status: response.statusCode ?? 0,
          statusText: response.statusMessage ?? '',
          headers: Object.fromEntries(
            Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
          ),
          body: bytes,
          isCut,
        });
        sent.destroy();
      }, reject);
    });
    sent.end(body);
  });
}

async function readBody(
  response: IncomingMessage,
  limitBytes: number,
): Promise<{ bytes: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limitBytes) return { bytes: Buffer.concat(chunks).subarray(0, limitBytes), isCut: true };
  }
  return { bytes: Buffer.concat(chunks), isCut: false };
}
