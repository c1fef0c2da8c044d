import { createServer, request as startRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket, type ListenOptions, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorMessage } from '../../protocol/src/errors.ts';
import type { EgressRecord } from '../../protocol/src/runner.ts';
import { dial, EgressError, systemNetwork, type EgressNetwork } from './egressDial.ts';
import { endToEndHeaders, headerFault, parseAbsoluteForm, type AbsoluteForm } from './egressHeaders.ts';
import { findRule, parseRules, parseTarget, type HostRule, type Target } from './egressRules.ts';
import { showName } from './files/treePath.ts';

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
 * client's next request. See docs/architecture.md for the rules, `egressRules.ts` for what they are.
 *
 * What it can't see: inside a CONNECT tunnel the bytes are the card's own, so a listed host that serves other names
 * (a shared front end, a proxy, a WebSocket service) can be asked for those. Listing a host trusts that host.
 */
export interface EgressProxy {
  /** Serves `listener` from now on and closes it in the end: a listening server (`awaitEgressListener`) or a path. */
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
const headerBytes = 32 * 1024;

/** Makes the proxy of one job; nothing listens yet. Throws `bad-message` where a host of the list cannot be read. */
export function createEgressProxy(options: EgressOptions): EgressProxy {
  const rules = parseRules(options.hosts);
  const bounds = { ...defaultBounds, ...options.bounds };
  const network = options.network ?? systemNetwork;
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

  /** Decides and connects; fills the record in on the way. Throws `EgressError`. */
  const open = async (
    exchange: Exchange,
    request: IncomingMessage,
    target: Target | undefined,
  ): Promise<Socket> => {
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
    const socket = keep(
      await dial(target, rule, network, { signal: ended.signal, timeoutMs: bounds.dialMs }),
    );
    socket.setTimeout(bounds.idleMs, () => socket.destroy());
    exchange.upstream = socket;
    return socket;
  };

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = begin(request.method ?? '');
    response.on('close', () => exchange.end());
    try {
      const asked = parseAbsoluteForm(request.url ?? '');
      const upstream = await open(exchange, request, asked?.target);
      if (response.destroyed || !asked) upstream.destroy();
      else await relay(request, response, upstream, asked);
    } catch (error) {
      const { status, text } = exchange.fail(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(status, plainText(text)).end(text);
    }
  };

  const onConnect = async (request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> => {
    const exchange = begin('CONNECT');
    keep(client).on('close', () => exchange.end());
    try {
      const upstream = await open(exchange, request, parseTarget(request.url ?? ''));
      tunnel(client, upstream, head);
    } catch (error) {
      const { status, text } = exchange.fail(error);
      const headers = Object.entries(plainText(text)).map(([name, value]) => `${name}: ${value}\r\n`);
      client.end(`HTTP/1.1 ${status} Refused\r\n${headers.join('')}\r\n${text}`);
    }
  };

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
      for (const socket of sockets) socket.destroy();
      for (const exchange of exchanges) exchange.end();
      await closed;
    },
  };
}

type RecordStart = Pick<EgressRecord, 'jobId' | 'method' | 'at'>;

/** One request from its first line to its record. */
class Exchange {
  /** 1 for the first request of the job. */
  readonly ordinal: number;
  target: Target | undefined;
  rule: HostRule | undefined;
  upstream: Socket | undefined;
  #refusal: EgressError | undefined;
  #over = false;
  readonly #start: RecordStart;
  readonly #deliver: (record: EgressRecord) => void;

  constructor(ordinal: number, start: RecordStart, deliver: (record: EgressRecord) => void) {
    this.ordinal = ordinal;
    this.#start = start;
    this.#deliver = deliver;
  }

  /** Ends a request that did not get through and says what to answer. */
  fail(error: unknown): { status: number; text: string } {
    const refusal = error instanceof EgressError ? error : new EgressError('failed', errorMessage(error));
    this.#refusal = refusal;
    this.end();
    const status = refusal.verdict === 'refused' ? 403 : 502;
    return { status, text: `Sallyport: ${refusal.message}\n` };
  }

  /** Delivers the record, the first time. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    const { target, upstream } = this;
    const address = upstream?.remoteAddress ?? this.#refusal?.address;
    this.#deliver({
      ...this.#start,
      host: target?.host ?? '',
      port: target?.port ?? 0,
      ...(address !== undefined && { address }),
      verdict: this.#refusal?.verdict ?? (upstream ? 'allowed' : 'failed'),
      reason: this.#refusal?.message ?? (this.rule ? `rule ${this.rule.text}` : 'the client went away'),
      sentBytes: upstream?.bytesWritten ?? 0,
      receivedBytes: upstream?.bytesRead ?? 0,
    });
  }
}

/** Passes one plain request on and its answer back. Rejects where no answer came. */
function relay(
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
function tunnel(client: Duplex, upstream: Socket, head: Buffer): void {
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

function authorityOf({ host, port }: Target): string {
  return `${host.includes(':') ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`;
}

function plainText(text: string): Record<string, string | number> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  };
}

function noRule(hosts: readonly string[]): string {
  const listed = hosts.length === 0 ? 'no host is listed' : `listed: ${hosts.slice(0, 20).join(', ')}`;
  return `no rule lets this host and port through (${listed})`;
}
