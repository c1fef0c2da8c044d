import { request as requestPlain, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import { closedAddress } from '../../../../remote-agent/src/egressAddresses.ts';
import { EgressError, systemNetwork, type EgressNetwork } from '../../../../remote-agent/src/egressDial.ts';
import { parseTarget, type Target } from '../../../../remote-agent/src/egressRules.ts';

/** An address that may be asked for: `http` or `https`, no user name, a host that is spelt in one way only. */
export interface PublicAddress {
  /** Canonical, without fragment. */
  readonly url: string;
  readonly isTls: boolean;
  readonly target: Target;
}

export interface PublicRequest {
  readonly method: string;
  readonly address: PublicAddress;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface PublicAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The answer was longer than the bound and is cut there. */
  readonly isCut: boolean;
}

export interface PublicFetchOptions {
  /** What the log calls it. */
  readonly opId: string;
  readonly limitBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told once for each request, whatever came of it. */
  readonly record: (record: EgressRecord) => void;
  readonly now: () => number;
  /** Replaced in tests. */
  readonly network?: EgressNetwork;
  readonly authorities?: string;
}

/** Reads an address strictly. Throws `unsafe-path` with what is wrong; nothing is resolved. */
export function parseAddress(text: string): PublicAddress {
  const refuse = (why: string) => new UserError('unsafe-path', `This address can’t be fetched: ${why}`, {});
  if (!URL.canParse(text)) throw refuse('it is no whole URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('only http and https are spoken');
  if (url.username !== '' || url.password !== '') throw refuse('it holds a user name or password');
  url.hash = '';
  const isTls = url.protocol === 'https:';
  const target = parseTarget(url.host, isTls ? 443 : 80);
  if (!target) throw refuse('its host is not a plain name or address');
  if (target.host === 'localhost' || target.host.endsWith('.localhost')) throw refuse('it is this machine');
  const closed = target.isAddress ? closedAddress(target.host) : undefined;
  if (closed !== undefined) throw refuse(`its address is ${closed}`);
  url.hostname = target.host.includes(':') ? `[${target.host}]` : target.host;
  return { url: url.href, isTls, target };
}

/**
 * Makes one request to the public internet for an agent. The name is resolved once, every address must be public, and
 * the connection goes to one of exactly those. Redirects are answers, not followed. No cookie, key or proxy of the
 * machine is used. Rejects with `EgressError`.
 */
export async function fetchPublic(
  request: PublicRequest,
  options: PublicFetchOptions,
): Promise<PublicAnswer> {
  const { target } = request.address;
  const log = { address: '', sent: Buffer.byteLength(request.body ?? ''), received: 0 };
  const tell = (verdict: EgressRecord['verdict'], reason: string) =>
    options.record({
      jobId: options.opId,
      at: options.now(),
      method: request.method,
      host: target.host,
      port: target.port,
      ...(log.address === '' ? {} : { address: log.address }),
      verdict,
      reason,
      sentBytes: log.sent,
      receivedBytes: log.received,
    });
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
  let socket: Socket | undefined;
  try {
    signal.throwIfAborted();
    const addresses = await publicAddresses(target, options.network ?? systemNetwork, signal);
    socket = (options.network ?? systemNetwork).open(addresses, target.port);
    const answer = await exchange(request, socket, { ...options, signal });
    log.address = socket.remoteAddress ?? addresses[0] ?? '';
    log.received = answer.body.length;
    tell('allowed', 'a public address');
    return answer;
  } catch (error) {
    const failure = toEgressError(error, options.signal);
    log.address = failure.address ?? '';
    tell(failure.verdict, failure.message);
    throw failure;
  } finally {
    socket?.destroy();
  }
}

async function publicAddresses(
  target: Target,
  network: EgressNetwork,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = target.isAddress
    ? [target.host]
    : await untilAborted(network.resolve(target.host), signal);
  if (addresses.length === 0) throw new EgressError('failed', 'the name has no address');
  for (const address of addresses) {
    const closed = closedAddress(address);
    if (closed === undefined) continue;
    throw new EgressError('refused', `the name leads to an address that is ${closed}`, address);
  }
  return addresses;
}

function exchange(
  { method, address, headers, body }: PublicRequest,
  socket: Socket,
  { signal, limitBytes, authorities }: PublicFetchOptions,
): Promise<PublicAnswer> {
  const { url, target, isTls } = address;
  const stream = isTls
    ? connectTls({
        socket,
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

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function toEgressError(error: unknown, signal: AbortSignal): EgressError {
  if (error instanceof EgressError) return error;
  if (signal.aborted) return new EgressError('failed', 'it was cancelled');
  if (error instanceof Error && (error.name === 'TimeoutError' || isTimeout(error.cause)))
    return new EgressError('failed', 'no whole answer in time');
  return new EgressError('failed', errorMessage(error));
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'TimeoutError';
}
