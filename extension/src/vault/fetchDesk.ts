import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { fetchLimits } from '../../../protocol/src/hostCalls.ts';
import { createScrubber, type Scrubber } from '../../../protocol/src/scrub/scrubber.ts';
import type { vaultPersonRequests } from '../../../protocol/src/vault.ts';
import {
  dial,
  EgressError,
  systemNetwork,
  type EgressNetwork,
} from '../../../remote-agent/src/egressDial.ts';
import {
  findRule,
  parseRules,
  parseTarget,
  type HostRule,
  type Target,
} from '../../../remote-agent/src/egressRules.ts';
import { encodingFault, scrubHead } from '../../../remote-agent/src/vault/answerHead.ts';
import { inject } from '../../../remote-agent/src/vault/inject.ts';
import {
  isAmong,
  isLoopback,
  targetsOf,
  valueFault,
  type Injection,
  type RequestUse,
} from '../../../remote-agent/src/vault/injection.ts';
import { secureSocket } from '../../../remote-agent/src/vault/secureSocket.ts';
import { parseWebAddress, type WebAddress } from '../../../remote-agent/src/webAddress.ts';
import { AnswerStreams } from '../connections/answerStreams.ts';
import { BrokerStream, toNetworkError } from '../connections/brokerStream.ts';
import { requestOver, type HttpAnswer } from '../connections/httpRequest.ts';
import { refusalOf, type Grant } from './core/grants.ts';
import type { Vault } from './core/vaultContract.ts';
import { VaultError } from './core/vaultState.ts';
import { strayHost } from './grants.ts';
import type { ReleasedValues } from './releasedValues.ts';
import { fetchWords, releaseWords } from './releaseWords.ts';
import type { WishAnswers } from './wishAnswers.ts';
import { isWishScope, wishScope } from './wishScope.ts';

type Requests = typeof vaultPersonRequests;
type Fetch = ParamsOf<Requests['vault/fetch']>;
type Fetched = ResultOf<Requests['vault/fetch']>;

export interface FetchDeskOptions {
  /** The vaults that are open, the agents' one first. */
  readonly openVaults: () => Promise<readonly Vault[]>;
  /** True where there is a vault that a person would have to open first. */
  readonly hasLocked: () => boolean;
  readonly released: ReleasedValues;
  /** True while a page of this window waits for a call of this plugin. */
  readonly isCalled: (principal: string) => boolean;
  /** What a person answered to the wishes of plugins. */
  readonly answers: Pick<WishAnswers, 'of'>;
  readonly now: () => number;
  readonly createId: () => string;
  /** Replaced in tests. */
  readonly network?: EgressNetwork;
  readonly authorities?: string;
}

interface Found {
  readonly vault: Vault;
  readonly grant: Grant & { readonly use: RequestUse };
  readonly label: string;
}

/**
 * Makes requests of plugins to hosts for which a person granted a value: the plugin never has it. The address is judged
 * as the engine judges it, the server is verified before the value is touched, the line in the vault's log is written
 * before the value is sent, nothing is followed, and what comes back is without the value.
 */
export class FetchDesk {
  readonly #options: FetchDeskOptions;
  readonly #streams: AnswerStreams;
  /** What had a grant when its vault was open, so that a lock is not taken for "no grant". */
  readonly #known = new Set<string>();

  constructor(options: FetchDeskOptions) {
    this.#options = options;
    this.#streams = new AnswerStreams(options.createId);
  }

  async granted(params: ParamsOf<Requests['vault/granted']>): Promise<ResultOf<Requests['vault/granted']>> {
    const { principal, scope, host, port } = params;
    const target = parseTarget(hostText({ host, port }), 443);
    if (!target) return [];
    const found = (await this.#inForce(params)).filter(({ grant }) => isAmong(targetsOf(grant.use), target));
    const key = JSON.stringify([principal, scope, host, port]);
    const isLocked = this.#options.hasLocked();
    if (found.length > 0) this.#known.add(key);
    else if (!isLocked) this.#known.delete(key);
    else if (this.#known.has(key)) throw needed(fetchWords.locked(hostText({ host, port })), 'unlock');
    return found.map(({ grant, label }) => ({ grant: grant.id, label }));
  }

  async fetch(params: Fetch, signal: AbortSignal): Promise<Fetched> {
    return this.#streams.open(async () => {
      if (!this.#options.isCalled(params.principal))
        throw new UserError('permission-needed', fetchWords.notCalled());
      const address = parseWebAddress(params.request.url);
      const { target } = address;
      const rule = findRule(parseRules(params.hosts), target);
      if (!rule) throw new UserError('unsafe-path', fetchWords.noRule(hostText(target)));
      if (!address.isTls && !isLoopback(target))
        throw new UserError('unsafe-path', fetchWords.notSecure(hostText(target)));
      const found = await this.#granted(params, target);
      const timed = AbortSignal.timeout(fetchLimits.wholeMs);
      const both = AbortSignal.any([signal, timed]);
      const connection = await this.#connect(address, rule, both);
      try {
        const { injections, scrubber } = await this.#take(found, target, both);
        const answer = await send(params.request, address, injections, scrubber, connection, both);
        return toAnswer(params.request.method, answer, scrubber, connection.remoteAddress ?? '');
      } catch (error) {
        connection.destroy();
        if (timed.aborted) throw new UserError('timeout', fetchWords.late());
        if (signal.aborted) throw new UserError('cancelled', fetchWords.cancelled());
        throw error;
      }
    }, signal);
  }

  read(stream: string, signal: AbortSignal): Promise<ResultOf<Requests['vault/fetchRead']>> {
    return this.#streams.read(stream, signal);
  }

  close(stream: string): void {
    this.#streams.close(stream);
  }

  /** The engine is gone: nobody reads on. */
  closeAll(): void {
    this.#streams.closeAll();
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /**
   * Grants that release now to a plugin, or to a wish that it still has, for uses that are put into requests. Of a wish
   * only while the person's answer is to give it a value, whatever scope the engine names: a grant that could not be
   * taken back, since its vault was locked, is none.
   */
  async #inForce({ principal, scope, wishes }: Pick<Fetch, 'principal' | 'scope' | 'wishes'>) {
    if (!principal.startsWith('plugin:')) return [];
    const { answers, now, openVaults } = this.#options;
    const scopes = new Set([scope, ...wishes.map((key) => wishScope(scope, key))]);
    return (await openVaults()).flatMap((vault) =>
      vault.grants().flatMap((grant): Found[] => {
        const { item, field, use } = grant;
        const isOwn = grant.principal === principal && scopes.has(grant.scope);
        if (!isOwn || !('hosts' in use)) return [];
        if (isWishScope(grant.scope) && answers.of(grant) !== 'given') return [];
        if (refusalOf(grant, vault.get(item)?.version, now())) return [];
        return [{ vault, grant: { ...grant, use }, label: `${item}.${field}` }];
      }),
    );
  }

  /** Each of the grants that were named, in force for exactly this host. */
  async #granted(params: Fetch, target: Target): Promise<Found[]> {
    const inForce = await this.#inForce(params);
    return [...new Set(params.grants)].map((id) => {
      const found = inForce.find(({ grant }) => grant.id === id && isAmong(targetsOf(grant.use), target));
      if (!found) throw needed(fetchWords.noGrant(hostText(target)), 'grant');
      const stray = strayHost(found.grant.use, found.vault.get(found.grant.item)?.hosts ?? []);
      if (stray !== undefined) throw needed(releaseWords.strayHost(found.grant, stray), 'host');
      return found;
    });
  }

