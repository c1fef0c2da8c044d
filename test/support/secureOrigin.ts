import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { createJobAuthority, type JobAuthority } from '../../remote-agent/src/vault/jobAuthority.ts';

/** What a server was asked, whole. */
export interface AskedRequest {
  readonly line: string;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly body: string;
}

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A TLS server on 127.0.0.1 with a certificate of an authority made for the test. */
export interface SecureOrigin {
  readonly port: number;
  readonly seen: AskedRequest[];
  /** Connections so far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** An authority for the servers of one test. */
export function createTestAuthority(): JobAuthority {
  return createJobAuthority(Date.now(), 3_600_000);
}

/** `host` is what its certificate is for; a client that asks for one of `others` by name gets one for that. */
export async function openSecureOrigin(
  authority: JobAuthority,
  answer: Answer,
  host = '127.0.0.1',
  others: readonly string[] = [],
): Promise<SecureOrigin> {
  const seen: AskedRequest[] = [];
  let connections = 0;
  const options: ServerOptions = {
    ...authority.issue(host),
    SNICallback: (name, done) =>
      done(null, createSecureContext(authority.issue(others.includes(name) ? name : host))),
  };
  const server = createServer(options, (request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (part: string) => (body += part));
    request.on('end', () => {
      seen.push({ line: `${request.method ?? ''} ${request.url ?? ''}`, headers: request.rawHeaders, body });
      answer(request, response, body);
    });
  });
  server.on('secureConnection', () => connections++);
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    connections: () => connections,
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/** Answers with what was asked: the worst that a server can do with a header. */
export const echo: Answer = (request, response, body) => {
  response.end(JSON.stringify({ url: request.url, headers: request.rawHeaders, body }));
};
