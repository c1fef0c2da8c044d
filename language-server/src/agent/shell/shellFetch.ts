import { UserError } from '../../../../protocol/src/errors.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import type { EgressNetwork } from '../../../../remote-agent/src/egressDial.ts';
import { fetchPublic, parseAddress } from '../net/publicFetch.ts';
import type { RunShellOptions } from './runShell.ts';

export interface ShellFetchOptions {
  readonly opId: string;
  readonly record: (record: EgressRecord) => void;
  readonly now: () => number;
  readonly network?: EgressNetwork | undefined;
}

const maximumRequests = 20;
const maximumBodyBytes = 10 * 1024 * 1024;
/** What describes the connection is ours to say. */
const ownHeaders =
  /^(host|connection|proxy-.*|transfer-encoding|content-length|upgrade|te|trailer|keep-alive|expect)$/i;

/** The internet of one command of the shell: public addresses only, a bounded number of bounded requests. */
export function createShellFetch(options: ShellFetchOptions): NonNullable<RunShellOptions['fetch']> {
  let count = 0;
  return async ({ url, method, headers, body }, signal) => {
    if (++count > maximumRequests)
      throw new UserError('too-large', `One command makes at most ${maximumRequests} requests`, {});
    if ((method !== 'GET' && method !== 'HEAD') || body !== undefined)
      throw new UserError('bad-message', 'Only GET and HEAD are made here, without a body', {});
    const answer = await fetchPublic(
      {
        method,
        address: parseAddress(url),
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.test(name))),
      },
      {
        opId: options.opId,
        limitBytes: maximumBodyBytes,
        timeoutMs: 30_000,
        signal,
        record: options.record,
        now: options.now,
        ...(options.network ? { network: options.network } : {}),
      },
    );
    if (answer.isCut) throw new UserError('too-large', `The answer is over ${maximumBodyBytes} bytes`, {});
    return answer;
  };
}
