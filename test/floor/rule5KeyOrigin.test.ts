import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectionKindFacts, type NetworkKind } from '../../extension/src/connections/connectionKinds.ts';
import { parseAddress } from '../../extension/src/connections/address.ts';
import { originOf, type SavedConnection } from '../../extension/src/connections/connectionStore.ts';
import { openHttp } from '../../extension/src/connections/httpRequest.ts';
import { ProviderBroker } from '../../extension/src/connections/providerBroker.ts';
import { ConnectionKeys } from '../../extension/src/connections/connectionKeys.ts';
import { KeyVault } from '../../extension/src/keys/keyVault.ts';
import { UserError } from '../../protocol/src/errors.ts';
import { never } from '../support/testEngine.ts';
import { noVaultKeys } from '../support/vaultKeys.ts';

type Seen = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** Rule 5: a key goes only where it was saved for. A changed address drops it; no redirect carries it. */
describe('floor 5: a key goes only where it was saved for', () => {
  const key = 'sk-canary-5f2c9d1e7a';
  let servers: Server[];
  let secrets: Map<string, string>;
  let keys: KeyVault;
  let connections: Map<string, SavedConnection>;
  let broker: ProviderBroker;

  beforeEach(() => {
    servers = [];
    secrets = new Map();
    connections = new Map();
    keys = new KeyVault({
      secrets: {
        get: (name) => Promise.resolve(secrets.get(name)),
        store: (name, value) => Promise.resolve(void secrets.set(name, value)),
        delete: (name) => Promise.resolve(void secrets.delete(name)),
      },
      timeoutMs: 5_000,
    });
    let streams = 0;
    broker = new ProviderBroker({
      find: (id) => connections.get(id),
      keys: new ConnectionKeys(keys, noVaultKeys),
      openHttp,
      createId: () => `stream-${++streams}`,
    });
  });
  afterEach(async () => {
    broker.closeAll();
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    }
  });

  async function listen(answer: (response: ServerResponse) => void): Promise<{ base: string; seen: Seen[] }> {
    const seen: Seen[] = [];
    const server = createServer((request, response) => {
      seen.push({ method: request.method, url: request.url, headers: request.headers });
      request.resume();
      answer(response);
    });
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
  }
  const fine = (response: ServerResponse) => response.end('{}');

  async function connect(kind: NetworkKind, base: string): Promise<void> {
    const saved: SavedConnection = { id: 'mine', kind, name: 'Mine', base, hasKey: true, models: [] };
    connections.set('mine', saved);
    assert.equal(await keys.save('mine', originOf(saved), key), true);
  }
  function open(kind: NetworkKind, change: Partial<Parameters<ProviderBroker['open']>[0]> = {}) {
    const path = connectionKindFacts[kind].paths[0] ?? '';
    return broker.open({ connection: 'mine', path, headers: {}, body: '{}', ...change }, never);
  }
  const keyed: readonly NetworkKind[] = ['anthropic', 'openai', 'openai-compatible'];

  for (const kind of keyed) {
    it(`[FLOOR-05] ${kind}: it arrives at the address that it was saved for, and in one header alone (control)`, async () => {
      const home = await listen(fine);
      await connect(kind, home.base);
      assert.equal((await open(kind)).status, 200);
      const [request] = home.seen;
      assert.ok(request);
      const holders = Object.entries(request.headers).filter(([, value]) => String(value).includes(key));
      assert.deepEqual(
        holders.map(([name]) => name),
        [connectionKindFacts[kind].keyHeader.name],
      );
      assert.ok(!request.url?.includes(key));
    });

    for (const status of [300, 301, 302, 303, 307, 308]) {
      it(`[FLOOR-05] ${kind}: a redirect with ${status} is an error, and nothing goes there`, async () => {
        const elsewhere = await listen(fine);
        const home = await listen((response) =>
          response.writeHead(status, { location: `${elsewhere.base}/messages` }).end(),
        );
        await connect(kind, home.base);
        await assert.rejects(
          open(kind),
          (error) => error instanceof UserError && !error.message.includes(key),
        );
        assert.equal(home.seen.length, 1);
        assert.deepEqual(elsewhere.seen, []);
        assert.equal(broker.openStreams, 0);
      });
    }

    it(`[FLOOR-05] ${kind}: another address drops it, for good`, async () => {
      const [home, elsewhere] = [await listen(fine), await listen(fine)];
      await connect(kind, home.base);
      const saved = connections.get('mine');
      assert.ok(saved);
      connections.set('mine', { ...saved, base: elsewhere.base });
      await assert.rejects(open(kind));
      connections.set('mine', saved);
      await assert.rejects(open(kind), 'going back does not bring it back');
      assert.deepEqual([...home.seen, ...elsewhere.seen], []);
      assert.deepEqual([...secrets], []);
    });
  }

  it('[FLOOR-05] a client that follows redirects would carry it along (control)', async () => {
    const elsewhere = await listen(fine);
    const home = await listen((response) => response.writeHead(307, { location: elsewhere.base }).end());
    await fetch(home.base, { method: 'POST', headers: { 'x-api-key': key }, body: '{}' });
    assert.equal(elsewhere.seen[0]?.headers['x-api-key'], key);
  });

  const paths = [
    '',
    '/messages',
    '//evil.test/messages',
    'https://evil.test/messages',
    '../messages',
    'messages/../../x',
    'messages%2f..%2f..',
    'messages?to=evil',
    'messages#x',
    'messages\\x',
    '@evil.test/messages',
    'messages\r\nhost: evil.test',
    'models',
    'files',
  ];
  for (const path of paths) {
    it(`[FLOOR-05] the engine can’t have it sent to ${JSON.stringify(path)}`, async () => {
      const home = await listen(fine);
      await connect('anthropic', home.base);
      await assert.rejects(open('anthropic', { path }));
      assert.deepEqual(home.seen, []);
    });
  }

  const headers = [
    'authorization',
    'x-api-key',
    'host',
    'cookie',
    'proxy-authorization',
    'x-forwarded-host',
    'connection',
  ];
  for (const name of [...headers, ...headers.map((each) => each.toUpperCase())]) {
    it(`[FLOOR-05] the engine can’t set the header ${name}`, async () => {
      const home = await listen(fine);
      await connect('anthropic', home.base);
      await assert.rejects(open('anthropic', { headers: { [name]: 'evil.test' } }));
      await assert.rejects(open('anthropic', { headers: { accept: `x\r\n${name}: evil.test` } }));
      assert.deepEqual(home.seen, []);
    });
  }

  const addresses = [
    'http://example.org/v1',
    'http://localhost.example.org/v1',
    'http://evil.localhost/v1',
    'http://127.0.0.1.example.org/v1',
    'http://0.0.0.0:11434/v1',
    'http://[::ffff:127.0.0.1]/v1',
    'http://10.0.0.1/v1',
    'https://me:secret@example.org/v1',
    'https://example.org/v1?key=x',
    'ftp://example.org/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'example.org',
    '',
  ];
  for (const address of addresses) {
    it(`[FLOOR-05] no connection has the address ${JSON.stringify(address)}`, () => {
      assert.ok('problem' in parseAddress(address), JSON.stringify(parseAddress(address)));
    });
  }

  it('[FLOOR-05] one address in several spellings is one, and another host, port or scheme is another', () => {
    const origin = (text: string) => originOf({ kind: 'openai-compatible', base: text });
    for (const same of ['https://API.example.org/v1', 'https://api.example.org:443'])
      assert.equal(origin(same), 'https://api.example.org');
    for (const other of [
      'https://api.example.org.evil.test',
      'https://api.example.org:8443',
      'https://xn--pi-8ka.example.org',
      'https://www.api.example.org',
    ])
      assert.notEqual(origin(other), 'https://api.example.org');
  });
});
