import assert from 'node:assert/strict';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import { listen, listenOnLoopback } from '../../../extension/src/presence/loopback.ts';
import { openPageServer, type PageServer } from '../../../extension/src/presence/pageServer.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function ask(
  uri: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; address?: string } = {},
): Promise<Answer> {
  const { port, pathname, host } = new URL(uri);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: options.address ?? '127.0.0.1',
        port,
        path: pathname,
        method: options.method ?? 'GET',
        headers: { host, ...options.headers },
        agent: false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(options.body);
  });
}

describe('The presence page’s server', () => {
  let server: PageServer;
  let judged: unknown[];

  beforeEach(async () => {
    judged = [];
    const opened = await openPageServer({
      html: async () => '<p>page</p>',
      judge: async (body) => {
        judged.push(body);
        return { ok: true, text: '' };
      },
      external: async (uri) => uri,
    });
    assert.ok(opened);
    server = opened;
  });
  afterEach(() => server.close());

  const post = (headers: Record<string, string> = {}, body = '{"a":1}') =>
    ask(`${server.uri}/answer`, {
      method: 'POST',
      headers: { origin: server.origin, 'content-type': 'application/json', ...headers },
      body,
    });

  it('[PRES-04] serves one page once, on both loopbacks, and takes one answer', async () => {
    const page = await ask(server.uri, { address: '::1' });
    assert.equal(page.status, 200);
    assert.equal((await ask(server.uri)).status, 410);
    assert.equal((await post()).status, 200);
    assert.equal((await post()).status, 409);
    assert.deepEqual(judged, [{ a: 1 }]);
    assert.deepEqual(await server.answered, { ok: true, text: '' });
  });

  it('[PRES-04] can be framed, cached, named or scripted by nobody', async () => {
    const { headers } = await ask(server.uri);
    const policy = String(headers['content-security-policy']);
    for (const part of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "form-action 'none'",
      "base-uri 'none'",
    ])
      assert.ok(policy.includes(part), part);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['access-control-allow-origin'], undefined);
  });

  it('[PRES-03] refuses every Host but its own: a name that was pointed at this machine', async () => {
    const { port } = new URL(server.uri);
    for (const host of [
      `evil.example:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      `localhost.:${port}`,
      'localhost',
      `LOCALHOST:${port}`,
      `localhost:${Number(port) - 1}`,
    ]) {
      assert.equal((await ask(server.uri, { headers: { host } })).status, 421, host);
      assert.equal((await post({ host })).status, 421, host);
    }
    assert.equal((await ask(server.uri)).status, 200, 'the page is still there for its person');
  });

  it('[PRES-03] refuses an answer from any other origin, method, type or size, or before the page was read', async () => {
    assert.equal((await post()).status, 409, 'nobody has the page');
    await ask(server.uri);
    const { port } = new URL(server.uri);
    for (const origin of [
      'null',
      `http://127.0.0.1:${port}`,
      `https://localhost:${port}`,
      'http://localhost',
      `http://localhost:${Number(port) - 1}`,
      'https://evil.example',
    ])
      assert.equal((await post({ origin })).status, 403, origin);
    assert.equal((await post({ 'sec-fetch-site': 'cross-site' })).status, 403);
    assert.equal((await post({ 'content-type': 'text/plain' })).status, 415);
    assert.equal((await post({}, `"${'x'.repeat(70_000)}"`)).status, 413);
    assert.equal((await ask(`${server.uri}/answer`)).status, 404);
    assert.equal((await ask(new URL('/', server.uri).href)).status, 404);
    assert.equal(
      (await ask(`${server.uri}/answer`, { method: 'OPTIONS', headers: { origin: server.origin } })).status,
      404,
    );
    assert.deepEqual(judged, []);
    assert.equal((await post()).status, 200);
  });

  it('[PRES-04] opens where the browser finds this machine as localhost, and nowhere else', async () => {
    const at = async (external: string) => {
      const opened = await openPageServer({
        html: async () => '',
        judge: async () => ({ ok: true, text: '' }),
        external: async (uri) => external.replace('PATH', new URL(uri).pathname),
      });
      opened?.close();
      return opened?.origin;
    };
    assert.equal(await at('http://localhost:8123PATH'), 'http://localhost:8123');
    assert.equal(await at('http://127.0.0.1:8123PATH'), 'http://localhost:8123');
    for (const elsewhere of [
      'https://box.example/proxy/8123PATH',
      'https://localhost:8123PATH',
      'http://localhost.evil.example:8123PATH',
      'http://[::1]:8123PATH',
      'http://192.168.1.2:8123PATH',
      'http://localhost:8123/proxyPATH',
      'vscode://localhost:8123PATH',
      'nonsense',
    ])
      assert.equal(await at(elsewhere), undefined, elsewhere);
  });
});

describe('Both loopback addresses', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  const squat = async (host: string, port: number): Promise<number> => {
    const server = createServer((_request, response) => response.end('squatter'));
    servers.push(server);
    return listen(server, host, port);
  };

  it('[PRES-04] takes another port where somebody holds this one at ::1', async () => {
    const held: number[] = [];
    let isFirst = true;
    const loopback = await listenOnLoopback((_request, response) => response.end('ours'), {
      listen: async (server, address, port) => {
        const got = await listen(server, address, port);
        if (address === '127.0.0.1' && isFirst) {
          isFirst = false;
          await squat('::1', got);
          held.push(got);
        }
        return got;
      },
    });
    try {
      assert.equal(held.length, 1);
      assert.notEqual(loopback.port, held[0]);
      for (const address of ['127.0.0.1', '::1'])
        assert.equal((await ask(`http://localhost:${loopback.port}/`, { address })).text, 'ours');
      await assert.rejects(squat('::1', loopback.port));
      await assert.rejects(squat('127.0.0.1', loopback.port));
    } finally {
      loopback.close();
    }
  });

  it('needs both: with one of them a squatter at ::1 is who answers there', async () => {
    const one = createServer((_request, response) => response.end('ours'));
    servers.push(one);
    const port = await listen(one, '127.0.0.1', 0);
    await squat('::1', port);
    assert.equal((await ask(`http://localhost:${port}/`, { address: '::1' })).text, 'squatter');
  });

  it('gives up after a number of tries, and is content with one address where the machine has no other', async () => {
    const fail = (code: string) => async (server: Server, address: string, port: number) => {
      if (address === '::1') throw Object.assign(new Error(code), { code });
      return listen(server, address, port);
    };
    await assert.rejects(
      listenOnLoopback(() => undefined, { tries: 3, listen: fail('EADDRINUSE') }),
      /3 tries/,
    );
    await assert.rejects(
      listenOnLoopback(() => undefined, { listen: fail('EACCES') }),
      /EACCES/,
    );
    const loopback = await listenOnLoopback(() => undefined, { listen: fail('EADDRNOTAVAIL') });
    loopback.close();
  });
});
