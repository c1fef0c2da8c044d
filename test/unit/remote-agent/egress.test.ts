import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import type { EgressRecord } from '../../../protocol/src/runner.ts';
import { createEgressProxy, type EgressBounds, type EgressProxy } from '../../../remote-agent/src/egress.ts';
import { systemNetwork, type EgressNetwork } from '../../../remote-agent/src/egressDial.ts';
import { exchange, openTunnel } from '../../support/proxyClient.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';

const publicAddress = '93.184.216.34';

describe('egress', () => {
  const temporary = useTemporaryFolder();
  let origin: Server;
  let echo: ReturnType<typeof createTcpServer>;
  let seen: { line: string; headers: string[]; body: string }[];
  let answer: (request: IncomingMessage) => { status: number; headers?: string[]; body?: string };
  let records: EgressRecord[];
  let resolved: string[];
  let opened: string[];
  let names: Record<string, string[][]>;
  let proxy: EgressProxy | undefined;
  let clients: Socket[];

  const portOf = (server: { address(): AddressInfo | string | null }): number =>
    (server.address() as AddressInfo).port;

  /** Names resolve from `names`, one list for each time; port 443 of any address is the echo, others the origin. */
  const network: EgressNetwork = {
    async resolve(name) {
      resolved.push(name);
      const lists = names[name];
      if (!lists) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      return (lists.length > 1 ? lists.shift() : lists[0]) ?? [];
    },
    open(addresses, port) {
      opened.push(`${addresses.join()}:${port}`);
      return connect({ host: '127.0.0.1', port: portOf(port === 443 ? echo : origin), allowHalfOpen: true });
    },
  };

  beforeEach(async () => {
    [seen, records, resolved, opened, clients] = [[], [], [], [], []];
    names = {
      'allowed.com': [[publicAddress]],
      'inside.com': [['10.0.0.1']],
      'both.com': [[publicAddress, '::1']],
    };
    answer = () => ({ status: 200, body: 'hello' });
    origin = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        seen.push({
          line: `${request.method ?? ''} ${request.url ?? ''}`,
          headers: request.rawHeaders,
          body,
        });
        const { status, headers = [], body: content = '' } = answer(request);
        response.writeHead(status, headers).end(content);
      });
    }).listen(0, '127.0.0.1');
    echo = createTcpServer({ allowHalfOpen: true }, (socket) =>
      socket.pipe(socket).on('error', () => undefined),
    );
    echo.listen(0, '127.0.0.1');
    await Promise.all([once(origin, 'listening'), once(echo, 'listening')]);
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    await proxy?.close();
    proxy = undefined;
    origin.closeAllConnections();
    await Promise.all([once(origin.close(), 'close'), once(echo.close(), 'close')]);
  });

  const start = async (hosts: string[], bounds: Partial<EgressBounds> = {}): Promise<string> => {
    const path = join(temporary(), 'proxy.sock');
    proxy = createEgressProxy({
      jobId: 'job-1',
      hosts,
      onRecord: (record) => records.push(record),
      network,
      now: () => 1_700_000_000_000,
      bounds,
    });
    await proxy.listen({ path });
    return path;
  };
  const get = (url: string, more = '', host = new URL(url).host): string =>
    `GET ${url} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;
  const tunnelTo = async (path: string, authority: string): Promise<Socket> => {
    const tunnel = await openTunnel(path, authority);
    if (typeof tunnel === 'string') assert.fail(tunnel);
    clients.push(tunnel);
    return tunnel;
  };
  /** The record of an answered request may come a moment after its answer. */
  const recorded = async (count: number): Promise<void> => {
    await until(() => records.length >= count);
    assert.equal(records.length, count, JSON.stringify(records));
  };
  const only = async (): Promise<EgressRecord> => {
    await recorded(1);
    return records[0]!;
  };

  describe('a plain request', () => {
    it('[EGRESS-06] goes through and is recorded', async () => {
      const path = await start(['allowed.com']);
      const got = await exchange(path, get('http://allowed.com/a?b=c'));
      assert.match(got, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n/);
      assert.match(got, /hello/);
      assert.equal(seen[0]?.line, 'GET /a?b=c');
      const { sentBytes, receivedBytes, address, ...record } = await only();
      assert.deepEqual(record, {
        jobId: 'job-1',
        at: 1_700_000_000_000,
        method: 'GET',
        host: 'allowed.com',
        port: 80,
        verdict: 'allowed',
        reason: 'rule allowed.com',
      });
      assert.equal(address, '127.0.0.1');
      assert.ok(sentBytes > 50 && receivedBytes > 50);
    });

    it('carries a body both ways, by length and by chunks', async () => {
      const path = await start(['allowed.com']);
      answer = () => ({ status: 201, body: 'x'.repeat(300_000) });
      const head = 'POST http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\nConnection: close\r\n';
      const one = await exchange(path, `${head}Content-Length: 5\r\n\r\nhello`);
      const two = await exchange(
        path,
        `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`,
      );
      for (const got of [one, two]) assert.ok(got.length > 300_000);
      assert.deepEqual(
        seen.map(({ body }) => body),
        ['hello', 'hello'],
      );
    });

    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST']) {
      it(`[EGRESS-05] by ${method} frames its body, so that no second request hides in it`, async () => {
        const path = await start(['allowed.com']);
        const hidden = 'GET /hidden HTTP/1.1\r\nHost: other.allowed.com\r\n\r\n';
        const head = `${method} http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\nConnection: close\r\n`;
        const size = hidden.length.toString(16);
        await exchange(path, `${head}Transfer-Encoding: chunked\r\n\r\n${size}\r\n${hidden}\r\n0\r\n\r\n`);
        await exchange(path, `${head}Content-Length: ${hidden.length}\r\n\r\n${hidden}`);
        assert.deepEqual(
          seen.map(({ line, body }) => [line, body]),
          Array.from({ length: 2 }, () => [`${method} /`, hidden]),
        );
      });
    }

    it('[EGRESS-05] keeps the headers of the connection to itself, both ways', async () => {
      const path = await start(['allowed.com']);
      answer = () => ({
        status: 200,
        headers: [
          'Connection',
          'X-Private',
          'X-Private',
          '1',
          'Proxy-Authenticate',
          'Basic',
          'X-Public',
          '2',
        ],
      });
      const more = 'Proxy-Authorization: Basic eA==\r\nConnection: X-Mine\r\nX-Mine: 1\r\nX-Own: 2\r\n';
      const got = await exchange(path, get('http://allowed.com/', more));
      const names = seen[0]!.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      assert.deepEqual(names.sort(), ['connection', 'host', 'x-own']);
      assert.match(got, /X-Public: 2/);
      assert.doesNotMatch(got, /X-Private: 1|Proxy-Authenticate/);
    });

    it('names the host itself to the far side, whatever spelling was sent', async () => {
      const path = await start(['allowed.com:8080']);
      await exchange(path, 'GET http://ALLOWED.com.:8080/ HTTP/1.0\r\n\r\n');
      const { headers } = seen[0]!;
      assert.equal(headers[headers.indexOf('Host') + 1], 'allowed.com:8080');
    });

    it('[EGRESS-04] is looked at anew when it follows another on one connection', async () => {
      const path = await start(['allowed.com']);
      const [first, second] = ['http://allowed.com/1', 'http://evil.com/2'].map((url) =>
        get(url).replace('Connection: close\r\n', ''),
      );
      const got = await exchange(path, `${first}${second}`);
      assert.deepEqual(got.match(/HTTP\/1\.1 [0-9]{3}/g), ['HTTP/1.1 200', 'HTTP/1.1 403']);
      assert.deepEqual(
        seen.map(({ line }) => line),
        ['GET /1'],
      );
    });

    it('[EGRESS-04] that follows a redirect is looked at like any other', async () => {
      const path = await start(['allowed.com']);
      answer = () => ({ status: 302, headers: ['Location', 'http://169.254.169.254/latest/meta-data'] });
      const got = await exchange(path, get('http://allowed.com/'));
      const location = /Location: (.*)\r\n/.exec(got)![1]!;
      assert.match(await exchange(path, get(location)), /^HTTP\/1\.1 403 /);
      await recorded(2);
      assert.deepEqual(
        records.map(({ host, verdict }) => `${host} ${verdict}`),
        ['allowed.com allowed', '169.254.169.254 refused'],
      );
      assert.equal(opened.length, 1);
    });

    it('tells of an answer that breaks off or is none', async () => {
      const path = await start(['allowed.com']);
      answer = () => {
        origin.closeAllConnections();
        return { status: 200 };
      };
      assert.match(await exchange(path, get('http://allowed.com/')), /^HTTP\/1\.1 502 /);
      assert.equal((await only()).verdict, 'failed');
    });

    it('[EGRESS-05] takes no other protocol from the far side', async () => {
      const path = await start(['allowed.com']);
      origin.removeAllListeners('request');
      origin.on('request', (request) => {
        request.socket.end(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nfree bytes',
        );
      });
      const got = await exchange(path, get('http://allowed.com/'));
      assert.match(got, /^HTTP\/1\.1 502 /);
      assert.doesNotMatch(got, /free bytes/);
    });
  });

  describe('a tunnel', () => {
    it('[EGRESS-06] carries bytes both ways, ends by halves, and is recorded at its end', async () => {
      const path = await start(['allowed.com']);
      const tunnel = await tunnelTo(path, 'allowed.com:443');
      let got = 0;
      tunnel.on('data', (part: Buffer) => (got += part.length));
      tunnel.end(Buffer.alloc(1_000_000, 'x'));
      await once(tunnel, 'end');
      assert.equal(got, 1_000_000);
      const { method, verdict, sentBytes, receivedBytes, port } = await only();
      assert.deepEqual(
        [method, verdict, sentBytes, receivedBytes, port],
        ['CONNECT', 'allowed', 1e6, 1e6, 443],
      );
    });

    it('passes on what came along with the request', async () => {
      const path = await start(['allowed.com']);
      const socket = connect(path);
      clients.push(socket);
      socket.write('CONNECT allowed.com:443 HTTP/1.1\r\n\r\nearly');
      let got = '';
      socket.setEncoding('utf8').on('data', (part: string) => (got += part));
      await until(() => got.endsWith('early'));
      assert.match(got, /^HTTP\/1\.1 200 Connection established\r\n\r\nearly$/);
    });

    const refused = [
      'evil.com:443',
      'allowed.com:22',
      'allowed.com',
      '127.0.0.1:443',
      '[::1]:443',
      'http://allowed.com',
    ];
    for (const authority of refused) {
      it(`[EGRESS-01] to ${authority} is refused without a look at its name`, async () => {
        const path = await start(['allowed.com']);
        const got = await exchange(path, `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\nGET /`);
        assert.match(got, /^HTTP\/1\.1 403 /);
        assert.deepEqual([resolved, opened], [[], []]);
        assert.equal((await only()).verdict, 'refused');
      });
    }

    it('[EGRESS-05] with another Host is refused', async () => {
      const path = await start(['allowed.com']);
      const got = await exchange(path, 'CONNECT allowed.com:443 HTTP/1.1\r\nHost: evil.com:443\r\n\r\n');
      assert.match(got, /^HTTP\/1\.1 403 [^]*Host header/);
    });
  });

  describe('a name', () => {
    it('[EGRESS-01] that is not listed is never resolved', async () => {
      const path = await start(['allowed.com']);
      for (const url of ['http://c2VjcmV0.evil.com/', 'http://a.allowed.com/', 'http://inside.com/']) {
        assert.match(await exchange(path, get(url)), /^HTTP\/1\.1 403 /);
      }
      assert.deepEqual(resolved, []);
    });

    it('[EGRESS-02] that leads inside is refused, also where only one of its addresses does', async () => {
      const path = await start(['inside.com', 'both.com']);
      for (const name of ['inside.com', 'both.com']) {
        assert.match(await exchange(path, get(`http://${name}/`)), /^HTTP\/1\.1 403 /);
        const tunnel = await openTunnel(path, `${name}:443`);
        assert.ok(typeof tunnel === 'string' && tunnel.startsWith('HTTP/1.1 403 '));
      }
      assert.deepEqual(opened, []);
      assert.deepEqual(
        records.map(({ address }) => address),
        ['10.0.0.1', '10.0.0.1', `${publicAddress} ::1`, `${publicAddress} ::1`],
      );
      assert.ok(
        records.every(
          ({ verdict, reason }) => verdict === 'refused' && /rule (inside|both)\.com/.test(reason),
        ),
      );
    });

    it('[EGRESS-02] tells the card nothing of the address that was refused', async () => {
      const path = await start(['inside.com']);
      assert.doesNotMatch(await exchange(path, get('http://inside.com/')), /10\.0\.0\.1/);
    });

    it('[EGRESS-02] and its private address are reached where that address is listed', async () => {
      const path = await start(['10.0.0.1']);
      assert.match(await exchange(path, get('http://10.0.0.1/')), /^HTTP\/1\.1 200 /);
      assert.deepEqual([resolved, opened], [[], ['10.0.0.1:80']]);
    });

    it('[EGRESS-03] is resolved once: what it becomes next does not matter', async () => {
      names['rebind.com'] = [[publicAddress], ['127.0.0.1']];
      const path = await start(['rebind.com']);
      assert.match(await exchange(path, get('http://rebind.com/')), /^HTTP\/1\.1 200 /);
      assert.deepEqual([resolved, opened], [['rebind.com'], [`${publicAddress}:80`]]);
      assert.match(
        await exchange(path, get('http://rebind.com/')),
        /^HTTP\/1\.1 403 /,
        'the next one is checked anew',
      );
      assert.equal(opened.length, 1);
    });

    it('[EGRESS-03] is not asked for again by the connection itself', async () => {
      const server = createTcpServer((socket) => socket.end('from loopback')).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const socket = systemNetwork.open(['127.0.0.1'], portOf(server));
      const [data] = (await once(socket, 'data')) as [Buffer];
      assert.equal(data.toString(), 'from loopback');
      assert.equal(socket.remoteAddress, '127.0.0.1');
      socket.destroy();
      await once(server.close(), 'close');
    });

    it('that does not exist is a failure and no refusal', async () => {
      const path = await start(['gone.com']);
      assert.match(await exchange(path, get('http://gone.com/')), /^HTTP\/1\.1 502 [^]*ENOTFOUND/);
      assert.equal((await only()).verdict, 'failed');
    });

    it('is given up on when no answer comes', async () => {
      names['slow.com'] = [[publicAddress]];
      const path = join(temporary(), 'slow.sock');
      proxy = createEgressProxy({
        jobId: 'job-1',
        hosts: ['slow.com'],
        onRecord: (record) => records.push(record),
        network: { ...network, resolve: () => new Promise<string[]>(() => undefined) },
        bounds: { dialMs: 30 },
      });
      await proxy.listen({ path });
      assert.match(await exchange(path, get('http://slow.com/')), /^HTTP\/1\.1 502 [^]*no answer in time/);
    });
  });

  describe('an unclear request', () => {
    const head = 'POST http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\n';
    const smuggled = 'GET http://allowed.com/smuggled HTTP/1.1\r\nHost: allowed.com\r\n\r\n';
    const unclear: Record<string, string> = {
      'two lengths': `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
      'the same length twice': `${head}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
      'a length and chunks': `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      'chunks and a length': `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
      'an unknown encoding': `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      'two encodings': `${head}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'a space before the colon': `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
      'a folded header': `${head}X: a\r\n b\r\n\r\n`,
      'a header that ends in LF alone': `${head}X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'a NUL in a header': `${head}X: a\0b\r\n\r\n`,
      'two hosts': 'GET http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\nHost: evil.com\r\n\r\n',
      'another host': get('http://allowed.com/', '', 'evil.com'),
      'no host': 'GET http://allowed.com/ HTTP/1.1\r\n\r\n',
      'a path alone': 'GET / HTTP/1.1\r\nHost: allowed.com\r\n\r\n',
      'TLS that the proxy would have to open': get('https://allowed.com/'),
      'a WebSocket': get('http://allowed.com/', 'Upgrade: websocket\r\n'),
      'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'a version that is none': 'GET http://allowed.com/ HTTP/9.9\r\nHost: allowed.com\r\n\r\n',
      'a line that is none': 'hello\r\n\r\n',
      'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00',
      'headers without an end': `${head}X: ${'a'.repeat(40_000)}\r\n\r\n`,
    };
    for (const [title, text] of Object.entries(unclear)) {
      it(`[EGRESS-05] with ${title} is refused and recorded`, async () => {
        const path = await start(['allowed.com']);
        assert.match(await exchange(path, text), /^HTTP\/1\.1 4[0-9]{2} /);
        assert.deepEqual(seen, []);
        await until(() => records.length > 0);
        assert.deepEqual([records[0]?.verdict, records[0]?.receivedBytes], ['refused', 0]);
      });
    }

    it('[EGRESS-05] that never ends its headers is given up', async () => {
      const path = await start(['allowed.com'], { headersMs: 1000 });
      const socket = connect(path);
      clients.push(socket);
      socket.write('GET http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\n');
      socket.resume();
      await once(socket, 'close');
      assert.equal((await only()).verdict, 'refused');
    });
  });

  describe('the end', () => {
    it('[EGRESS-07] of the job ends every connection and delivers every record', async () => {
      const path = await start(['allowed.com']);
      answer = () => ({ status: 200 });
      const tunnels = [await tunnelTo(path, 'allowed.com:443'), await tunnelTo(path, 'allowed.com:443')];
      const idle = connect(path);
      clients.push(idle);
      await once(idle, 'connect');
      const closed = [...tunnels, idle].map((socket) => once(socket.resume(), 'close'));
      await proxy!.close();
      assert.equal(records.length, 2);
      await Promise.all(closed);
      await assert.rejects(once(connect(path), 'connect'));
    });

    it('[EGRESS-07] of the job while a name is being resolved lets nothing through afterwards', async () => {
      let answerName: (addresses: string[]) => void = () => undefined;
      const path = join(temporary(), 'late.sock');
      const late = createEgressProxy({
        jobId: 'job-1',
        hosts: ['late.com'],
        onRecord: (record) => records.push(record),
        network: { ...network, resolve: () => new Promise((settle) => (answerName = settle)) },
      });
      await late.listen({ path });
      const asking = exchange(path, get('http://late.com/'));
      await until(() => answerName.length === 1);
      await late.close();
      answerName([publicAddress]);
      await asking;
      assert.deepEqual(opened, []);
      assert.equal((await only()).verdict, 'failed');
    });

    it('of a client ends the connection to the outside', async () => {
      const path = await start(['allowed.com']);
      const tunnel = await tunnelTo(path, 'allowed.com:443');
      tunnel.destroy();
      await until(() => records.length === 1);
      await until(async () => (await connectionsOf(echo)) === 0);
    });

    it('comes by itself where nothing moves', async () => {
      const path = await start(['allowed.com'], { idleMs: 1000 });
      const tunnel = await tunnelTo(path, 'allowed.com:443');
      await once(tunnel.resume(), 'close');
      await until(() => records.length === 1);
    });
  });

  it('[EGRESS-06] records a flood up to its bound, and says at the end that it refused the rest', async () => {
    const path = await start(['allowed.com'], { requests: 5 });
    for (let count = 0; count < 9; count += 1) await exchange(path, get('http://allowed.com/'));
    await recorded(5);
    assert.deepEqual(
      records.map(({ verdict }) => verdict),
      [...Array<string>(4).fill('allowed'), 'refused'],
    );
    assert.match(records.at(-1)!.reason, /all further ones are refused/);
    assert.equal(seen.length, 4);
  });

  it('[EGRESS-06] bounds the records of requests that cannot be read, too', async () => {
    const path = await start(['allowed.com'], { requests: 3 });
    const unread = [
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      'nonsense\r\n\r\n',
      'CONNECT a HTTP/1.1\r\n\r\n',
    ];
    for (const text of [...unread, ...unread]) await exchange(path, text);
    await recorded(3);
    assert.match(records[0]!.reason, /: \/$/);
  });

  it('[EGRESS-06] serves many at once and forgets none', async () => {
    const path = await start(['allowed.com']);
    const urls = Array.from(
      { length: 100 },
      (_, index) => `http://${index % 2 ? 'allowed' : 'evil'}.com/${index}`,
    );
    const answers = await Promise.all(urls.map((url) => exchange(path, get(url))));
    assert.deepEqual(
      answers.map((text) => text.slice(9, 12)),
      urls.map((_, index) => (index % 2 ? '200' : '403')),
    );
    await recorded(100);
    assert.equal(seen.length, 50);
  });

  it('[EGRESS-01] reaches nothing else and stays up, whatever is sent to it', async () => {
    const path = await start(['allowed.com'], { headersMs: 200, idleMs: 200, requests: 1_000_000 });
    const piece = fc.constantFrom(
      ...[
        'GET ',
        'POST ',
        'CONNECT ',
        'PRI ',
        'http://',
        'https://',
        'allowed.com',
        'evil.com',
        '127.0.0.1',
        '[::1]',
      ],
      ...[
        ':80',
        ':443',
        ':0',
        '@',
        '/',
        ' ',
        ' HTTP/1.1',
        ' HTTP/1.0',
        '\r\n',
        '\r\n\r\n',
        '\n',
        '\0',
        '\r',
        '\t',
      ],
      ...[
        'Host: allowed.com',
        'Host: evil.com',
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
        '0\r\n\r\n',
      ],
      ...['Connection: close', 'Upgrade: h2c', 'Expect: 100-continue', '\xff', '%00', '#', '?', '\\'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }), async (pieces) => {
        const socket = connect(path);
        clients.push(socket);
        socket.on('error', () => undefined).resume();
        socket.end(pieces.join(''), 'latin1');
        await once(socket, 'close');
      }),
      { numRuns: 300 },
    );
    assert.deepEqual(new Set([...resolved, 'allowed.com']), new Set(['allowed.com']));
    assert.ok(
      opened.every((each) => [`${publicAddress}:80`, `${publicAddress}:443`].includes(each)),
      opened.join(),
    );
    assert.match(await exchange(path, get('http://allowed.com/')), /^HTTP\/1\.1 200 /);
  });

  it('closes without ever having listened, and twice', async () => {
    proxy = createEgressProxy({ jobId: 'job-1', hosts: [], onRecord: () => undefined });
    await proxy.close();
    await proxy.close();
  });

  it('drops connections beyond its bound', async () => {
    const path = await start(['allowed.com'], { connections: 2 });
    const held = [await tunnelTo(path, 'allowed.com:443'), await tunnelTo(path, 'allowed.com:443')];
    const third = connect(path);
    clients.push(third);
    third.on('error', () => undefined).resume();
    await once(third, 'close');
    assert.ok(held.every((socket) => !socket.destroyed));
  });

  it('throws for a host list that cannot be read', () => {
    const options = { jobId: 'job-1', onRecord: () => undefined };
    assert.throws(() => createEgressProxy({ ...options, hosts: ['fine.org', 'http://bad'] }), {
      code: 'bad-message',
    });
  });
});

function connectionsOf(server: ReturnType<typeof createTcpServer>): Promise<number> {
  return new Promise((settle, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : settle(count)));
  });
}
