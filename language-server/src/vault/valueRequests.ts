import type { Json } from '../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { Principal } from '../../../protocol/src/gate.ts';
import type { PersonSide } from '../agent/providers/personSide.ts';
import type { Act } from '../gate/act.ts';
import type { Gate } from '../gate/gate.ts';
import type { WebAnswer, WebRequest } from '../net/exchange.ts';

/** Who asks, as the engine knows it. */
export interface ValueUser {
  readonly principal: Principal;
  /** What its grants are bound to. */
  readonly scope: string;
  /** The hosts that a person accepted. */
  readonly hosts: readonly string[];
  /** The keys of the permissions `vaultWish` that a person accepted and its manifest has. */
  readonly wishes: readonly string[];
}

/** By which grant a value goes into a request, and the name of the value: `item.field`. */
export interface ValueGrant {
  readonly grant: string;
  readonly label: string;
}

export interface ValueAnswer extends WebAnswer {
  /** Where the connection led. */
  readonly address: string;
}

/**
 * Requests that carry vault values. They are made by the extension, which holds the vault: nothing here has a value, and
 * what comes back is without it.
 */
export interface ValueRequests {
  /** The grants for this host now. None where nobody but the engine is there. Rejects with `UserError`. */
  granted(
    user: ValueUser,
    host: { readonly host: string; readonly port: number },
    signal: AbortSignal,
  ): Promise<readonly ValueGrant[]>;
  /** One act of the gate. At most `limitBytes` of the answer are read. Rejects with `UserError`. */
  send(
    user: ValueUser,
    request: WebRequest,
    grants: readonly ValueGrant[],
    options: { readonly limitBytes: number; readonly signal: AbortSignal },
  ): Promise<ValueAnswer>;
}

export interface ValueRequestsOptions {
  readonly person: PersonSide;
  readonly gate: () => Promise<Gate>;
  readonly createId: () => string;
}

/** The extension makes the requests; the engine passes them through the gate and never has a value. */
export function createValueRequests({ person, gate, createId }: ValueRequestsOptions): ValueRequests {
  const open = async (
    { principal, scope, hosts, wishes }: ValueUser,
    { method, address, headers, body }: WebRequest,
    grants: readonly ValueGrant[],
    limitBytes: number,
    signal: AbortSignal,
  ): Promise<ValueAnswer> => {
    const opened = await person.ask(
      'vault/fetch',
      {
        principal,
        scope,
        grants: grants.map(({ grant }) => grant),
        hosts: [...hosts],
        wishes: [...wishes],
        request: {
          method,
          url: address.url,
          headers: { ...headers },
          body: body === undefined ? null : Buffer.from(body).toString('base64'),
        },
      },
      signal,
    );
    const { stream, ...head } = opened;
    return { ...head, ...(await readAll(person, stream, limitBytes, signal)) };
  };

  return {
    async granted({ principal, scope, wishes }, { host, port }, signal) {
      try {
        const asked = { principal, scope, wishes: [...wishes], host, port };
        return await person.ask('vault/granted', asked, signal);
      } catch (error) {
        // At a terminal there is no vault to ask, and so no grant.
        if (error instanceof UserError && error.code === 'closed' && !signal.aborted) return [];
        throw error;
      }
    },
    async send(user, request, grants, { limitBytes, signal }) {
      let answer: ValueAnswer | undefined;
      let failure: unknown;
      const result = await (
        await gate()
      ).pass(
        requestAct(user, request, grants, createId()),
        async (each): Promise<Json> => {
          try {
            answer = await open(user, request, grants, limitBytes, each);
            return { status: answer.status };
          } catch (error) {
            failure = error;
            throw error;
          }
        },
        signal,
      );
      if (answer && result.kind === 'done') return answer;
      if (failure instanceof Error) throw failure;
      throw new UserError(
        signal.aborted ? 'cancelled' : 'permission-needed',
        'reason' in result ? result.reason : 'The request did not end.',
      );
    },
  };
}

async function readAll(
  person: PersonSide,
  stream: string,
  limitBytes: number,
  signal: AbortSignal,
): Promise<Pick<WebAnswer, 'body' | 'isCut'>> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { base64, done } = await person.ask('vault/fetchRead', { stream }, signal);
      const part = Buffer.from(base64, 'base64');
      parts.push(part);
      size += part.byteLength;
      if (size > limitBytes) return { body: Buffer.concat(parts).subarray(0, limitBytes), isCut: true };
      if (done) return { body: Buffer.concat(parts), isCut: false };
    }
  } catch (error) {
    if (error instanceof UserError && error.code === 'too-large')
      return { body: Buffer.alloc(0), isCut: true };
    throw error;
  } finally {
    await person.ask('vault/fetchClose', { stream }).catch(() => undefined);
  }
}

/** Apps belong to no project; their acts stand under a scope of their own. */
function requestAct(
  { principal }: ValueUser,
  { method, address }: WebRequest,
  grants: readonly ValueGrant[],
  id: string,
): Act {
  const { target } = address;
  const host = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
  const labels = grants.map(({ label }) => label);
  return {
    opId: `vaultFetch:${id}`,
    principal,
    conversation: null,
    root: '',
    scope: principal,
    callId: id,
    tool: 'fetch',
    effect: 'fetch',
    args: { method, host, values: labels, grants: grants.map(({ grant }) => grant) },
    permissions: [],
    measure: async () => [
      { kind: 'host', name: host, measure: labels.join(', '), isProtected: false, isOutside: false },
    ],
    describe: () => ({ title: `Ask ${host} with ${labels.join(', ')}`, lines: [], fullText: null }),
  };
}
