import {
  request as startRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Scrubber } from '../../protocol/src/scrub/scrubber.ts';
import { EgressError } from './egressDial.ts';
import { endToEndHeaders } from './egressHeaders.ts';
import type { Target } from './egressRules.ts';
import { encodingFault, scrubHead } from './vault/answerHead.ts';
import type { WrittenRequest } from './vault/inject.ts';
import { createScrubTransform } from './vault/scrubTransform.ts';

/** Longest headers of a request and of an answer. */
export const headerBytes = 32 * 1024;

export interface Forward {
  /** Path and end-to-end headers as they go out. */
  readonly written: WrittenRequest;
  /** The value of `Host`. */
  readonly authority: string;
  /** The connection: `createConnection` for one that ends with the answer, `agent` for one that is used again. */
  readonly connection: Pick<RequestOptions, 'createConnection' | 'agent'>;
  /** What must not come back; absent where nothing was put in. */
  readonly scrubber?: Scrubber;
  readonly onSocket?: (socket: Socket) => void;
}

/** Passes one request on and its answer back. Rejects where no answer came that can be passed on. */
export async function relay(
  request: IncomingMessage,
  response: ServerResponse,
  forward: Forward,
): Promise<void> {
  try {
    await relayOnce(request, response, forward);
  } catch (error) {
    // A server may close a connection just as it is used again; a safe request is sent once more (RFC 9110 §9.2.2).
    if (!(error instanceof StaleConnection) || response.destroyed) throw error;
    await relayOnce(request, response, forward);
  }
}

/** A connection that was kept had ended; the request has no body and can be made anew. */
class StaleConnection extends Error {}

function relayOnce(request: IncomingMessage, response: ServerResponse, forward: Forward): Promise<void> {
  return new Promise((settle, reject) => {
    const { written, connection, onSocket } = forward;
    let answered = false;
    const outgoing = startRequest({
      ...connection,
      method: request.method ?? 'GET',
      path: written.path,
      setHost: false,
      maxHeaderSize: headerBytes,
      insecureHTTPParser: false,
    });
    for (const [name, value] of written.headers) outgoing.appendHeader(name, value);
    // Without its framing, a body would be read as the next request.
    if (request.headers['transfer-encoding'] !== undefined)
      outgoing.setHeader('Transfer-Encoding', 'chunked');
    outgoing.setHeader('Host', forward.authority);
    if (connection.agent === undefined) outgoing.setHeader('Connection', 'close');
    outgoing.on('error', (error) => {
      const isStale = outgoing.reusedSocket && !answered && isSafe(request);
      reject(isStale ? new StaleConnection('stale', { cause: error }) : error);
    });
    // Such as an answer that wants another protocol.
    outgoing.on('close', () => {
      if (!answered) reject(new EgressError('failed', 'the far side gave no answer that can be passed on'));
    });
    if (onSocket) outgoing.on('socket', onSocket);
    response.on('close', () => {
      if (connection.agent === undefined || !response.writableFinished) outgoing.destroy();
      settle();
    });
    outgoing.on('response', (answer) => {
      answered = true;
      try {
        passBack(request, response, answer, forward.scrubber);
      } catch (error) {
        outgoing.destroy();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    sendBody(request, outgoing);
  });
}

function isSafe({ method, headers, readableEnded }: IncomingMessage): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return (method === 'GET' || method === 'HEAD') && !hasBody && readableEnded;
}

function sendBody(request: IncomingMessage, outgoing: ClientRequest): void {
  request.on('error', () => outgoing.destroy());
  if (request.readableEnded) outgoing.end();
  else request.pipe(outgoing);
}

/** Throws where the head can't be passed on, or where the body is in a form that can't be looked through. */
function passBack(
  request: IncomingMessage,
  response: ServerResponse,
  answer: IncomingMessage,
  scrubber: Scrubber | undefined,
): void {
  const headers = endToEndHeaders(answer.rawHeaders);
  const status = answer.statusCode ?? 502;
  answer.on('error', () => response.destroy());
  if (!scrubber) {
    response.writeHead(status, answer.statusMessage, headers.flat());
    answer.pipe(response);
    return;
  }
  const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304;
  const encoding = headers
    .filter(([name]) => name.toLowerCase() === 'content-encoding')
    .map(([, value]) => value);
  const fault = hasBody ? encodingFault(encoding) : undefined;
  if (fault !== undefined) throw new EgressError('refused', fault);
  const kept = headers
    // What is taken out changes the length.
    .filter(([name]) => !(hasBody && name.toLowerCase() === 'content-length'))
    .map(([name, value]) => [scrubHead(name, scrubber), scrubHead(value, scrubber)]);
  response.writeHead(status, scrubHead(answer.statusMessage ?? '', scrubber), kept.flat());
  answer
    .pipe(createScrubTransform(scrubber))
    .on('error', () => response.destroy())
    .pipe(response);
}

/** Joins the two ends of a tunnel until both are done; either end breaking ends both. */
export function tunnel(client: Duplex, upstream: Socket, head: Buffer): void {
  client.on('close', () => upstream.destroy());
  upstream.on('close', () => client.destroy());
  if (client.destroyed) {
    upstream.destroy();
    return;
  }
  client.write(established);
  if (head.length > 0) upstream.write(head);
  client.pipe(upstream);
  upstream.pipe(client);
}

/** The answer to a CONNECT that is let through. */
export const established = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** The headers of an answer of the proxy's own, which is the last one of its connection. */
export function plainText(text: string): Record<string, string | number> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  };
}

/** The value of `Host` for a target; the scheme's own port is left out. */
export function authorityOf({ host, port }: Target, defaultPort: 80 | 443): string {
  return `${host.includes(':') ? `[${host}]` : host}${port === defaultPort ? '' : `:${port}`}`;
}