  async #connect({ target, isTls }: WebAddress, rule: HostRule, signal: AbortSignal): Promise<Socket> {
    const { network = systemNetwork, authorities } = this.#options;
    const timeoutMs = fetchLimits.wholeMs;
    try {
      const socket = await dial(target, rule, network, { signal, timeoutMs });
      if (!isTls) return socket;
      const trust: Pick<ConnectionOptions, 'ca'> = authorities === undefined ? {} : { ca: authorities };
      return await secureSocket(socket, target, trust, { timeoutMs });
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw new UserError(error.verdict === 'refused' ? 'unsafe-path' : 'closed', error.message);
    }
  }

  /** The values, checked, each counted and logged; nothing is sent where one of them can't be used. */
  async #take(
    found: readonly Found[],
    target: Target,
    signal: AbortSignal,
  ): Promise<{ injections: Injection[]; scrubber: Scrubber }> {
    const injections: Injection[] = [];
    for (const { vault, grant, label } of found) {
      try {
        using secret = await vault.open(grant.item, grant.field, grant.itemVersion);
        const value = secret.use((bytes) => bytes.toString('utf8'));
        const fault = valueFault(grant.use, value);
        if (fault !== undefined) throw needed(fetchWords.unfit(label), 'value');
        signal.throwIfAborted();
        await vault.consume(grant.id, { host: hostText(target) });
        this.#options.released.add(value);
        injections.push({ label, use: grant.use, value, targets: [target] });
      } catch (error) {
        if (error instanceof VaultError) throw needed(releaseWords.refused(grant, error.code), 'vault');
        throw error;
      }
    }
    return { injections, scrubber: createScrubber(injections.map(({ value }) => value)) };
  }
}

async function send(
  { method, headers, body }: Fetch['request'],
  { url }: WebAddress,
  injections: readonly Injection[],
  scrubber: Scrubber,
  connection: Socket,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { pathname, search, host } = new URL(url);
  const own = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'host');
  const written = inject({ path: `${pathname}${search}`, headers: own }, injections);
  try {
    return await requestOver({
      connection,
      method,
      path: written.path,
      headers: [['host', host], ...written.headers],
      body: body === null ? undefined : Buffer.from(body, 'base64'),
      signal,
      silenceMs: fetchLimits.wholeMs,
    });
  } catch (error) {
    throw signal.aborted ? error : toNetworkError(error, scrubber);
  }
}

/** Throws `unreachable` where the body is in a form that can't be looked through; the answer is let go. */
function toAnswer(
  method: string,
  { status, headers, body }: HttpAnswer,
  scrubber: Scrubber,
  address: string,
) {
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const fault = hasBody ? encodingFault([headers['content-encoding'] ?? ''].flat()) : undefined;
  if (fault !== undefined) {
    body.destroy();
    throw new UserError('unreachable', fault);
  }
  const clean = (text: string): string => scrubHead(text, scrubber);
  return {
    answer: new BrokerStream(body, scrubber, fetchLimits.bodyBytes),
    address,
    status,
    statusText: clean(body.statusMessage ?? '').slice(0, 200),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [clean(name), clean([value].flat().join(', '))]),
    ),
  };
}

/** As the vault's log and its words name it; the TLS port goes without saying. */
function hostText({ host, port }: Pick<Target, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}${port === 443 ? '' : `:${port}`}`;
}

type Remedy = 'grant' | 'host' | 'unlock' | 'value' | 'vault';

function needed(detail: string, remedy: Remedy): UserError {
  return new UserError('permission-needed', detail, { remedy: fetchWords.remedy(remedy) });
}
