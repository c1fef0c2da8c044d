import type { Socket } from 'node:net';
import { errorMessage } from '../../../../protocol/src/errors.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import { closedAddress } from '../../../../remote-agent/src/egressAddresses.ts';
import { EgressError, systemNetwork, type EgressNetwork } from '../../../../remote-agent/src/egressDial.ts';
import type { Target } from '../../../../remote-agent/src/egressRules.ts';
import { exchange, type WebAnswer, type WebRequest } from '../../net/exchange.ts';
import { parseWebAddress, refusedAddress, type WebAddress } from '../../../../remote-agent/src/webAddress.ts';

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
export function parseAddress(text: string): WebAddress {
  const address = parseWebAddress(text);
  const { target } = address;
  if (target.host === 'localhost' || target.host.endsWith('.localhost'))
    throw refusedAddress('it is this machine');
  const closed = target.isAddress ? closedAddress(target.host) : undefined;
  if (closed !== undefined) throw refusedAddress(`its address is ${closed}`);
  return address;
}

/**
 * Makes one request to the public internet for an agent. The name is resolved once, every address must be public, and
 * the connection goes to one of exactly those. Redirects are answers, not followed. No cookie, key or proxy of the
 * machine is used. Rejects with `EgressError`.
 */
export async function fetchPublic(request: WebRequest, options: PublicFetchOptions): Promise<WebAnswer> {
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
