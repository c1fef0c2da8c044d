import type { Connection } from '../../../../protocol/src/agent.ts';
import type { Target } from '../../../../protocol/src/gate.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';

/** What the extension told of one request that it made for the engine. Sizes in bytes; no status where no answer came. */
export interface ProviderTraffic {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly status: number | null;
  readonly sent: number;
  readonly received: number;
}

/** What an act that asks a model touches. */
export function connectionTarget({ id, origin }: Connection): Target {
  return { kind: 'connection', name: id, measure: origin, isProtected: false, isOutside: false };
}

/**
 * The line of the egress log for a request over a connection; undefined for VS Code's own models, which have no origin:
 * VS Code makes their requests.
 */
export function connectionEgress(
  { id, name, origin }: Connection,
  { at, status, sent, received }: ProviderTraffic,
): EgressRecord | undefined {
  if (!URL.canParse(origin)) return undefined;
  const { hostname, port, protocol } = new URL(origin);
  return {
    jobId: `connection-${id}`,
    at,
    method: 'POST',
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    verdict: status === null ? 'failed' : 'allowed',
    reason: `the connection “${name}”, which a person made`,
    sentBytes: sent,
    receivedBytes: received,
  };
}
