import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError } from '../../../protocol/src/errors.ts';
import { ConnectionKeys } from '../../../extension/src/connections/connectionKeys.ts';
import type { SavedConnection } from '../../../extension/src/connections/connectionStore.ts';
import { openHttp } from '../../../extension/src/connections/httpRequest.ts';
import { ProviderBroker } from '../../../extension/src/connections/providerBroker.ts';
import { KeyVault } from '../../../extension/src/keys/keyVault.ts';
import type { AgentsVault } from '../../../extension/src/vault/core/agentsVault.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import { ReleasedValues } from '../../../extension/src/vault/releasedValues.ts';
import { VaultKeys, wantedKey } from '../../../extension/src/vault/vaultKeys.ts';
import { VaultHarness } from '../../support/vaultHarness.ts';

const value = 'canary-key-of-the-vault-5d21';
const bearer = { name: 'authorization', prefix: 'Bearer ' };
const forever = { count: null, until: null };
const never = new AbortController().signal;

describe('VaultKeys', () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    if (request.url === '/v1/embeddings') response.writeHead(307, { location: 'https://evil.example/' });
    response.end(`you sent ${request.headers.authorization ?? 'nothing'}`);
  });
  let harness: VaultHarness;
  let vault: AgentsVault;
  let released: ReleasedValues;
  let connection: SavedConnection;
  let broker: ProviderBroker;
  let isLocked: boolean;

  before((done) => void server.listen(0, '127.0.0.1', done));
  after(() => server.close());
  beforeEach(async () => {
    seen.length = 0;
    isLocked = false;
    harness = new VaultHarness();
    vault = await harness.create();
    await save(value);
    released = new ReleasedValues();
    const { port } = server.address() as AddressInfo;
    connection = {
      id: 'c1',
      kind: 'openai-compatible',
      name: 'Mine',
      base: `http://127.0.0.1:${port}/v1`,
      hasKey: false,
      vaultKey: { item: 'api', field: 'token' },
      models: [],
    };
    const own = new KeyVault({
      secrets: { get: async () => undefined, store: async () => undefined, delete: async () => undefined },
      timeoutMs: 1000,
    });
    const values = new VaultKeys({
      openVaults: async () => (isLocked ? [] : [vault]),
      hasLocked: () => isLocked,
      released,
      now: () => harness.now,
    });
    broker = new ProviderBroker({
      find: (id) => (id === connection.id ? connection : undefined),
      keys: new ConnectionKeys(own, values),
      openHttp,
      createId: () => 's1',
    });
  });
  afterEach(() => {
    broker.closeAll();
    harness.close();
  });

  async function save(text: string, hosts: readonly string[] = []): Promise<void> {
    using secret = Secret.fromText(text);
    await vault.save({
      id: 'api',
      baseVersion: vault.get('api')?.version ?? 0,
      title: 'API',
      kind: 'token',
      fields: [{ name: 'token', kind: 'secret', value: secret }],
      hosts,
      tags: [],
      expiresAt: null,
    });
  }
  async function grant(over: { id?: string; origin?: string } = {}, header = bearer): Promise<string> {
    const { origin } = new URL(connection.base);
    const keyed = { id: connection.id, name: 'Mine', origin, ...over };
    const { principal, scope, wish } = wantedKey(keyed, { item: 'api', field: 'token' }, header);
    const { id } = await vault.ask({ ...wish, principal, scope, limits: forever, reason: '' });
    await vault.answer(id, 'accepted', forever);
    return id;
  }
  async function ask(path = 'chat/completions'): Promise<string> {
    try {
      const { stream } = await broker.open({ connection: 'c1', path, headers: {}, body: '{}' }, never);
      let text = '';
      for (;;) {
        const { base64, done } = await broker.read({ stream }, never);
        text += Buffer.from(base64, 'base64').toString();
        if (done) return text;
      }
    } catch (error) {
      assert.ok(error instanceof UserError, String(error));
      assert.ok(!error.message.includes(value));
      return `${error.code}: ${error.message}`;
    }
  }

  it('[VAULTUSE-24] puts the value into the header of a request to its own host, logs it, and takes it out of the answer', async () => {
    const id = await grant();
    assert.equal(await ask(), 'you sent Bearer [key removed]');
    assert.deepEqual(seen, [`Bearer ${value}`]);
    const host = new URL(connection.base).host;
    assert.deepEqual(
      vault.uses().map((use) => [use.grant, use.principal, use.host]),
      [[id, 'connection:c1', host]],
    );
    assert.equal(released.scrubber.finds(Buffer.from(value)), true);
  });

  const ends: readonly (readonly [string, RegExp, () => unknown])[] = [
    ['no grant', /may not use the value/, () => undefined],
    ['a grant of another connection', /may not use/, () => grant({ id: 'c2' })],
    ['a grant for another port', /may not use/, () => grant({ origin: 'http://127.0.0.1:9' })],
    ['a grant for another header', /may not use/, () => grant({}, { name: 'x', prefix: '' })],
    ['a grant that was revoked', /may not use/, async () => vault.revoke(await grant())],
    [
      'another version of the item',
      /may not use/,
      async () => {
        await grant();
        await save('another-value-of-the-item');
      },
    ],
    [
      'an item that was saved for another host',
      /may not use/,
      async () => {
        await save(value, ['api.example.org']);
        await grant();
      },
    ],
    [
      'a locked vault',
      /is locked/,
      async () => {
        await grant();
        isLocked = true;
      },
    ],
    [
      'a value of two lines',
      /can’t be sent in a header/,
      async () => {
        await save('first line\nsecond line');
        await grant();
      },
    ],
    [
      'a value that is too short to be taken out',
      /too short/,
      async () => {
        await save('abc');
        await grant();
      },
    ],
  ];
  for (const [what, words, prepare] of ends)
    it(`[VAULTUSE-24] sends nothing with ${what}`, async () => {
      await prepare();
      assert.match(await ask(), words);
      assert.deepEqual(seen, []);
      assert.equal(vault.uses().length, 0);
    });

  it('[VAULTUSE-24] goes with its address: another one has no grant', async () => {
    await grant();
    connection = { ...connection, base: 'http://127.0.0.1:9/v1' };
    assert.match(await ask(), /may not use/);
  });

  it('[VAULTUSE-24] follows no redirect', async () => {
    await grant();
    assert.match(await ask('embeddings'), /^conflict: .*redirect/);
    assert.equal(seen.length, 1);
  });

  it('[VAULTUSE-24] ends all grants of a connection, and those of no other', async () => {
    await grant();
    await grant({ id: 'c2' });
    const values = new VaultKeys({
      openVaults: async () => [vault],
      hasLocked: () => false,
      released,
      now: () => harness.now,
    });
    await values.end('c1', { item: 'api', field: 'token' });
    assert.ok(vault.grants().every(({ state }) => state === 'accepted'));
    await values.end('c1', { item: 'another', field: 'token' });
    assert.deepEqual(
      vault.grants().map(({ principal, state }) => [principal, state]),
      [
        ['connection:c1', 'revoked'],
        ['connection:c2', 'accepted'],
      ],
    );
  });

  for (const [origin, host] of [
    ['https://api.example.org', 'api.example.org'],
    ['https://api.example.org:8443', 'api.example.org:8443'],
    ['http://localhost', 'localhost:80'],
    ['http://[::1]:11434', '[::1]:11434'],
  ] as const)
    it(`[VAULTUSE-24] is for ${host} where the address is ${origin}`, () => {
      const { use } = wantedKey({ id: 'c', name: '', origin }, { item: 'a', field: 'b' }, bearer).wish;
      assert.deepEqual(use.hosts, [host]);
    });
});
