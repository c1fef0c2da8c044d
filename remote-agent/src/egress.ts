import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket, type ListenOptions, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EgressRecord } from '../../protocol/src/runner.ts';
import { dial, EgressError, systemNetwork, type EgressNetwork } from './egressDial.ts';
import { Exchange } from './egressExchange.ts';
import { endToEndHeaders, headerFault, parseAbsoluteForm, parseOriginForm } from './egressHeaders.ts';
import { authorityOf, headerBytes, plainText, relay, tunnel } from './egressRelay.ts';
import { findRule, parseRules, parseTarget, type HostRule, type Target } from './egressRules.ts';
import { createTerminator, type OpenedTunnel } from './egressTerminate.ts';
import { showName } from './files/treePath.ts';
import { inject, injectionsFor, type WrittenRequest } from './vault/inject.ts';
import { isLoopback, type Injection } from './vault/injection.ts';
import type { JobAuthority } from './vault/jobAuthority.ts';
import type { JobValues } from './vault/jobValues.ts';
import { systemTrust, type Trust } from './vault/trust.ts';

export interface EgressOptions {
  readonly jobId: string;
  /** The reviewed host list (`JobAccess.network.hosts`). Empty lets nothing through. */
  readonly hosts: readonly string[];
  /** Called once for each request, when it is over. */
  readonly onRecord: (record: EgressRecord) => void;
  readonly network?: EgressNetwork;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly bounds?: Partial<EgressBounds>;
  /** What is put into requests, with the authority that the card accepts for the hosts that get it. */
  readonly vault?: EgressVault;
}

export interface EgressVault {
  readonly values: Pick<JobValues, 'injections' | 'scrubber'>;
  readonly authority: JobAuthority;
  /** What the real servers are checked against; absent for what this machine trusts. */
  readonly trust?: () => Trust;
}

export interface EgressBounds {
  /** Requests of one job; all further ones are refused with one last record that says so. */
  readonly requests: number;
  readonly connections: number;
  /** Time to send a request's headers. */
  readonly headersMs: number;
  /** Time to resolve and connect. */
  readonly dialMs: number;
  /** Silence on a connection after which it is closed. */
  readonly idleMs: number;
}

/**
 * The one way out of a job with a host list: an HTTP proxy that belongs to this job alone, in front of an empty network
 * namespace. It takes CONNECT and plain absolute-form requests, and looks at each of them anew: a redirect is the
 * client's next request. What may be reached is decided in `egressRules.ts`.
 *
 * For hosts that a vault value goes to, a tunnel ends here (`egressTerminate.ts`): each request in it is read, the value
 * is put in, the real server is verified, and the value is taken out of what it answers. Over plain HTTP that happens only
 * on loopback.
 *
 * What it can't see: inside any other CONNECT tunnel the bytes are the card's own, so a listed host that serves other names
 * (a shared front end, a proxy, a WebSocket service) can be asked for those. Listing a host trusts that host.
 */
export interface EgressProxy {
  /** Serves `listener` from now on and closes it in the end: a listening server (`awaitListener`) or a path. */
  listen(listener: Server | ListenOptions): Promise<void>;
  /** Ends every connection. Every record was delivered when this settles. */
  close(): Promise<void>;
}

const defaultBounds: EgressBounds = {
  requests: 10_000,
  connections: 128,
  headersMs: 10_000,
  dialMs: 15_000,
  idleMs: 300_000,
};

