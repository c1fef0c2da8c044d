import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import { ConnectionKeys } from '../../../extension/src/connections/connectionKeys.ts';
import { originOf, type SavedConnection } from '../../../extension/src/connections/connectionStore.ts';
import { fetchModels } from '../../../extension/src/connections/fetchModels.ts';
import { openHttp, SilentError } from '../../../extension/src/connections/httpRequest.ts';
import { ProviderBroker } from '../../../extension/src/connections/providerBroker.ts';
import { KeyVault } from '../../../extension/src/keys/keyVault.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { openLoopback, type LoopbackServer } from '../../support/loopbackServer.ts';
import { until } from '../../support/until.ts';
import { noVaultKeys } from '../../support/vaultKeys.ts';

const key = 'sk-canary-0123456789abcdef';
const never = new AbortController().signal;
type Kept = SavedConnection & { readonly kind: 'openai-compatible' };

describe('ProviderBroker', () => {
  const servers: LoopbackServer[] = [];
  const brokers: ProviderBroker[] = [];
  afterEach(async () => {
    for (const broker of brokers.splice(0)) broker.closeAll();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  async function make(answer: RequestListener, http = openHttp, over: Partial<Kept> = {}) {
    const server = await openLoopback(answer);
    servers.push(server);
    const connection: Kept = {
      id: 'c',
      kind: 'openai-compatible',
      name: 'Mine',
      base: `${server.base}/v1`,
      hasKey: true,
      models: [],
      ...over,
    };
    const kept = new Map<string, string>();
    const keys = new KeyVault({
      secrets: {
        get: async (name) => kept.get(name),
        store: async (name, value) => void kept.set(name, value),
        delete: async (name) => void kept.delete(name),
      },
      timeoutMs: 5000,
    });
    await keys.save('c', originOf(connection), key);
    let count = 0;
    const broker = new ProviderBroker({
      find: (id) => (id === 'c' ? connection : undefined),
      keys: new ConnectionKeys(keys, noVaultKeys),
      openHttp: http,
      createId: () => `s${++count}`,
    });
    brokers.push(broker);
    const open = (params: Partial<Parameters<ProviderBroker['open']>[0]> = {}, signal = never) =>
      broker.open({ connection: 'c', path: 'chat/completions', headers: {}, body: '{}', ...params }, signal);
    return { server, broker, keys, connection, open };
  }

  async function readAll(broker: ProviderBroker, stream: string): Promise<string> {
    const parts: Buffer[] = [];
    for (;;) {
      const { base64, done } = await broker.read({ stream }, never);
      parts.push(Buffer.from(base64, 'base64'));
      if (done) return Buffer.concat(parts).toString();
    }
  }

  const fails = async (work: Promise<unknown>): Promise<UserError> => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof UserError, String(error));
    assert.ok(!`${error.message} ${JSON.stringify(error.data)}`.includes(key), error.message);
    return error;
  };

  it('posts the body with the key and nothing else of a person’s, and gives the answer part by part', async () => {
    const { server, broker, open } = await make((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'set-cookie': 'a=b', server: 'x' });
      response.write('data: 1\n\n');
      response.end('data: 2\n\n');
    });
    const { stream, status, headers } = await open({ headers: { 'Content-Type': 'application/json' } });
    assert.deepEqual({ status, headers }, { status: 200, headers: { 'content-type': 'text/event-stream' } });
    assert.equal(await readAll(broker, stream), 'data: 1\n\ndata: 2\n\n');
    assert.equal(broker.openStreams, 0);
    const [seen] = server.seen;
    assert.equal(`${seen?.method} ${seen?.url}`, 'POST /v1/chat/completions');
    assert.deepEqual(Object.keys(seen?.headers ?? {}).sort(), [
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
    const second = await open();
    await readAll(broker, second.stream);
    assert.equal(server.seen[1]?.headers.cookie, undefined, 'a cookie was set and is not sent');
  });

  it('refuses headers that could hold a credential, another host or a second header', async () => {
    const { server, open } = await make((_request, response) => response.end());
    const refused: Record<string, string>[] = [
      { authorization: 'Bearer other' },
      { 'x-api-key': 'other' },
      { cookie: 'a=b' },
      { host: 'evil.example' },
      { 'proxy-authorization': 'x' },
      { accept: 'a\r\nx: y' },
    ];
    for (const headers of refused) {
      assert.equal((await fails(open({ headers }))).code, 'bad-message');
    }
    assert.equal(server.seen.length, 0);
  });

  it('[CONN-03] refuses every path but the ones that the model is asked at', async () => {
    const { server, open } = await make((_request, response) => response.end());
    for (const path of [
      '',
      '/',
      'models',
      '../admin',
      'chat/../../admin',
      'chat/completions/',
      'chat/completions?x=1',
      'chat/completions#x',
      'chat%2fcompletions',
      'chat\\completions',
      '//evil.example/chat/completions',
      'https://evil.example/chat/completions',
      '@evil.example/chat/completions',
    ]) {
      assert.equal((await fails(open({ path }))).code, 'unsafe-path', path);
    }
    assert.equal(server.seen.length, 0);
  });

  it('follows no redirect, with words', async () => {
    const other = await openLoopback((_request, response) => response.end('no'));
    servers.push(other);
    for (const status of [301, 302, 303, 307, 308]) {
      const { broker, open } = await make((_request, response) => {
        response.writeHead(status, { location: `${other.base}/v1/chat/completions` });
        response.end();
      });
      const error = await fails(open());
      assert.equal(error.code, 'conflict');
      assert.match(error.message, /redirect/);
      assert.equal(broker.openStreams, 0);
    }
    assert.equal(other.seen.length, 0);
  });

  it('[KEY-05] takes the key out of answers and headers', async () => {
    const { broker, open } = await make((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json', 'request-id': key });
      response.write(`{"error":"Incorrect key: ${key.slice(0, 9)}`);
      setImmediate(() => response.end(`${key.slice(9)}"}`));
    });
    const { stream, status, headers } = await open();
    const text = await readAll(broker, stream);
    assert.equal(status, 401);
    assert.equal(text, '{"error":"Incorrect key: [key removed]"}');
    assert.equal(headers['request-id'], '[key removed]');
  });

  it('[BROKER-01] leaves what nobody reads with the sender', async () => {
    const chunk = Buffer.alloc(64 * 1024);
    let written = 0;
    const total = 64 * 1024 * 1024;
    const { broker, open } = await make((_request, response) => {
      response.writeHead(200);
      const push = (): void => {
        while (written < total) {
          written += chunk.byteLength;
          if (!response.write(chunk)) return void response.once('drain', push);
        }
        response.end();
      };
      push();
    });
    const { stream } = await open();
    let before = -1;
    await until(async () => {
      const same = written === before;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return same && written === before;
    });
    assert.ok(written < total / 2, `${written} bytes were taken without a read`);
    let read = 0;
    for (let done = false; !done;) {
      const part = await broker.read({ stream }, never);
      const bytes = Buffer.from(part.base64, 'base64').byteLength;
      assert.ok(bytes <= 256 * 1024, 'a part fits a message');
      read += bytes;
      done = part.done;
    }
    assert.equal(read, total);
  });

  it('[BROKER-02] ends the request when it is closed, cancelled, or the engine is gone', async () => {
    let closed = 0;
    const hang: RequestListener = (_request, response: ServerResponse) => {
      response.on('close', () => closed++);
      response.writeHead(200);
      response.write('x');
    };
    const { broker, open } = await make(hang);
    const first = await open();
    broker.close(first.stream);
    await until(() => closed === 1);

    const second = await open();
    await broker.read({ stream: second.stream }, never);
    const controller = new AbortController();
    const reading = fails(broker.read({ stream: second.stream }, controller.signal));
    controller.abort();
    assert.equal((await reading).code, 'cancelled');
    await until(() => closed === 2);

    await open();
    broker.closeAll();
    await until(() => closed === 3);
    assert.equal(broker.openStreams, 0);
  });

  it('[BROKER-02] ends a request that is cancelled before its first byte', async () => {
    let closed = 0;
    const { server, open } = await make((_request, response) => void response.on('close', () => closed++));
    const controller = new AbortController();
    const opening = fails(open({}, controller.signal));
    await until(() => server.seen.length === 1);
    controller.abort();
    assert.equal((await opening).code, 'cancelled');
    await until(() => closed === 1);
  });

  it('[BROKER-03] opens no more than 32 at once', async () => {
    const { broker, open } = await make((_request, response) => {
      response.writeHead(200);
      response.write('x');
    });
    const opened = await Promise.all(Array.from({ length: 32 }, () => open()));
    assert.equal((await fails(open())).code, 'too-large');
    broker.close(opened[0]?.stream ?? '');
    await open();
  });

  it('[BROKER-04] says a refused connection, a cut answer, silence and what is unknown apart', async () => {
    const { server, open, broker } = await make((request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setImmediate(() => request.socket.destroy());
    });
    const { stream } = await open();
    assert.equal((await fails(readAll(broker, stream))).code, 'closed');
    assert.equal((await fails(broker.read({ stream }, never))).code, 'not-found');
    assert.equal((await fails(open({ connection: 'other' }))).code, 'not-found');
    await server.close();
    const refused = await fails(open());
    assert.equal(refused.code, 'closed');
    assert.match(refused.message, /ECONNREFUSED/);
    const silent = await make(
      (_request, response) => response.end(),
      () => Promise.reject(new SilentError()),
    );
    assert.equal((await fails(silent.open())).code, 'timeout');
  });

  it('[KEY-04] says why there is no key, and asks nobody without one', async () => {
    const { server, keys, open } = await make((_request, response) => response.end());
    await keys.drop('c');
    const gone = await fails(open());
    assert.match(gone.message, /gone from VS Code’s secret storage/);
    await keys.save('c', 'https://elsewhere.example', key);
    assert.match((await fails(open())).message, /another address/);
    assert.equal(server.seen.length, 0);
  });

  it('needs no key where a person gave none', async () => {
    const { server, keys, broker, open } = await make((_request, response) => response.end('{}'), openHttp, {
      hasKey: false,
    });
    await keys.drop('c');
    const { stream } = await open();
    await readAll(broker, stream);
    assert.equal(server.seen[0]?.headers.authorization, undefined);
  });

  describe('the list of models', () => {
    const list = async (answer: RequestListener) => {
      const { connection, keys, server } = await make(answer);
      const limits = { signal: never, silenceMs: 5000 };
      return {
        server,
        listed: fetchModels(connection, { access: new ConnectionKeys(keys, noVaultKeys), openHttp }, limits),
      };
    };

    it('is asked for with the key, and sorted', async () => {
      const { server, listed } = await list((_request, response) =>
        response.end(
          JSON.stringify({ data: [{ id: 'b' }, { id: 'a', display_name: 'A' }, { id: 'bad id' }] }),
        ),
      );
      assert.deepEqual(await listed, [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'b' },
      ]);
      assert.equal(server.seen[0]?.headers.authorization, `Bearer ${key}`);
      assert.equal(server.seen[0].url, '/v1/models');
    });

    for (const [name, answer, expected] of [
      ['a refused key', { status: 401, text: key }, /refused the key/],
      ['another status', { status: 500, text: key }, /status 500/],
      ['a redirect', { status: 302, text: '' }, /redirect/],
      ['a proxy’s page', { status: 200, text: '<html>' }, /no list of models/],
      ['too much', { status: 200, text: `"${'x'.repeat(5 * 1024 * 1024)}"` }, /no list of models/],
    ] as const) {
      it(`[BROKER-04] says what is wrong: ${name}`, async () => {
        const { listed } = await list((_request, response) => {
          response.writeHead(answer.status, { location: 'http://127.0.0.1:1/' });
          response.end(answer.text);
        });
        assert.match((await fails(listed)).message, expected);
      });
    }
  });
});
