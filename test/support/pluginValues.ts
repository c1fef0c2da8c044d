import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { PersonSide } from '../../language-server/src/agent/providers/personSide.ts';
import { pluginFetch } from '../../language-server/src/plugins/hostFunctions/pluginFetch.ts';
import { createValueRequests } from '../../language-server/src/vault/valueRequests.ts';
import type { HostParams, HostResult } from '../../protocol/src/hostCalls.ts';
import { BridgeError } from '../../protocol/src/bridge.ts';
import type { EgressRecord } from '../../protocol/src/runner.ts';
import type { VaultUse } from '../../protocol/src/vault.ts';
import type { EgressNetwork } from '../../remote-agent/src/egressDial.ts';
import type { AgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import type { Grant, GrantLimits } from '../../extension/src/vault/core/grants.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';
import { FetchDesk } from '../../extension/src/vault/fetchDesk.ts';
import { PluginCalls } from '../../extension/src/vault/pluginCalls.ts';
import { ReleasedValues } from '../../extension/src/vault/releasedValues.ts';
import { WishAnswers } from '../../extension/src/vault/wishAnswers.ts';
import { GateHarness } from './gateHarness.ts';
import { memoryState } from './memoryState.ts';
import { createTestAuthority, openSecureOrigin, type Answer, type SecureOrigin } from './secureOrigin.ts';
import { VaultHarness } from './vaultHarness.ts';

export const pluginToken = 'canary-9d1c/Ab+Cd==31y';
export const noLimits: GrantLimits = { count: null, until: null };
export const publicAddress = '93.184.216.34';

/** A vault, the extension's desk, the engine's part and a real TLS server, with every message between them kept. */
export class PluginValues {
  readonly harness = new VaultHarness();
  readonly gate = new GateHarness();
  readonly released = new ReleasedValues();
  readonly authority = createTestAuthority();
  readonly messages: string[] = [];
  readonly records: EgressRecord[] = [];
  /** Addresses by name, one list for each time that it is resolved; the last one stays. Others are public. */
  readonly names = new Map<string, string[][]>();
  readonly connected: string[] = [];
  isLocked = false;
  /** What the extension knows of pages that wait for a plugin. */
  calls = new PluginCalls();
  readonly answers = new WishAnswers(memoryState(), (error) => {
    throw error;
  });
  vault!: AgentsVault;
  origin!: SecureOrigin;
  desk!: FetchDesk;
  answer: Answer = (_request, response) => response.end('ok');
  #ids = 0;

  static async open(host = 'api.example.org', others: readonly string[] = []): Promise<PluginValues> {
    const made = new PluginValues();
    const answer: Answer = (...args) => made.answer(...args);
    made.origin = await openSecureOrigin(made.authority, answer, host, others);
    made.vault = await made.harness.create();
    for (const app of ['notes', 'evil']) for (const plugin of ['search', 'other']) made.call(app, plugin);
    await made.save(pluginToken);
    made.desk = made.createDesk(made.authority.certificatePem);
    return made;
  }

  createDesk(authorities: string): FetchDesk {
    return new FetchDesk({
      openVaults: async () => (this.isLocked ? [] : [this.vault]),
      hasLocked: () => this.isLocked,
      released: this.released,
      isCalled: (principal) => this.calls.isUnderWay(principal),
      answers: this.answers,
      now: () => this.harness.now,
      createId: () => `stream-${++this.#ids}`,
      network: this.network,
      authorities,
    });
  }

  /** A page of the app calls the plugin, until the result is called. */
  call(app: string, plugin: string): () => void {
    return this.calls.begin(app, 'plugin.call', JSON.stringify({ plugin, function: 'find', input: null }));
  }

  async save(text: string, hosts: readonly string[] = []): Promise<void> {
    using value = Secret.fromText(text);
    await this.vault.save({
      id: 'api',
      baseVersion: this.vault.get('api')?.version ?? 0,
      title: 'API',
      kind: 'token',
      fields: [{ name: 'token', kind: 'secret', value }],
      hosts,
      tags: [],
      expiresAt: null,
    });
  }

  /** Every public address leads to the server. */
  readonly network: EgressNetwork = {
    resolve: async (name) => {
      const lists = this.names.get(name) ?? [[publicAddress]];
      return (lists.length > 1 ? lists.shift() : lists[0]) ?? [];
    },
    open: (addresses) => {
      this.connected.push(...addresses);
      return connect({ host: '127.0.0.1', port: this.origin.port });
    },
  };

  /** A person's yes. */
  async grant(more: Partial<Pick<Grant, 'principal' | 'scope' | 'use' | 'limits'>> = {}): Promise<Grant> {
    const use: VaultUse = {
      kind: 'header',
      hosts: ['api.example.org'],
      name: 'authorization',
      prefix: 'Bearer ',
    };
    const { id } = await this.vault.ask({
      item: 'api',
      field: 'token',
      principal: 'plugin:notes/search',
      scope: 'app:i',
      use,
      limits: noLimits,
      reason: '',
      ...more,
    });
    return this.vault.answer(id, 'accepted', more.limits ?? noLimits);
  }

  /** What crosses between the engine and the extension, as the two sides have it. */
  readonly person: PersonSide = {
    ask: async (method, params, signal = new AbortController().signal) => {
      this.messages.push(JSON.stringify({ method, params }));
      const answer = await this.#serve(method, params as never, signal);
      this.messages.push(JSON.stringify(answer));
      return answer as never;
    },
  };

  readonly values = createValueRequests({
    person: this.person,
    gate: async () => this.gate.gate,
    createId: () => `act-${++this.#ids}`,
  });

  fetch(
    url: string,
    params: Partial<HostParams<'fetch'>> = {},
    who: {
      principal?: `plugin:${string}`;
      scope?: string;
      hosts?: readonly string[];
      wishes?: readonly string[];
      signal?: AbortSignal;
    } = {},
  ): Promise<HostResult<'fetch'>> {
    const { principal = 'plugin:notes/search', scope = 'app:i', wishes = [] } = who;
    const { hosts = ['api.example.org'] } = who;
    return pluginFetch(
      { url, method: 'GET', headers: [], body: null, redirect: 'follow', ...params },
      {
        user: { principal, scope, hosts, wishes },
        values: this.values,
        signal: who.signal ?? new AbortController().signal,
        record: (record) => this.records.push(record),
        now: () => this.harness.now,
        createId: () => `request-${++this.#ids}`,
        network: this.network,
        authorities: this.authority.certificatePem,
      },
    );
  }

  /** `code: message` of a refusal, or the body. */
  async outcome(...args: Parameters<PluginValues['fetch']>): Promise<string> {
    try {
      return (await this.fetch(...args)).body.content;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return `${error.code}: ${error.message}`;
    }
  }

  /** What the server was sent in this header, request by request. */
  sent(name: string): (string | undefined)[] {
    return this.origin.seen.map(({ headers }) => {
      const at = headers.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
      return at < 0 ? undefined : headers[at + 1];
    });
  }

  async close(): Promise<void> {
    this.desk.closeAll();
    await turn();
    await this.origin.close();
    this.gate.close();
    this.harness.close();
  }

  async #serve(method: string, params: never, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case 'vault/granted':
        return this.desk.granted(params);
      case 'vault/fetch':
        return this.desk.fetch(params, signal);
      case 'vault/fetchRead':
        return this.desk.read((params as { stream: string }).stream, signal);
      case 'vault/fetchClose':
        this.desk.close((params as { stream: string }).stream);
        return null;
      default:
        throw new Error(`not asked here: ${method}`);
    }
  }
}
