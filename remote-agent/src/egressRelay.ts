import { request as startRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { EgressError } from './egressDial.ts';
import { endToEndHeaders, type AbsoluteForm } from './egressHeaders.ts';
import type { Target } from './egressRules.ts';

/** Longest headers of a request and of an answer. */
export const headerBytes = 32 * 1024;

/** Passes one plain request on and its answer back. Rejects where no answer came. */
export function relay(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: Socket,
  { target, path }: AbsoluteForm,
): Promise<void> {
  return new Promise((settle, reject) => {
    const forward = startRequest({
      createConnection: () => upstream,
      method: request.method ?? 'GET',
      path,
      setHost: false,
      maxHeaderSize: headerBytes,
      insecureHTTPParser: false,
    });
    for (const [name, value] of endToEndHeaders(request.rawHeaders)) forward.appendHeader(name, value);
    // Without its framing, a body would be read as the next request.
    if (request.headers['transfer-encoding'] !== undefined) forward.setHeader('Transfer-Encoding', 'chunked');
    forward.setHeader('Host', authorityOf(target));
    forward.setHeader('Connection', 'close');
    let answered = false;
    forward.on('error', reject);
    // Such as an answer that wants another protocol.
    forward.on('close', () => {
      if (!answered) reject(new EgressError('failed', 'the far side gave no answer that can be passed on'));
    });
    response.on('close', () => {
      upstream.destroy();
      settle();
    });
    forward.on('response', (answer) => {
      answered = true;
      try {
        const headers = endToEndHeaders(answer.rawHeaders).flat();
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    request.on('error', () => upstream.destroy());
    request.pipe(forward);
  });
}

/** Joins the two ends of a tunnel until both are done; either end breaking ends both. */
export function tunnel(client: Duplex, upstream: Socket, head: Buffer): void {
  client.on('close', () => upstream.destroy());
  upstream.on('close', () => client.destroy());
  if (client.destroyed) {
    upstream.destroy();
    return;
  }
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  client.pipe(upstream);
  upstream.pipe(client);
}

/** The headers of an answer of the proxy's own, which is the last one of its connection. */
export function plainText(text: string): Record<string, string | number> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  };
}

function authorityOf({ host, port }: Target): string {
  return `${host.includes(':') ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`;
}
