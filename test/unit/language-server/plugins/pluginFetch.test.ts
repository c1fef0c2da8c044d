import assert from 'node:assert/strict';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import { fetchLimits, type HostParams, type HostResult } from '../../../../protocol/src/hostCalls.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import {
  pluginFetch,
  type PluginFetchOptions,
} from '../../../../language-server/src/plugins/hostFunctions/pluginFetch.ts';
import { openFakeInternet, publicAddress, type FakeInternet } from '../../../support/fakeInternet.ts';
import { noValueRequests } from '../../../support/valueRequests.ts';

describe('pluginFetch', () => {
  let internet: FakeInternet;
  const records: EgressRecord[] = [];
  before(async () => (internet = await openFakeInternet()));
  after(() => internet.close());
  beforeEach(() => {
    for (const list of [internet.seen, internet.resolved, internet.connected, records]) list.length = 0;
    internet.names.clear();
    internet.answer = (_request, response) => response.end('ok');
  });

  const get = (
    url: string,
    hosts: readonly string[],
    changes: Partial<HostParams<'fetch'>> = {},
    options: Partial<PluginFetchOptions> = {},
  ): Promise<HostResult<'fetch'>> =>
    pluginFetch(
      { url, method: 'GET', headers: [], body: null, redirect: 'follow', ...changes },
      {
        user: { principal: 'plugin:notes/search', scope: 'app:i', hosts, wishes: [] },
        values: noValueRequests,
        signal: new AbortController().signal,
        record: (record) => records.push(record),
        now: () => 5,
        createId: () => 'id',
        network: internet.network,
        ...options,
      },
    );
  const refusal = async (answer: Promise<unknown>): Promise<string> => {
    try {
      return `done: ${JSON.stringify(await answer)}`;
    } catch (error) {
      assert.ok(error instanceof BridgeError, String(error));
      return `${error.code}: ${error.message}`;
    }
  };
  const redirect = (to: string, status = 302): void => {
    internet.answer = (request, response) => {
      const isFirst = request.url === '/';
      if (isFirst) response.writeHead(status, { location: to });
      response.end(isFirst ? '' : 'arrived');
    };
  };

  it('[PLUG-08] [PLUG-11] reaches a listed host and logs the request', async () => {
    internet.answer = (_request, response) => {
      response.setHeader('set-cookie', 'a=b');
      response.setHeader('x-own', 'yes');
      response.end('{"a":1}');
    };
    const answer = await get('http://api.example.org/x?y=1#z', ['api.example.org']);
    assert.deepEqual(answer.body, { content: '{"a":1}', encoding: 'text' });
    assert.equal(answer.url, 'http://api.example.org/x?y=1');
    assert.equal(answer.headers['x-own'], 'yes');
    assert.equal(answer.headers['set-cookie'], undefined);
    assert.deepEqual(internet.connected, [publicAddress]);
    assert.deepEqual(
      records.map(({ verdict, host, port, receivedBytes, at }) => [verdict, host, port, receivedBytes, at]),
      [['allowed', 'api.example.org', 80, 7, 5]],
    );
  });

  it('[PLUG-11] sends nothing but what the plugin wrote', async () => {
    await get('http://api.example.org/', ['api.example.org'], {
      method: 'POST',
      headers: [['X-Own', 'yes']],
      body: { content: 'aGk=', encoding: 'base64' },
    });
    const { headers, body } = internet.seen[0]!;
    assert.equal(body, 'hi');
    assert.deepEqual(Object.keys(headers).sort(), [
      'accept-encoding',
      'connection',
      'content-length',
      'host',
      'x-own',
    ]);
  });

  const unlisted: readonly (readonly [string, string])[] = [
    ['another name', 'http://evil.example/'],
    ['a subdomain', 'http://x.api.example.org/'],
    ['a parent', 'http://example.org/'],
    ['a longer name', 'http://api.example.org.evil.example/'],
    ['another port', 'http://api.example.org:8080/'],
    ['a user name before', 'http://api.example.org@evil.example/'],
    ['a back slash', 'http://evil.example\\@api.example.org/'],
    ['another scheme', 'ftp://api.example.org/'],
    ['a file', 'file:///etc/passwd'],
    ['a data address', 'data:text/plain,x'],
    ['a blob', 'blob:http://api.example.org/x'],
    ['no address', '/etc/passwd'],
    ['this machine', 'http://localhost/'],
    ['this machine by number', 'http://127.0.0.1/'],
    ['this machine in hex', 'http://0x7f000001/'],
    ['this machine as one number', 'http://2130706433/'],
    ['this machine in octal', 'http://0177.0.0.1/'],
    ['this machine, short', 'http://127.1/'],
    ['this machine, IPv6', 'http://[::1]/'],
    ['this machine, mapped', 'http://[::ffff:127.0.0.1]/'],
    ['nowhere', 'http://0.0.0.0/'],
    ['cloud metadata', 'http://169.254.169.254/latest/meta-data/'],
    ['cloud metadata, mapped', 'http://[::ffff:a9fe:a9fe]/'],
    ['cloud metadata as one number', 'http://2852039166/'],
    ['cloud metadata by name', 'http://metadata.google.internal/'],
    ['a private address', 'http://192.168.1.1/'],
    ['full-width digits', 'http://①②⑦.0.0.1/'],
  ];
  for (const [what, url] of unlisted)
    it(`[PLUG-08] refuses ${what} where one host is listed, and resolves nothing`, async () => {
      assert.match(await refusal(get(url, ['api.example.org'])), /^not-allowed: /);
      assert.deepEqual(internet.seen, []);
      assert.deepEqual(internet.resolved, []);
    });

  it('[PLUG-08] control: what was refused arrives where it is listed', async () => {
    for (const [host, url] of [
      ['evil.example', 'http://evil.example/'],
      ['x.api.example.org', 'http://x.api.example.org/'],
      ['api.example.org:8080', 'http://api.example.org:8080/'],
      ['127.0.0.1', 'http://2130706433/'],
      ['169.254.169.254', 'http://169.254.169.254/'],
      ['[::1]', 'http://[::1]/'],
    ] as const) {
      assert.equal((await get(url, [host])).status, 200, url);
    }
    assert.equal(internet.seen.length, 6);
  });

  const addresses = [
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '::1',
    '::ffff:127.0.0.1',
    'fd00::1',
    '100.64.0.1',
    '0.0.0.0',
  ];
  for (const address of addresses)
    it(`[PLUG-08] refuses a listed name that leads to ${address}`, async () => {
      internet.names.set('api.example.org', [[publicAddress, address]]);
      assert.match(
        await refusal(get('http://api.example.org/', ['api.example.org'])),
        /^not-allowed: .*leads to an address/,
      );
      assert.deepEqual(internet.connected, []);
      assert.deepEqual(
        records.map(({ verdict }) => verdict),
        ['refused'],
      );
    });

  it('[PLUG-08] a name that changes its address between two looks is looked at once', async () => {
    internet.names.set('api.example.org', [[publicAddress], ['127.0.0.1']]);
    await get('http://api.example.org/', ['api.example.org']);
    assert.deepEqual(internet.resolved, ['api.example.org']);
    assert.deepEqual(internet.connected, [publicAddress]);
    // Control: a second look would have found this machine.
    assert.deepEqual(await internet.network.resolve('api.example.org'), ['127.0.0.1']);
  });

  it('[PLUG-08] reaches this machine where it is listed outright', async () => {
    internet.names.set('localhost', [['127.0.0.1', '::1']]);
    assert.equal((await get('http://localhost:3000/', ['localhost:3000'])).status, 200);
    assert.equal((await get('http://127.0.0.1:3000/', ['127.0.0.1:3000'])).status, 200);
  });

  it('[PLUG-08] localhost listed by name leads to this machine and nowhere else', async () => {
    internet.names.set('localhost', [['10.0.0.1']]);
    assert.match(await refusal(get('http://localhost/', ['localhost'])), /^not-allowed/);
  });

  const elsewhere = [
    'http://evil.example/steal',
    'http://127.0.0.1/',
    'http://169.254.169.254/latest/',
    '//evil.example/steal',
    'http://api.example.org:8080/',
    'file:///etc/passwd',
    'http://api.example.org@evil.example/',
  ];
  for (const to of elsewhere)
    for (const status of [301, 302, 303, 307, 308])
      it(`[PLUG-08] does not follow a ${status} to ${to}`, async () => {
        redirect(to, status);
        assert.match(await refusal(get('http://api.example.org/', ['api.example.org'])), /^not-allowed: /);
        assert.equal(internet.seen.length, 1, 'the second host was not asked');
      });

  it('[PLUG-08] control: follows a redirect to a host that is listed, and logs both', async () => {
    redirect('http://evil.example/steal');
    const answer = await get('http://api.example.org/', ['api.example.org', 'evil.example']);
    assert.deepEqual(
      [answer.body.content, answer.url, answer.redirected],
      ['arrived', 'http://evil.example/steal', true],
    );
    assert.deepEqual(
      records.map(({ host }) => host),
      ['api.example.org', 'evil.example'],
    );
  });

  it('[PLUG-08] a redirect is resolved and checked anew', async () => {
    redirect('/again');
    internet.names.set('api.example.org', [[publicAddress], ['127.0.0.1']]);
    assert.match(
      await refusal(get('http://api.example.org/', ['api.example.org'])),
      /^not-allowed: .*loopback/,
    );
    assert.deepEqual(internet.connected, [publicAddress]);
  });

  it('[PLUG-11] what may hold a secret does not go to another origin', async () => {
    redirect('http://evil.example/steal', 307);
    await get('http://api.example.org/', ['api.example.org', 'evil.example'], {
      headers: [
        ['authorization', 'Bearer own'],
        ['x-api-key', 'own'],
        ['accept', 'text/plain'],
      ],
    });
    assert.equal(internet.seen[0]?.headers.authorization, 'Bearer own');
    assert.equal(internet.seen[1]?.headers.authorization, undefined);
    assert.equal(internet.seen[1]?.headers['x-api-key'], undefined);
    assert.equal(internet.seen[1]?.headers.accept, 'text/plain');
  });

  const methods: readonly (readonly [number, string, string, string])[] = [
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'PUT', 'PUT', 'body'],
    [302, 'PUT', 'PUT', 'body'],
  ];
  for (const [status, method, then, body] of methods)
    it(`a ${status} after ${method} asks with ${then}`, async () => {
      redirect('/again', status);
      await get('http://api.example.org/', ['api.example.org'], {
        method: method as 'POST',
        body: { content: 'body', encoding: 'text' },
      });
      assert.deepEqual([internet.seen[1]?.method, internet.seen[1]?.body], [then, body]);
    });

  it('gives a redirect where it is to be shown, fails where none may come, and ends a circle', async () => {
    redirect('/');
    const hosts = ['api.example.org'];
    assert.equal((await get('http://api.example.org/', hosts, { redirect: 'manual' })).status, 302);
    assert.match(await refusal(get('http://api.example.org/', hosts, { redirect: 'error' })), /^unavailable/);
    internet.seen.length = 0;
    assert.match(await refusal(get('http://api.example.org/', hosts)), /^unavailable: More than 5/);
    assert.equal(internet.seen.length, 6);
  });

  for (const name of [
    'Cookie',
    'host',
    'Content-Length',
    'transfer-encoding',
    'Connection',
    'Proxy-Authorization',
    'Origin',
    'X-Forwarded-For',
    'Sec-Fetch-Site',
  ])
    it(`[PLUG-11] refuses the header ${name}`, async () => {
      const answer = get('http://api.example.org/', ['api.example.org'], { headers: [[name, 'x']] });
      assert.match(await refusal(answer), /^not-allowed: A plugin can’t send the header/);
      assert.deepEqual(internet.seen, []);
    });

  it('[PLUG-11] an answer that is too large is refused, and one that just fits is not', async () => {
    let size = fetchLimits.bodyBytes + 1;
    internet.answer = (_request, response) => response.end(Buffer.alloc(size, 0xff));
    assert.match(await refusal(get('http://api.example.org/', ['api.example.org'])), /^too-large/);
    size = fetchLimits.bodyBytes;
    const { body } = await get('http://api.example.org/', ['api.example.org']);
    assert.equal(body.encoding, 'base64');
    assert.equal(Buffer.from(body.content, 'base64').length, size);
  });

  it('[PLUG-11] an answer that does not come in time, and one that nobody waits for, end', async () => {
    internet.answer = () => undefined;
    const late = get('http://api.example.org/', ['api.example.org'], {}, { timeoutMs: 50 });
    assert.match(await refusal(late), /^timeout/);
    const controller = new AbortController();
    const cancelled = get('http://api.example.org/', ['api.example.org'], {}, { signal: controller.signal });
    setImmediate(() => controller.abort());
    assert.match(await refusal(cancelled), /^cancelled/);
    assert.deepEqual(
      records.map(({ verdict }) => verdict),
      ['failed', 'failed'],
    );
  });

  it('[PLUG-08] a list that can’t be read lets nothing through', async () => {
    for (const host of ['*', '', 'http://x', '10.0.0.0/8', '*.*'])
      assert.match(await refusal(get('http://api.example.org/', ['api.example.org', host])), /^not-allowed/);
    assert.deepEqual(internet.seen, []);
  });
});
