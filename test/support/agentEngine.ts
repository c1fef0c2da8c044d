import type { Approval } from '../../protocol/src/gate.ts';
import type { Connection, ConversationSummary, Item } from '../../protocol/src/agent.ts';
import type { ParamsOf, ResultOf } from '../../protocol/src/contract.ts';
import { engineRequests } from '../../protocol/src/engineContract.ts';
import type { EngineServicesOptions } from '../../language-server/src/services.ts';
import type { ConversationDelta } from '../../language-server/src/agent/conversations/deltas.ts';
import { FakePersonSide } from './personSide.ts';
import { TestEngine, never } from './testEngine.ts';
import { until } from './until.ts';
import { ProviderServer, type Script, type ScriptedTurn } from './providers/script.ts';
import { wireFormats } from './providers/formats.ts';

export type WireKind = (typeof wireFormats)[number][0];
type Requests = typeof engineRequests;

/** A key that must not be found anywhere but in the requests that this side makes. */
export const secretKey = 'sk-test-5f1c9a7e3b';

/** The real engine services with a scripted model behind the person's side. */
export class AgentEngine {
  readonly engine: TestEngine;
  readonly person = new FakePersonSide();
  readonly root: string;
  readonly #servers: ProviderServer[] = [];
  #connections: Connection[] = [];

  constructor(home: string, root: string, options: Partial<EngineServicesOptions> = {}) {
    this.root = root;
    this.engine = new TestEngine(home, root, { person: this.person, ...options });
  }

  /** Makes a connection of this kind to a server that answers from the script. */
  async connect(
    kind: WireKind,
    script: Script | readonly ScriptedTurn[],
    more: Partial<Connection['models'][number]> & { webSearch?: boolean } = {},
  ): Promise<ProviderServer> {
    const format = wireFormats.find(([each]) => each === kind)![1];
    const server = new ProviderServer(format, script);
    this.#servers.push(server);
    const address = await server.start('/v1');
    this.person.connections.set(kind, { address, key: secretKey });
    this.setConnection(kind, new URL(address).origin, more);
    return server;
  }

  setConnection(
    kind: Connection['kind'],
    origin: string,
    { webSearch = false, ...model }: Partial<Connection['models'][number]> & { webSearch?: boolean } = {},
  ): void {
    const made: Connection = {
      id: kind,
      kind,
      name: `Test ${kind}`,
      origin,
      models: [
        {
          id: 'scripted',
          name: 'Scripted',
          contextTokens: 100_000,
          inputPrice: 1,
          outputPrice: 10,
          images: true,
          ...model,
        },
      ],
    };
    this.#connections = [...this.#connections.filter(({ id }) => id !== kind), made];
    this.engine.services.setConnections({
      connections: this.#connections,
      webSearch,
      shellInternet: false,
    });
  }

  /** Calls a request of the contract; the answer has passed its schema. */
  async call<M extends keyof Requests>(
    method: M,
    params: ParamsOf<Requests[M]>,
  ): Promise<ResultOf<Requests[M]>> {
    const handler = this.engine.handlers[method] as (params: unknown, signal: AbortSignal) => unknown;
    return engineRequests[method].result.parse(
      JSON.parse(JSON.stringify((await handler(params, never)) ?? null)),
    ) as ResultOf<Requests[M]>;
  }

  create(kind: Connection['kind'] | null, mode: 'plan' | 'act' = 'act'): Promise<ConversationSummary> {
    const model = kind === null ? null : 'scripted';
    return this.call('conversation/create', { root: this.root, mode, connection: kind, model });
  }

  send(id: string, text: string): Promise<{ seq: number }> {
    return this.call('conversation/send', { id, text, mentions: [], images: [] });
  }

  async items(id: string): Promise<Item[]> {
    return (await this.call('conversation/read', { id, limit: 200 })).items;
  }

  async summary(id: string): Promise<ConversationSummary> {
    return (await this.call('conversation/read', { id, limit: 1 })).summary;
  }

  /** Resolves when nothing is being answered any more. */
  async idle(id: string): Promise<Item[]> {
    await until(async () => ['idle', 'failed'].includes((await this.summary(id)).state));
    return this.items(id);
  }

  /** Sends and waits for the end of all that it leads to. */
  async ask(id: string, text: string): Promise<Item[]> {
    await this.send(id, text);
    return this.idle(id);
  }

  /** The next question that waits for a person. */
  async waiting(): Promise<Approval> {
    let found: Approval[] = [];
    await until(async () => (found = await this.call('approval/list', {})).length > 0);
    return found[0]!;
  }

  async answer(answer: 'allow-once' | 'decline'): Promise<Approval> {
    const approval = await this.waiting();
    await this.call('approval/answer', { id: approval.id, reviewDigest: approval.reviewDigest, answer });
    return approval;
  }

  deltas(id: string): ConversationDelta[] {
    return this.engine.told
      .filter(({ method }) => method === 'conversation/delta')
      .map(({ params }) => params as ConversationDelta)
      .filter((delta) => delta.id === id);
  }

  async dispose(): Promise<void> {
    await this.engine.dispose();
    await Promise.all(this.#servers.map((server) => server.stop()));
  }
}

/** The rows in short, for comparison. */
export function told(items: readonly Item[]): string[] {
  return items.map((item) => {
    switch (item.kind) {
      case 'person':
        return `person${item.isQueued ? ' (queued)' : ''}: ${item.text}`;
      case 'answer':
        return `answer ${item.ending}: ${item.markdown}`;
      case 'tool':
        return `tool ${item.tool} ${item.state}`;
      case 'notice':
        return `${item.level}: ${item.text}`;
      case 'summary':
        return `summary of ${item.replacedItems}: ${item.markdown}`;
    }
  });
}
