import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ResponseError } from 'vscode-jsonrpc/node';
import type { ConversationSummary, Item } from '../../../../protocol/src/agent.ts';
import { personRequests } from '../../../../protocol/src/engineContract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { ConversationDelta } from '../../../../language-server/src/agent/conversations/deltas.ts';
import { secretKey, told } from '../../../support/agentEngine.ts';
import { buildEngine, EngineProcess } from '../../../support/builtEngine.ts';
import { FakePersonSide } from '../../../support/personSide.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { anthropicFormat } from '../../../support/providers/anthropic.ts';
import { ProviderServer, type ScriptedTurn } from '../../../support/providers/script.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('the built engine with an agent', () => {
  const folder = useTemporaryFolder();
  let built: Awaited<ReturnType<typeof buildEngine>>;
  let engine: EngineProcess | undefined;
  let server: ProviderServer | undefined;
  let root: string;
  let deltas: ConversationDelta[];

  before(async () => {
    built = await buildEngine();
  });
  after(() => built.dispose());
  beforeEach(() => {
    root = writeProject(join(folder(), 'project'), { one: {} });
    deltas = [];
  });
  afterEach(async () => {
    await engine?.kill();
    await server?.stop();
  });

  async function start(script: readonly ScriptedTurn[]): Promise<void> {
    server = new ProviderServer(anthropicFormat, script);
    const address = await server.start('/v1');
    const person = new FakePersonSide();
    person.connections.set('c', { address, key: secretKey });
    engine = await EngineProcess.start({
      file: built.file,
      home: join(folder(), 'home'),
      folder: root,
      trusted: true,
    });
    for (const method of Object.keys(personRequests) as (keyof typeof personRequests)[]) {
      engine.connection.onRequest(method, async (params: unknown): Promise<unknown> => {
        try {
          return await person.ask(method, params as never);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          return new ResponseError(-32803, error.message, { code: error.code, data: error.data });
        }
      });
    }
    engine.connection.onNotification('conversation/delta', (delta: ConversationDelta) => {
      deltas.push(delta);
    });
    await engine.connection.sendNotification('connections/set', {
      connections: [
        {
          id: 'c',
          kind: 'anthropic',
          name: 'Test',
          origin: new URL(address).origin,
          models: [
            {
              id: 'scripted',
              name: 'Scripted',
              contextTokens: null,
              inputPrice: null,
              outputPrice: null,
              images: false,
            },
          ],
        },
      ],
      webSearch: false,
      shellInternet: false,
    });
  }

  const call = <T>(method: string, params: unknown) => engine!.connection.sendRequest<T>(method, params);
  const create = () =>
    call<ConversationSummary>('conversation/create', {
      root,
      mode: 'act',
      connection: 'c',
      model: 'scripted',
    });
  const items = async (id: string) =>
    (await call<{ items: Item[] }>('conversation/read', { id, limit: 100 })).items;
  const send = (id: string, text: string) =>
    call('conversation/send', { id, text, mentions: [], images: [] });

  it('[TURN-01] asks, answers and streams over the real connection, and never learns the key', async () => {
    await start([
      { text: ['I ask.'], calls: [{ name: 'ask_person', args: { question: 'Which?', choices: [] } }] },
      { text: ['Well.'] },
    ]);
    const { id } = await create();
    await send(id, 'Hello');
    await until(async () => told(await items(id)).includes('answer complete: Well.'));
    assert.deepEqual(told(await items(id)).slice(0, 3), [
      'person: Hello',
      'answer complete: I ask.',
      'tool ask_person done',
    ]);
    assert.ok(deltas.length > 0);
    assert.equal(server!.seen[0]!.headers['x-api-key'], secretKey);
    assert.doesNotMatch(server!.seen[0]!.text, /kept-by-the-extension/);
    assert.doesNotMatch(engine!.logged.join('') + JSON.stringify(deltas), new RegExp(secretKey));
    assert.equal(await engine!.stop(), 0);
  });

  it('[TURN-13] is killed while an answer streams: what had come is kept, and said to be stopped', async () => {
    const forever = new Promise(() => undefined);
    await start([{ text: ['Half of it'], calls: [{ name: 'list', args: {} }], holdEnd: forever }]);
    const { id } = await create();
    await send(id, 'Hello');
    await until(() => deltas.some(({ text }) => text !== null));
    // The text is stored once a second.
    await until(async () => told(await items(id)).includes('answer streaming: Half of it'));
    await engine!.kill();
    await server!.stop();
    await start([{ text: ['I go on.'] }]);
    const rows = told(await items(id));
    assert.deepEqual(rows.slice(0, 2), ['person: Hello', 'answer stopped: Half of it']);
    assert.match(rows.at(-1)!, /warning: Sallyport ended in the middle of this/);
    await send(id, 'Go on');
    await until(async () => told(await items(id)).includes('answer complete: I go on.'));
    assert.equal(await engine!.stop(), 0);
  });

  it('ends in the middle of an answer when it is told to', async () => {
    await start([{ text: ['Half'], holdEnd: new Promise(() => undefined) }]);
    const { id } = await create();
    await send(id, 'Hello');
    await until(() => deltas.some(({ text }) => text !== null));
    assert.equal(await engine!.stop(), 0);
    await server!.stop();
    await start([]);
    assert.match(told(await items(id)).join('\n'), /answer stopped: Half\nwarning: Sallyport ended/);
  });
});
