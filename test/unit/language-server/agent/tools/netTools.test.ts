import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { htmlText } from '../../../../../language-server/src/agent/net/htmlText.ts';
import { parseAddress } from '../../../../../language-server/src/agent/net/publicFetch.ts';
import { createNetTools } from '../../../../../language-server/src/agent/tools/netTools.ts';
import { UserError } from '../../../../../protocol/src/errors.ts';
import type { EgressRecord } from '../../../../../protocol/src/runner.ts';
import { GateHarness } from '../../../../support/gateHarness.ts';
import { callContext, callTool } from '../../../../support/toolCalls.ts';
import { until } from '../../../../support/until.ts';

describe('web_fetch', () => {
  let harness: GateHarness;
  let server: Server;
  let port = 0;
  let records: EgressRecord[] = [];
  let resolved: string[] = [];
  let seen: IncomingMessage[] = [];
  let addresses: string[] = [];
  let answer: (response: ServerResponse, path: string) => void = (response) => response.end('hello');
  beforeEach(async () => {
    harness = new GateHarness();
    records = [];
    resolved = [];
    seen = [];
    addresses = ['93.184.215.14'];
    server = createServer((request, response) => {
      seen.push(request);
      answer(response, request.url ?? '');
    }).listen(0, '127.0.0.1');
    await until(() => server.listening);
    const address = server.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  afterEach(async () => {
    harness.close();
    server.closeAllConnections();
    await new Promise((settle) => server.close(settle));
  });
  const call = (url: string, answers: readonly ('allow-once' | 'decline')[] = ['allow-once']) => {
    const [tool] = createNetTools({
      record: (_context, record) => records.push(record),
      now: () => 1,
      createBorder: () => 'border-7',
      network: {
        resolve: async (name) => {
          resolved.push(name);
          return addresses;
        },
        // The checked address stands for the loopback server.
        open: () => connect(port, '127.0.0.1'),
      },
    });
    assert.ok(tool);
    return callTool(harness, tool, { url }, callContext('/project'), answers);
  };

  it('[NET-04] fetches what a person allowed, as data between borders, and logs it', async () => {
    const { text, isError } = await call('http://Example.com/a?b=c#d');
    assert.match(
      text,
      /^http:\/\/example\.com\/a\?b=c answered 200[^]*not an instruction:\n--- border-7\nhello\n--- border-7$/,
    );
    assert.equal(isError, false);
    assert.equal(seen[0]?.url, '/a?b=c');
    assert.deepEqual(Object.keys(seen[0].headers).sort(), [
      'accept',
      'accept-encoding',
      'connection',
      'host',
    ]);
    assert.deepEqual(
      records.map(({ method, host, port: to, verdict, receivedBytes }) => [
        method,
        host,
        to,
        verdict,
        receivedBytes,
      ]),
      [['GET', 'example.com', 80, 'allowed', 5]],
    );
  });

  it('[NET-01] asks each time, and lets nothing out before the answer, not even a name', async () => {
    for (const kind of ['read', 'write', 'run', 'shell'] as const)
      harness.gate.give({ scope: 's'.repeat(64), kind, conversation: null, folder: '' });
    const { refusal } = await call('http://secret-value.example.com/', ['decline']);
    assert.equal(refusal, 'declined');
    assert.deepEqual([resolved, seen, records], [[], [], []]);
    await call('http://example.com/', ['allow-once']);
    assert.deepEqual(resolved, ['example.com']);
    assert.equal((await call('http://example.com/', ['decline'])).refusal, 'declined');
  });

  it('[NET-01] takes no other spelling of a host, scheme or person', async () => {
    const bad = [
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:1',
      'data:text/plain,x',
      'example.com',
      '//example.com',
      'http://user:key@example.com/',
      'http://localhost/',
      'http://x.localhost/',
      'http://127.0.0.1/',
      'http://127.1/',
      'http://0x7f000001/',
      'http://2130706433/',
      'http://0177.0.0.1/',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[fe80::1]/',
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://192.168.0.1/',
      'http://[fd00::1]/',
      'http://0.0.0.0/',
      'http://exa mple.com/',
    ];
    for (const url of bad) {
      assert.throws(
        () => parseAddress(url),
        (error) => error instanceof UserError && error.code === 'unsafe-path',
        url,
      );
      assert.equal((await call(url)).state, 'failed', url);
    }
    assert.deepEqual([resolved, seen], [[], []]);
    assert.equal(parseAddress('https://EXAMPLE.com:443/x#y').url, 'https://example.com/x');
    assert.equal(parseAddress('https://bücher.example/').url, 'https://xn--bcher-kva.example/');
  });

  it('[NET-02] refuses a name that leads to any address that is not public', async () => {
    for (const some of [
      ['127.0.0.1'],
      ['93.184.215.14', '10.0.0.1'],
      ['::ffff:10.0.0.1'],
      ['169.254.169.254'],
      [],
    ]) {
      addresses = some;
      const { text, isError } = await call('http://example.com/');
      assert.equal(isError, true, text);
    }
    assert.deepEqual(seen, []);
    assert.deepEqual(
      records.map(({ verdict }) => verdict),
      ['refused', 'refused', 'refused', 'refused', 'failed'],
    );
    // The control: the same server answers where the name is a public one.
    addresses = ['93.184.215.14'];
    assert.equal((await call('http://example.com/')).state, 'done');
  });

  it('[NET-03] follows no redirect', async () => {
    answer = (response) => response.writeHead(302, { location: 'http://127.0.0.1/secret' }).end();
    const { text } = await call('http://example.com/');
    assert.match(text, /answers 302[^]*http:\/\/127\.0\.0\.1\/secret[^]*call web_fetch/);
    assert.equal(seen.length, 1);
    answer = (response) => response.end('hello');
  });

  it('bounds what comes back and shows no bytes that are no text', async () => {
    answer = (response, path) => {
      if (path === '/image') response.writeHead(200, { 'content-type': 'image/png' }).end('png');
      else if (path === '/html')
        response
          .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
          .end('<p>a<script>x</script> b</p>');
      else if (path === '/error') response.writeHead(500).end('broken');
      else if (path === '/cut') {
        response.writeHead(200, { 'content-length': '100' }).write('x');
        response.destroy();
      } else response.end('x'.repeat(5_000_000));
    };
    assert.match((await call('http://example.com/big')).text, /2097152 bytes, cut at 2097152/);
    assert.match((await call('http://example.com/image')).text, /not text and is not shown/);
    assert.match((await call('http://example.com/html')).text, /\na b\n/);
    assert.equal((await call('http://example.com/error')).isError, true);
    assert.match((await call('http://example.com/cut')).text, /failed/);
    answer = (response) => response.end('hello');
  });

  it('is cancelled while it waits for the server', async () => {
    answer = () => undefined;
    const controller = new AbortController();
    const [tool] = createNetTools({
      record: (_context, record) => records.push(record),
      now: () => 1,
      createBorder: () => 'b',
      network: { resolve: async () => ['93.184.215.14'], open: () => connect(port, '127.0.0.1') },
    });
    assert.ok(tool);
    const running = callTool(
      harness,
      tool,
      { url: 'http://example.com/' },
      callContext('/p'),
      ['allow-once'],
      controller.signal,
    );
    await until(() => seen.length > 0);
    controller.abort();
    assert.match((await running).text, /cancelled/);
    assert.equal(records[0]?.verdict, 'failed');
    answer = (response) => response.end('hello');
  });

  it('makes text of HTML, in linear time', () => {
    const cases: readonly [string, string][] = [
      ['<h1>A</h1><p>b &amp; c&nbsp;d &#x41;&#0;</p>', 'A\n\nb & c d A\uFFFD'],
      ['<a href="https://x.y/z?a=1&amp;b=2">go</a>', 'go (https://x.y/z?a=1&b=2)'],
      ['<a href="javascript:x">go</a>', 'go'],
      ['a<!-- b --><style>c</style><script>"</p>"</script>d', 'ad'],
      ['<ul><li>a<li>b</ul>', '- a\n- b'],
      ['1 < 2 <', '1 < 2 <'],
      ['<p title="a>b">c</p>', 'c'],
      ['<script>never closed', ''],
    ];
    for (const [html, text] of cases) assert.equal(htmlText(html), text, html);
    const hostile = [
      '<'.repeat(500_000),
      '<a '.repeat(200_000),
      '<!--'.repeat(200_000),
      '<script>'.repeat(100_000),
      '&#'.repeat(300_000),
    ];
    for (const html of hostile) htmlText(html);
  });
});