/** Makes the proxy of one job; nothing listens yet. Throws `bad-message` where a host of the list cannot be read. */
export function createEgressProxy(options: EgressOptions): EgressProxy {
  const rules = parseRules(options.hosts);
  const bounds = { ...defaultBounds, ...options.bounds };
  const network = options.network ?? systemNetwork;
  const { vault } = options;
  const ended = new AbortController();
  const sockets = new Set<Duplex>();
  const exchanges = new Set<Exchange>();
  let count = 0;

  /** Sockets that `node:http` has let go of, and those to the outside. */
  const keep = <T extends Socket | Duplex>(socket: T): T => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };

  const begin = (method: string): Exchange => {
    const start = { jobId: options.jobId, method: method.slice(0, 32), at: (options.now ?? Date.now)() };
    const exchange = new Exchange((count += 1), start, (record) => {
      exchanges.delete(exchange);
      if (exchange.ordinal <= bounds.requests) options.onRecord(record);
    });
    exchanges.add(exchange);
    return exchange;
  };

  /** Decides; fills the record in on the way. Throws `EgressError`. */
  const decide = (
    exchange: Exchange,
    request: IncomingMessage,
    target: Target | undefined,
  ): { target: Target; rule: HostRule } => {
    if (exchange.ordinal >= bounds.requests) {
      const text = `${bounds.requests} requests were made; this and all further ones are refused`;
      throw new EgressError('refused', text);
    }
    if (!target) {
      const shown = showName((request.url ?? '').slice(0, 200));
      throw new EgressError('refused', `not a host and port in a form that is taken: ${shown}`);
    }
    exchange.target = target;
    const fault = headerFault(request.rawHeaders, target);
    if (fault !== undefined) throw new EgressError('refused', fault);
    if (request.headers.host === undefined && request.method !== 'CONNECT' && request.httpVersion !== '1.0') {
      throw new EgressError('refused', 'the Host header is missing');
    }
    const rule = findRule(rules, target);
    if (!rule) throw new EgressError('refused', noRule(options.hosts));
    exchange.rule = rule;
    return { target, rule };
  };

  const connect = async (target: Target, rule: HostRule): Promise<Socket> => {
    const socket = keep(
      await dial(target, rule, network, { signal: ended.signal, timeoutMs: bounds.dialMs }),
    );
    if (ended.signal.aborted) throw new EgressError('failed', 'the job ended');
    socket.setTimeout(bounds.idleMs, () => socket.destroy());
    return socket;
  };

  /** Decides and connects. */
  const open = async (
    exchange: Exchange,
    request: IncomingMessage,
    asked: Target | undefined,
  ): Promise<Socket> => {
    const { target, rule } = decide(exchange, request, asked);
    const socket = await connect(target, rule);
    exchange.connected(socket);
    return socket;
  };

  const answerFailure = (exchange: Exchange, response: ServerResponse, error: unknown): void => {
    const { status, text } = exchange.fail(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(status, plainText(text)).end(text);
  };

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = begin(request.method ?? '');
    response.on('close', () => exchange.end());
    try {
      const asked = parseAbsoluteForm(request.url ?? '');
      const upstream = await open(exchange, request, asked?.target);
      if (response.destroyed || !asked) {
        upstream.destroy();
        return;
      }
      const { target } = asked;
      const written = { path: asked.path, headers: endToEndHeaders(request.rawHeaders) };
      const injections = isLoopback(target) ? injectionsFor(vault?.values.injections ?? [], target) : [];
      await relay(request, response, {
        written: put(exchange, request, written, injections),
        authority: authorityOf(target, 80),
        connection: { createConnection: () => upstream },
        ...(injections.length > 0 && vault && { scrubber: vault.values.scrubber }),
      });
    } catch (error) {
      answerFailure(exchange, response, error);
    }
  };

  /** A request inside a tunnel that ends here. */
  const onInnerRequest = async (
    request: IncomingMessage,
    response: ServerResponse,
    opened: OpenedTunnel,
  ): Promise<void> => {
    const exchange = begin(request.method ?? '');
    response.on('close', () => exchange.end());
    try {
      const path = parseOriginForm(request.url ?? '');
      const { target } = decide(exchange, request, path === undefined ? undefined : opened.target);
      const written = { path: path ?? '/', headers: endToEndHeaders(request.rawHeaders) };
      await relay(request, response, {
        written: put(exchange, request, written, opened.injections),
        authority: authorityOf(target, 443),
        connection: { agent: opened.agent },
        onSocket: (socket) => exchange.connected(socket),
        ...(vault && { scrubber: vault.values.scrubber }),
      });
    } catch (error) {
      answerFailure(exchange, response, error);
    }
  };

  const onConnect = async (request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> => {
    const exchange = begin('CONNECT');
    keep(client).on('close', () => exchange.end());
    try {
      const asked = parseTarget(request.url ?? '');
      const injections = asked && vault ? injectionsFor(vault.values.injections, asked) : [];
      if (terminator && injections.length > 0) {
        const decided = decide(exchange, request, asked);
        exchange.note('; opened here for a vault value');
        exchange.opened();
        terminator.open(client, head, { ...decided, injections });
        return;
      }
      tunnel(client, await open(exchange, request, asked), head);
    } catch (error) {
      const { status, text } = exchange.fail(error);
      const headers = Object.entries(plainText(text)).map(([name, value]) => `${name}: ${value}\r\n`);
      client.end(`HTTP/1.1 ${status} Refused\r\n${headers.join('')}\r\n${text}`);
    }
  };

  const terminator =
    vault &&
    createTerminator({
      authority: vault.authority,
      trust: vault.trust ?? systemTrust,
      handshakeMs: Math.max(bounds.headersMs, bounds.dialMs),
      idleMs: bounds.idleMs,
      dial: connect,
      keep,
      onRequest: (request, response, opened) => {
        if (!opened.inTurn(() => onInnerRequest(request, response, opened))) request.destroy();
      },
      onMalformed: ({ target, rule }, code) => {
        const exchange = begin('?');
        exchange.target = target;
        exchange.rule = rule;
        exchange.fail(new EgressError('refused', `not a well-formed HTTP request (${code})`));
      },
    });

  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      insecureHTTPParser: false,
      // A missing Host is refused below, with a record.
      requireHostHeader: false,
      headersTimeout: bounds.headersMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(bounds.headersMs, 5000),
    },
    (request, response) => void onRequest(request, response),
  );
  server.maxConnections = bounds.connections;
  server.timeout = bounds.idleMs;
  server.on('connect', (request, client, head) => void onConnect(request, client, head));
  server.on('clientError', (error, client) => {
    const code = 'code' in error ? String(error.code) : '';
    if (!code.startsWith('HPE_') && code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      client.destroy();
      return;
    }
    const exchange = begin('?');
    exchange.fail(new EgressError('refused', `not a well-formed HTTP request (${code})`));
    if (client instanceof Socket && client.bytesWritten === 0) {
      client.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    } else client.destroy();
  });

  return {
    listen: (listener) =>
      new Promise((settle, reject) => {
        server.once('error', reject);
        server.listen(listener, () => {
          server.off('error', reject);
          settle();
        });
      }),
    async close() {
      ended.abort(new Error('the job ended'));
      const closed = new Promise<void>((settle) => server.close(() => settle()));
      server.closeAllConnections();
      terminator?.close();
      for (const socket of sockets) socket.destroy();
      for (const exchange of exchanges) exchange.end();
      await closed;
    },
  };
}

/** Puts the values in and says so in the record. Throws `EgressError` for a request that would have them sent back. */
function put(
  exchange: Exchange,
  request: IncomingMessage,
  written: WrittenRequest,
  injections: readonly Injection[],
): WrittenRequest {
  if (injections.length === 0) return written;
  if (request.method === 'TRACE') throw new EgressError('refused', 'TRACE would have the value sent back');
  exchange.note(`; put in: ${injections.map(({ label }) => label).join(', ')}`);
  return inject(written, injections);
}

function noRule(hosts: readonly string[]): string {
  const listed = hosts.length === 0 ? 'no host is listed' : `listed: ${hosts.slice(0, 20).join(', ')}`;
  return `no rule lets this host and port through (${listed})`;
}
