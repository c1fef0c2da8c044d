import assert from 'node:assert/strict';
import type { lookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { isLoopback, joinBelow, parseAddress } from '../../../extension/src/connections/address.ts';
import { ConnectedModels } from '../../../extension/src/connections/connectedModels.ts';
import { ConnectionKeys } from '../../../extension/src/connections/connectionKeys.ts';
import { ConnectModel, type KeyValues } from '../../../extension/src/connections/connectModel.ts';
import { ConnectionStore, originOf } from '../../../extension/src/connections/connectionStore.ts';
import {
  createLoopbackLookup,
  openHttp,
  type OpenHttp,
} from '../../../extension/src/connections/httpRequest.ts';
import { ManageConnections } from '../../../extension/src/connections/manageConnections.ts';
import { toModelView } from '../../../extension/src/connections/modelFacts.ts';
import type { State } from '../../../extension/src/keptValue.ts';
import { KeyVault, type KeyHeader, type Secrets } from '../../../extension/src/keys/keyVault.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import { createSettings } from '../../../extension/src/settings.ts';
import type { KeyedConnection, VaultKey } from '../../../extension/src/vault/vaultKeys.ts';
import { openLoopback, type LoopbackServer } from '../../support/loopbackServer.ts';
import { until } from '../../support/until.ts';
import { noVaultKeys } from '../../support/vaultKeys.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const key = 'sk-canary-0123456789abcdef';
const failed = (error: unknown): never => {
  throw error;
};

describe('an address', () => {
  for (const [text, expected] of [
    [' https://API.Example.com/v1// ', 'https://api.example.com/v1'],
    ['https://api.example.com:443', 'https://api.example.com'],
    ['http://127.0.0.1:11434/api', 'http://127.0.0.1:11434/api'],
    ['http://localhost:1234/v1', 'http://localhost:1234/v1'],
    ['http://[::1]:1234', 'http://[::1]:1234'],
    ['http://0x7f000001/', 'http://127.0.0.1'],
    ['http://example.com', 'plain-http'],
    ['http://127.0.0.1.example.com', 'plain-http'],
    ['http://evil.localhost', 'plain-http'],
    ['http://localhost.', 'plain-http'],
    ['http://10.0.0.1', 'plain-http'],
    ['http://[::ffff:127.0.0.1]', 'plain-http'],
    ['ftp://example.com', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['https://me:secret@example.com', 'credentials'],
    ['https://example.com/v1?x=1', 'query'],
    ['https://example.com/v1#x', 'query'],
    ['api.example.com', 'not-a-url'],
    ['', 'not-a-url'],
  ] as const) {
    it(`[CONN-02] ${text} → ${expected}`, () => {
      const address = parseAddress(text);
      assert.equal('base' in address ? address.base : address.problem, expected);
    });
  }

  it('[CONN-03] is never left by a path, whatever it is made of', () => {
    const base = 'https://api.example.com/v1';
    const hostile = fc.array(
      fc.oneof(
        fc.constantFrom(
          '..',
          '.',
          '/',
          '\\',
          '%2e',
          '%2f',
          '?',
          '#',
          '@',
          ':',
          '//',
          'https:',
          'evil.example',
          ';',
        ),
        fc.string({ maxLength: 5 }),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(hostile, (parts) => {
        const joined = joinBelow(base, parts.join(''));
        if (joined === undefined) return;
        const url = new URL(joined);
        assert.equal(url.origin, 'https://api.example.com');
        assert.ok(url.pathname.startsWith('/v1/') && url.pathname.length > 4);
        assert.equal(url.search + url.hash, '');
      }),
    );
    assert.equal(joinBelow(base, 'chat/completions'), `${base}/chat/completions`);
  });

  it('[CONN-02] reaches this machine alone over plain HTTP, whatever the name server says', () => {
    const answers = (addresses: readonly string[]) => {
      const resolve = ((_name: string, _options: object, done: (error: null, found: object[]) => void) =>
        done(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        )) as unknown as typeof lookup;
      let result: unknown;
      createLoopbackLookup(resolve)('localhost', { all: true }, (error, found) => {
        result = error ? 'refused' : found;
      });
      return result;
    };
    assert.equal(answers(['203.0.113.5']), 'refused');
    assert.equal(answers([]), 'refused');
    assert.deepEqual(answers(['203.0.113.5', '127.0.0.1']), [{ address: '127.0.0.1', family: 4 }]);
    assert.ok(isLoopback('127.8.9.1') && !isLoopback('128.0.0.1'));
  });
});

describe('what a workspace can set', () => {
  it('[CONN-01] is nothing: every setting has application scope and none names a connection', () => {
    const schema = z.object({
      contributes: z.object({
        configuration: z.object({ properties: z.record(z.string(), z.object({ scope: z.string() })) }),
      }),
    });
    const text = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
    const { properties } = schema.parse(JSON.parse(text)).contributes.configuration;
    assert.ok(Object.keys(properties).length >= 5);
    for (const [name, { scope }] of Object.entries(properties)) {
      assert.equal(scope, 'application', name);
      assert.doesNotMatch(name, /connection|address|url|proxy|header|key|token|endpoint|server|host/i);
    }
  });
});

describe('models', () => {
  it('have the price and the limit that the tables say, and none where they say nothing', () => {
    const price = (id: string) => toModelView(id, id, {}).inputPrice;
    assert.equal(price('gpt-5'), 1.25);
    assert.equal(price('gpt-5-2025-08-07'), 1.25);
    assert.equal(price('gpt-5-mini-2025-08-07'), 0.25);
    assert.equal(price('gpt-5-pro'), null);
    assert.equal(price('llama3.2'), null);
    const own = toModelView('gpt-5-pro', 'x', { 'gpt-5-pro': { inputPrice: 15, contextTokens: 400_000 } });
    assert.deepEqual([own.inputPrice, own.outputPrice, own.contextTokens], [15, null, 400_000]);
  });
});

describe('connections', () => {
  const servers: LoopbackServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

  function make({
    http = openHttp,
    secrets = memory(),
    offered,
  }: { http?: OpenHttp; secrets?: Secrets; offered?: VaultKey } = {}) {
    resetStub();
    const values = new Map<string, unknown>();
    const state: State = {
      get: (name) => values.get(name),
      update: async (name, value) => void values.set(name, structuredClone(value)),
    };
    const shown: Notice[] = [];
    const ended: string[] = [];
    const chosen: { connection: KeyedConnection; header: KeyHeader }[] = [];
    const keyValues: KeyValues = {
      choose: async (connection, header) => {
        chosen.push({ connection, header });
        return offered;
      },
      end: async (id) => void ended.push(id),
    };
    const notifier = { show: (notice: Notice) => void shown.push(notice), showError: () => undefined };
    const store = new ConnectionStore(state, failed);
    const keys = new KeyVault({ secrets, timeoutMs: 1000 });
    let count = 0;
    const connect = new ConnectModel({
      store,
      keys,
      access: new ConnectionKeys(keys, noVaultKeys),
      values: keyValues,
      openHttp: http,
      notifier,
      createId: () => `c${++count}`,
    });
    const manage = new ManageConnections(store, keys, keyValues, connect, notifier);
    return { values, store, keys, connect, manage, shown, chosen, ended };
  }
  function memory(): Secrets {
    const kept = new Map<string, string>();
    return {
      get: async (name) => kept.get(name),
      store: async (name, value) => void kept.set(name, value),
      delete: async (name) => void kept.delete(name),
    };
  }
  async function modelServer(path = '/v1/models') {
    const server = await openLoopback((request, response) => {
      if (request.url !== path) response.writeHead(404);
      response.end(path === '/v1/models' ? '{"data":[{"id":"m1"}]}' : '{"models":[{"name":"llama"}]}');
    });
    servers.push(server);
    return server;
  }
  const pick = async () => {
    await until(() => stub.picks.at(-1)?.isShown === true);
    return stub.picks.at(-1)!;
  };
  const box = async (step: RegExp) => {
    await until(() => stub.boxes.at(-1)?.isShown === true && step.test(stub.boxes.at(-1)!.prompt));
    return stub.boxes.at(-1)!;
  };

  it('are made in native steps: address, key, models', async () => {
    const { connect, store, keys, values } = make();
    const server = await modelServer();
    const made = connect.run();
    (await pick()).choose('OpenAI-compatible');
    const address = await box(/address/);
    address.enter('http://example.com/v1');
    assert.match(address.validationMessage ?? '', /this machine alone/);
    address.enter(`${server.base}/v1`);
    const secret = await box(/Key for/);
    assert.ok(secret.password && secret.ignoreFocusOut && secret.buttons.length === 2);
    assert.match(secret.prompt, new RegExp(server.base));
    secret.enter('two words');
    assert.match(secret.validationMessage ?? '', /space/);
    secret.enter(` ${key}\n`);
    const connection = await made;
    assert.deepEqual(store.list(), [connection]);
    assert.deepEqual(connection?.models, [{ id: 'm1', name: 'm1' }]);
    assert.equal(server.seen[0]?.headers.authorization, `Bearer ${key}`);
    assert.equal(await keys.state(connection.id, server.base), 'saved');
    assert.ok(!JSON.stringify([...values]).includes(key), 'the key is in no state');
  });

  const withValue = async (over: Parameters<typeof make>[0] = {}) => {
    const vaultKey = { item: 'api', field: 'token' };
    const made = make({ offered: vaultKey, ...over });
    const server = await modelServer();
    const running = made.connect.run();
    (await pick()).choose('OpenAI-compatible');
    (await box(/address/)).enter(`${server.base}/v1`);
    const secret = await box(/Key for/);
    secret.value = 'half a key';
    secret.triggered.fire(secret.buttons[1]);
    return { ...made, server, secret, running, vaultKey };
  };

  it('[VAULTUSE-24] take a value of the vault for their key, and keep none of their own', async () => {
    const { chosen, ended, keys, running, secret, store, server, vaultKey } = await withValue();
    // The vault of this test gives none, so the list of models is not had.
    (await box(/Name a model/)).enter('m1');
    const connection = await running;
    assert.deepEqual(connection?.vaultKey, vaultKey);
    assert.equal(connection.hasKey, false);
    assert.deepEqual(store.list(), [connection]);
    assert.deepEqual(
      chosen.map(({ connection: { origin }, header }) => [origin, header.name, header.prefix]),
      [[server.base, 'authorization', 'Bearer ']],
    );
    assert.equal(await keys.state(connection.id, server.base), 'none');
    assert.equal(secret.value, '', 'what was typed is forgotten');
    assert.deepEqual(ended, []);
    assert.equal(server.seen.length, 0, 'nothing is sent without the key');
  });

  it('[VAULTUSE-24] are not made where the person allows no value, and end the grant where they turn away', async () => {
    const refused = make();
    const running = refused.connect.run();
    (await pick()).choose('OpenAI-compatible');
    (await box(/address/)).enter('http://127.0.0.1:1/v1');
    const secret = await box(/Key for/);
    secret.triggered.fire(secret.buttons[1]);
    assert.equal(await running, undefined);
    assert.deepEqual(refused.store.list(), []);
    const left = await withValue();
    (await box(/Name a model/)).dispose();
    assert.equal(await left.running, undefined);
    assert.deepEqual(left.ended, [left.chosen[0]?.connection.id]);
  });

  it('[VAULTUSE-24] lose the value with another address, another key, and with themselves', async () => {
    const acts: readonly (readonly [string, (server: LoopbackServer) => Promise<void>])[] = [
      ['Change Address', async () => (await box(/address/)).enter('http://127.0.0.1:1/v1')],
      ['Replace Key', async () => (await box(/Key for/)).enter(key)],
      ['Remove', async () => void (stub.answer = 'Remove')],
    ];
    for (const [act, answer] of acts) {
      const { ended, manage, running, server, store } = await withValue();
      (await box(/Name a model/)).enter('m1');
      const connection = await running;
      assert.ok(connection);
      stub.chosen = [connection.name, act];
      const done = manage.run();
      await answer(server);
      await done;
      assert.deepEqual(ended, [connection.id], act);
      assert.equal(store.find(connection.id)?.vaultKey, undefined);
      assert.match(stub.lists[0]?.[0]?.detail ?? '', /key in the vault/);
    }
  });

  it('go back a step, and make nothing when they are closed', async () => {
    const { connect, store } = make();
    const made = connect.run();
    (await pick()).choose('OpenAI-compatible');
    const address = await box(/address/);
    address.triggered.fire(address.buttons[0]);
    await until(() => stub.picks.length === 2 && stub.picks[1]!.isShown);
    stub.picks[1]!.dispose();
    assert.equal(await made, undefined);
    assert.deepEqual(store.list(), []);
  });

  it('keep no key of a connection that was not made', async () => {
    const { connect, store, keys } = make();
    const made = connect.run();
    (await pick()).choose('OpenAI-compatible');
    (await box(/address/)).enter('http://127.0.0.1:1/v1');
    (await box(/Key for/)).enter(key);
    const name = await box(/Name a model/);
    assert.match(name.prompt, /could not be reached/);
    name.dispose();
    assert.equal(await made, undefined);
    assert.deepEqual(store.list(), []);
    assert.equal(await keys.state('c1', 'http://127.0.0.1:1'), 'none');
  });

  it('take a model’s name where the server lists none', async () => {
    const { connect } = make();
    const made = connect.run();
    (await pick()).choose('OpenAI-compatible');
    (await box(/address/)).enter('http://127.0.0.1:1/v1');
    (await box(/Key for/)).enter('');
    (await box(/Name a model/)).enter('my-model');
    assert.deepEqual((await made)?.models, [{ id: 'my-model', name: 'my-model' }]);
  });

  it('[KEY-04] ask what to do where the secret storage is lost', async () => {
    const server = await modelServer();
    for (const [answer, kept] of [
      ['Use It for This Window', 'for-this-window'],
      [undefined, undefined],
    ] as const) {
      const fail = () => Promise.reject(new Error('locked'));
      const { connect, keys } = make({ secrets: { get: fail, store: fail, delete: fail } });
      stub.answer = answer;
      const made = connect.run();
      (await pick()).choose('OpenAI-compatible');
      (await box(/address/)).enter(`${server.base}/v1`);
      (await box(/Key for/)).enter(key);
      const connection = await made;
      assert.match(stub.shown[0]?.text ?? '', /secret storage does not answer/);
      assert.equal(connection && (await keys.state(connection.id, server.base)), kept);
    }
  });

  it('[CONN-04] look for Ollama when the list is open, and use it only when it is chosen', async () => {
    const server = await modelServer('/api/tags');
    const asked: string[] = [];
    const { connect, store } = make({
      http: (request) => {
        asked.push(request.url);
        return openHttp({ ...request, url: request.url.replace('http://127.0.0.1:11434', server.base) });
      },
    });
    assert.deepEqual(asked, [], 'nobody has asked yet');
    const looked = connect.run();
    const list = await pick();
    await until(() =>
      list.items.some((item) => item.description?.includes('found on this machine') === true),
    );
    assert.deepEqual(asked, ['http://127.0.0.1:11434/api/tags']);
    list.dispose();
    assert.equal(await looked, undefined);
    assert.deepEqual(store.list(), []);

    const made = connect.run();
    (await pick()).choose('Ollama');
    (await box(/address/)).enter('http://127.0.0.1:11434/api');
    assert.deepEqual((await made)?.models, [{ id: 'llama', name: 'llama' }]);
    assert.equal(server.seen.at(-1)?.headers.authorization, undefined);
  });

  it('offer VS Code’s own models without a key, with their limits', async () => {
    const { connect, store } = make();
    stub.models = [{ vendor: 'copilot', id: 'gpt', name: 'GPT', maxInputTokens: 64_000 }];
    const made = connect.run();
    (await pick()).choose('VS Code’s own models');
    assert.equal((await made)?.kind, 'vscode');
    const models = new ConnectedModels(
      store,
      createSettings(() => undefined),
      failed,
    );
    await models.update();
    const [connection] = models.list;
    assert.deepEqual(
      connection?.models.map(({ id, contextTokens }) => ({ id, contextTokens })),
      [{ id: 'copilot/gpt', contextTokens: 64_000 }],
    );
    models.dispose();
  });

  it('say where VS Code offers no models', async () => {
    const { connect, shown } = make();
    const made = connect.run();
    (await pick()).choose('VS Code’s own models');
    assert.equal(await made, undefined);
    assert.match(shown[0]?.text ?? '', /offers no language models/);
  });

  it('that are damaged are not there, and the others are', () => {
    const { store, values } = make();
    const sound = {
      id: 'a',
      kind: 'openai',
      name: 'A',
      base: 'https://a.example',
      hasKey: false,
      models: [],
    };
    values.set('sallyport.connections', [
      null,
      { ...sound, base: 'http://a.example' },
      { ...sound, key },
      sound,
    ]);
    assert.deepEqual(store.list(), [sound]);
    values.set('sallyport.connections', 'nonsense');
    assert.deepEqual(store.list(), []);
  });

  describe('that are managed', () => {
    const saved = {
      id: 'a',
      kind: 'openai-compatible',
      name: 'Mine',
      base: 'https://a.example/v1',
      hasKey: true,
      models: [],
    } as const;
    const start = async () => {
      const made = make();
      await made.store.put({ ...saved, models: [] });
      await made.keys.save('a', 'https://a.example', key);
      return made;
    };

    it('are renamed', async () => {
      const { manage, store } = await start();
      stub.chosen = ['Mine', 'Rename'];
      const done = manage.run();
      (await box(/Name of/)).enter(' Other ');
      await done;
      assert.equal(store.find('a')?.name, 'Other');
    });

    it('[KEY-03] lose their key with another origin, not with another path', async () => {
      const { manage, store, keys } = await start();
      for (const [address, state] of [
        ['https://a.example/v2', 'saved'],
        ['https://b.example/v2', 'none'],
      ] as const) {
        stub.chosen = ['Mine', 'Change Address'];
        const done = manage.run();
        const shown = await box(/address/);
        await until(() => !shown.validationMessage);
        shown.enter(address);
        await done;
        const connection = store.find('a');
        assert.equal(connection?.base, address);
        assert.equal(await keys.state('a', originOf(connection)), state);
      }
    });

    it('get another key, which is shown nowhere', async () => {
      const { manage, keys } = await start();
      stub.chosen = ['Mine', 'Replace Key'];
      const done = manage.run();
      const shown = await box(/Key for/);
      assert.equal(shown.value, '');
      shown.enter('sk-another-0123456789');
      await done;
      assert.equal(await keys.state('a', 'https://a.example'), 'saved');
      assert.ok(!JSON.stringify(stub.lists).includes('sk-'));
    });

    it('are removed with their key after a question', async () => {
      const { manage, store, keys } = await start();
      stub.chosen = ['Mine', 'Remove'];
      await manage.run();
      assert.equal(store.list().length, 1, 'no answer is no');
      stub.chosen = ['Mine', 'Remove'];
      stub.answer = 'Remove';
      await manage.run();
      assert.equal(store.list().length, 0);
      assert.equal(await keys.state('a', 'https://a.example'), 'none');
    });
  });
});
