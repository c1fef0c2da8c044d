import { lookup as lookupName } from 'node:dns/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { errorMessage } from '../../protocol/src/errors.ts';
import { systemCode } from './files/fileError.ts';
import { addressFault, type HostRule, type Target } from './egressRules.ts';

/** A request that did not get through: `refused` by a rule, or `failed` on the way. `message` is for people. */
export class EgressError extends Error {
  readonly verdict: 'refused' | 'failed';
  /** The address that was refused, where one was. */
  readonly address: string | undefined;

  constructor(verdict: 'refused' | 'failed', message: string, address?: string) {
    super(message);
    this.name = 'EgressError';
    this.verdict = verdict;
    this.address = address;
  }
}

/** How names are resolved and addresses reached. Tests put their own network here. */
export interface EgressNetwork {
  /** Every address of a name. Called at most once for a request, and only for a name that a rule lets through. */
  resolve(name: string): Promise<string[]>;
  /** Starts a connection to one of `addresses` and to nothing else. */
  open(addresses: readonly string[], port: number): Socket;
}

export const systemNetwork: EgressNetwork = {
  async resolve(name) {
    return (await lookupName(name, { all: true })).map((found) => found.address);
  },
  open(addresses, port) {
    const pinned: LookupFunction = (_name, _options, answer) =>
      answer(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );
    // The name is never resolved: `lookup` answers with what was checked.
    return connect({
      host: 'pinned.invalid',
      port,
      lookup: pinned,
      autoSelectFamily: true,
      allowHalfOpen: true,
    });
  },
};

/**
 * Connects to the target of a request that `rule` lets through: resolves once, checks every address, and connects to
 * one of exactly those. Throws `EgressError`; the caller destroys the socket.
 */
export async function dial(
  target: Target,
  rule: HostRule,
  network: EgressNetwork,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<Socket> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const addresses = target.isAddress ? [target.host] : await resolve(target.host, network, deadline);
  const fault = addressFault(rule, addresses);
  if (fault !== undefined)
    throw new EgressError('refused', `rule ${rule.text}: ${fault}`, addresses.slice(0, 8).join(' '));
  if (deadline.aborted) throw failure('connect', deadline.reason);
  const socket = network.open(addresses, target.port);
  return new Promise((settle, reject) => {
    const fail = (error: unknown): void => {
      socket.destroy();
      reject(failure('connect', error));
    };
    const abort = (): void => fail(deadline.reason);
    deadline.addEventListener('abort', abort, { once: true });
    socket.once('error', fail);
    socket.once('connect', () => {
      deadline.removeEventListener('abort', abort);
      socket.off('error', fail);
      settle(socket);
    });
  });
}

async function resolve(name: string, network: EgressNetwork, deadline: AbortSignal): Promise<string[]> {
  try {
    return await Promise.race([network.resolve(name), rejectOn(deadline)]);
  } catch (error) {
    throw failure('resolve the name', error);
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_settle, reject) => {
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

function failure(doing: string, error: unknown): EgressError {
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  const cause = isTimeout ? 'no answer in time' : systemCode(error) || errorMessage(error);
  return new EgressError('failed', `could not ${doing}: ${cause}`);
}
