import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpsRequest, Agent } from 'node:https';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { EgressRecord } from '../../../protocol/src/runner.ts';
import { createScrubber, removedMark } from '../../../protocol/src/scrub/scrubber.ts';
import type { VaultUse } from '../../../protocol/src/vault.ts';
import { createEgressProxy, type EgressProxy } from '../../../remote-agent/src/egress.ts';
import type { EgressNetwork } from '../../../remote-agent/src/egressDial.ts';
import { parseTarget } from '../../../remote-agent/src/egressRules.ts';
import { createJobAuthority, type JobAuthority } from '../../../remote-agent/src/vault/jobAuthority.ts';
import type { Injection } from '../../../remote-agent/src/vault/injection.ts';
import { createTrust } from '../../../remote-agent/src/vault/trust.ts';
import { exchange, openTunnel } from '../../support/proxyClient.ts';
import {
  createTestAuthority,
  echo,
  openSecureOrigin,
  type Answer,
  type SecureOrigin,
} from '../../support/secureOrigin.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';

const token = 'tok-9f4/Secret+Value==7';
const host = 'api.test';

type HostUse = Extract<VaultUse, { hosts: readonly string[] }>;
const bearer: HostUse = { kind: 'header', hosts: [host], name: 'Authorization', prefix: 'Bearer ' };

describe('the egress proxy with a vault value', () => {
  const temporary = useTemporaryFolder();
  let servers: JobAuthority;
  let job: JobAuthority;
  let origin: SecureOrigin;
  let answer: Answer;
  let plain: Server | undefined;
  let proxy: EgressProxy | undefined;
  let records: EgressRecord[];
  let ports: Map<string, number>;
  let sockets: Socket[];

  beforeEach(async () => {
    [servers, job, answer, records, sockets] = [
      createTestAuthority(),
      createJobAuthority(Date.now(), 60_000),
      echo,
      [],
      [],
    ];
    origin = await openSecureOrigin(servers, (...asked) => answer(...asked), host);
    ports = new Map([[`${host}:443`, origin.port]]);
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await proxy?.close();
    await origin.close();
    if (plain) await once(plain.close(), 'close');
    [proxy, plain] = [undefined, undefined];
  });

  /** Every name is public, and leads to the server that `ports` has for it. */
  const networkFor = (): EgressNetwork => {
    let last = '';
    return {
      resolve: async (name) => {
        last = name;
        return ['93.184.216.34'];
      },
      open: (addresses, port) => {
        const known = ports.get(`${last}:${port}`) ?? ports.get(`${addresses[0] ?? ''}:${port}`) ?? 1;
        return connect({ host: '127.0.0.1', port: known, allowHalfOpen: true });
      },
    };
  };

  const start = async (
    uses: readonly HostUse[] = [bearer],
    hosts: readonly string[] = [host, 'other.test', '127.0.0.1:8080'],
  ) => {
    const injections: Injection[] = uses.map((use) => ({
      label: 'api.token',
      use,
      value: token,
      targets: use.hosts.map((each) => parseTarget(each, 443)!),
    }));
    proxy = createEgressProxy({
      jobId: 'job-1',
      hosts,
      onRecord: (record) => records.push(record),
      network: networkFor(),
      vault: {
        values: { injections, scrubber: createScrubber([token]) },
        authority: job,
        trust: () => createTrust(servers.certificatePem),
      },
    });
    await proxy.listen({ path: join(temporary(), 'proxy') });
  };

  /** A TLS connection of the card through the proxy, trusting only the job's authority. */
  const tunnel = async (authority = `${host}:443`, ca = job.certificatePem): Promise<Socket> => {
    const socket = await openTunnel(join(temporary(), 'proxy'), authority);
    assert.ok(typeof socket !== 'string', typeof socket === 'string' ? socket : '');
    sockets.push(socket);
    const name = authority.replace(/:[0-9]+$/, '');
    const secure = connectTls({ socket, servername: name, ca, ALPNProtocols: ['h2', 'http/1.1'] });
    sockets.push(secure);
    await once(secure, 'secureConnect');
    return secure;
  };

  const ask = async (options: RequestOptions & { body?: string } = {}, over?: Socket) => {
    const socket = over ?? (await tunnel());
    const request = httpRequest({
      ...options,
      createConnection: () => socket,
      host,
      defaultPort: 80,
      path: options.path ?? '/',
    });
    request.end(options.body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    response.setEncoding('latin1').on('data', (part: string) => (text += part));
    await once(response, 'end');
    return { response, text };
  };

  const raw = async (text: string, over?: Socket): Promise<string> => {
    const socket = over ?? (await tunnel());
    let all = '';
    socket.setEncoding('latin1').on('data', (part: string) => (all += part));
    socket.on('error', () => undefined);
    socket.write(text, 'latin1');
    await once(socket, 'close');
    return all;
  };

  const sent = (name: string) =>
    origin.seen.map(({ headers }) =>
      headers.filter((_value, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name.toLowerCase()),
    );

  it('[VAULTUSE-03] adds the value on the way out, to a server that it has verified', async () => {
    await start();
    const { text, response } = await ask({ headers: { 'x-own': '1' } });
    assert.deepEqual(sent('authorization'), [[`Bearer ${token}`]]);
    assert.deepEqual(sent('host'), [[host]]);
    assert.equal(response.statusCode, 200);
    assert.ok(!text.includes(token));
    await until(() => records.length === 2);
    assert.deepEqual(records.map(({ method, verdict, reason }) => [method, verdict, reason]).sort(), [
      ['CONNECT', 'allowed', `rule ${host}; opened here for a vault value`],
      ['GET', 'allowed', `rule ${host}; put in: api.token`],
    ]);
    assert.ok(!JSON.stringify(records).includes('tok-9f4'));
  });

  it('[VAULTUSE-03] refuses a server whose certificate does not hold, before anything is sent', async () => {
    const stranger = await openSecureOrigin(createTestAuthority(), echo, host);
    const misnamed = await openSecureOrigin(servers, echo, 'else.test');
    try {
      for (const bad of [stranger, misnamed]) {
        ports.set(`${host}:443`, bad.port);
        await start();
        const { response, text } = await ask();
        assert.equal(response.statusCode, 502);
        assert.match(text, /could not be verified/);
        assert.deepEqual(bad.seen, []);
        await proxy?.close();
      }
    } finally {
      await Promise.all([stranger.close(), misnamed.close()]);
    }
  });

  const uses: readonly {
    readonly use: HostUse;
    readonly path: string;
    readonly headers: string[];
    readonly line: string;
    readonly authorization: string[];
  }[] = [
    {
      use: { kind: 'basic', hosts: [host], user: 'git' },
      path: '/a',
      headers: ['Authorization', 'Basic own', 'AUTHORIZATION', 'x'],
      line: 'GET /a',
      authorization: [`Basic ${Buffer.from(`git:${token}`).toString('base64')}`],
    },
    {
      use: { kind: 'query', hosts: [host], name: 'key' },
      path: '/a?x=1&key=mine&%6bey=mine;k%65y=mine&y=2',
      headers: [],
      line: `GET /a?x=1&y=2&key=${encodeURIComponent(token)}`,
      authorization: [],
    },
    {
      use: bearer,
      path: '/a?b=c',
      headers: ['authorization', 'a', 'Authorization', 'b', 'AUTHORIZATION', 'c'],
      line: 'GET /a?b=c',
      authorization: [`Bearer ${token}`],
    },
  ];
  for (const { use, path, headers, line, authorization } of uses) {
    it(`[VAULTUSE-03] replaces what the card wrote in the same place: ${use.kind}`, async () => {
      await start([use]);
      await raw(
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers.map((each, at) => each + (at % 2 ? '\r\n' : ': ')).join('')}\r\n`,
      );
      assert.equal(origin.seen[0]?.line, line);
      assert.deepEqual(sent('authorization'), [authorization]);
    });
  }

  it('[VAULTUSE-04] takes the value out of everything that comes back', async () => {
    await start();
    answer = (request, response) => {
      const echoed = request.headers.authorization ?? '';
      response.writeHead(200, `OK ${echoed}`, {
        'x-echo': echoed,
        'set-cookie': [`a=${encodeURIComponent(echoed)}`],
        location: `https://${host}/?k=${Buffer.from(echoed).toString('base64url')}`,
      });
      response.write(echoed.slice(0, 12));
      setImmediate(() => response.end(`${echoed.slice(12)} ${Buffer.from(`x${token}`).toString('hex')}`));
    };
    const { response, text } = await ask();
    const all = `${response.statusMessage ?? ''}\n${response.rawHeaders.join('\n')}\n${text}`;
    for (const rest of [
      'tok-9f4',
      'Secret',
      Buffer.from('Secret').toString('hex'),
      Buffer.from('ret').toString('base64'),
    ]) {
      assert.ok(!all.includes(rest), `${rest} in ${all}`);
    }
    assert.equal(text, `Bearer ${removedMark} 78${removedMark}`);
  });

  it('[VAULTUSE-04] asks for no encoding and no part, and refuses an answer that comes packed all the same', async () => {
    await start();
    answer = (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(token));
    const { response, text } = await ask({
      headers: { 'accept-encoding': 'gzip', range: 'bytes=3-5', 'if-range': 'x' },
    });
    assert.deepEqual(
      [sent('accept-encoding'), sent('range'), sent('if-range')],
      [[['identity']], [[]], [[]]],
    );
    assert.equal(response.statusCode, 403);
    assert.match(text, /encoded \(gzip\)/);
  });

  it('[VAULTUSE-05] goes to the listed host and port alone', async () => {
    await start([bearer], [host, `${host}:8443`, 'other.test', 'evil-api.test']);
    const other = await openSecureOrigin(servers, echo, 'other.test');
    const samePort = await openSecureOrigin(servers, echo, host);
    ports.set('other.test:443', other.port).set(`${host}:8443`, samePort.port);
    try {
      // Their own certificates come through: those tunnels are not opened.
      for (const authority of ['other.test:443', `${host}:8443`]) {
        const { text } = await ask({}, await tunnel(authority, servers.certificatePem));
        assert.ok(!text.includes(token) && !/authorization/i.test(text), text);
      }
      // Negative control: the listed one gets it.
      await ask();
      assert.equal(sent('authorization').flat().length, 1);
    } finally {
      await Promise.all([other.close(), samePort.close()]);
    }
  });

  it('[VAULTUSE-05] does not go along with a redirect', async () => {
    await start();
    const other = await openSecureOrigin(servers, echo, 'other.test');
    ports.set('other.test:443', other.port);
    answer = (_request, response) => response.writeHead(302, { location: 'https://other.test/' }).end();
    try {
      const { response } = await ask();
      assert.equal(response.headers.location, 'https://other.test/');
      await ask({}, await tunnel('other.test:443', servers.certificatePem));
      assert.ok(other.seen.every(({ headers }) => !headers.join().includes(token)));
    } finally {
      await other.close();
    }
  });

  const refused: Readonly<Record<string, string>> = {
    'another Host': `GET / HTTP/1.1\r\nHost: other.test\r\n\r\n`,
    'two Hosts': `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: other.test\r\n\r\n`,
    'no Host': 'GET / HTTP/1.1\r\n\r\n',
    'another address in the line': `GET https://other.test/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    'a length beside chunks': `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n`,
    'two lengths': `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nContent-Length: 30\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n`,
    'an odd encoding': `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'a folded header': `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\r\n Authorization: b\r\n\r\n`,
    'a header with a blank before its colon': `GET / HTTP/1.1\r\nHost: ${host}\r\nAuthorization : b\r\n\r\n`,
    'a bare line feed in a header': `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\nAuthorization: b\r\n\r\n`,
    'a web socket': `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    'HTTP/2 by upgrade': `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n`,
    'HTTP/2 at once': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    TRACE: `TRACE / HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    'a tunnel in the tunnel': `CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n`,
    'an asterisk': `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  };
  for (const [name, text] of Object.entries(refused)) {
    it(`[VAULTUSE-06] refuses ${name}`, async () => {
      await start();
      const back = await raw(text);
      assert.deepEqual(origin.seen, [], back);
      assert.ok(!back.startsWith('HTTP/1.1 2'), back);
    });
  }

  it('[VAULTUSE-06] passes HTTP/1.0, chunks, 100-continue and many requests on one connection', async () => {
    await start();
    const old = await raw(`GET /old HTTP/1.0\r\nHost: ${host}\r\n\r\n`);
    assert.match(old, /^HTTP\/1\.1 200/);
    assert.ok(!/transfer-encoding/i.test(old), 'HTTP/1.0 knows no chunks');
    const socket = await tunnel();
    const many = await raw(
      `POST /one HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n` +
        `POST /two HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nxyz` +
        `GET /three HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      socket,
    );
    assert.deepEqual(
      origin.seen.map(({ line, body }) => [line, body]),
      [
        ['GET /old', ''],
        ['POST /one', 'abcde'],
        ['POST /two', 'xyz'],
        ['GET /three', ''],
      ],
    );
    assert.deepEqual(
      sent('authorization').flat(),
      Array.from({ length: 4 }, () => `Bearer ${token}`),
    );
    assert.equal(many.match(/HTTP\/1\.1 200/g)?.length, 3);
    assert.ok(!many.includes(token));
    // The connection to the server is used again within one connection of the card.
    assert.equal(origin.connections(), 2);
  });

  it('closes the connection of a card that sends ahead more than can wait', async () => {
    await start();
    let answerAll: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (answerAll = resolve));
    answer = (_request, response) => void held.then(() => response.end('late'));
    const socket = await tunnel();
    const closed = once(socket, 'close');
    socket.on('error', () => undefined);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(200));
    await closed;
    answerAll?.();
  });

  it('sends a safe request once more where the server had just closed the connection', async () => {
    await start();
    const socket = await tunnel();
    const ends: (() => void)[] = [];
    answer = (request, response) => {
      ends.push(() => request.socket.destroy());
      response.end('answered');
    };
    let all = '';
    socket.setEncoding('latin1').on('data', (part: string) => (all += part));
    const askOnce = async (count: number) => {
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await until(() => all.split('\r\n0\r\n\r\n').length === count + 1);
    };
    await askOnce(1);
    // The next request meets a connection that is gone, whether or not the proxy has heard of it.
    ends[0]?.();
    await askOnce(2);
    assert.equal(origin.connections(), 2);
  });

  it('keeps a HEAD and a 304 as they are', async () => {
    await start();
    answer = (request, response) => {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '1234' }).end();
      else response.writeHead(304, { etag: '"x"' }).end();
    };
    assert.equal((await ask({ method: 'HEAD' })).response.headers['content-length'], '1234');
    assert.equal((await ask()).response.statusCode, 304);
  });

  it('gives out what a server streams in its pauses', async () => {
    await start();
    let more: (() => void) | undefined;
    answer = (_request, response) => {
      response.write('data: 1 t');
      more = () => response.end('\n');
    };
    const socket = await tunnel();
    let all = '';
    socket.setEncoding('latin1').on('data', (part: string) => (all += part));
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await until(() => all.includes('data: 1 ') && /t\r\n/.test(all.slice(all.indexOf('data: 1'))));
    more?.();
  });

  it('ends a card that never finishes its greeting, and everything with the job', async () => {
    await start();
    const socket = await openTunnel(join(temporary(), 'proxy'), `${host}:443`);
    assert.ok(typeof socket !== 'string');
    sockets.push(socket);
    const open = await tunnel();
    const closed = Promise.all([once(socket, 'close'), once(open, 'close')]);
    for (const each of [socket, open]) each.on('error', () => undefined);
    await proxy?.close();
    await closed;
  });

  it('[VAULTUSE-05] carries a value over plain HTTP only on loopback', async () => {
    const asked: (string | undefined)[] = [];
    plain = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.end(request.headers.authorization ?? 'none');
    });
    await once(plain.listen(0, '127.0.0.1'), 'listening');
    const { port } = plain.address() as AddressInfo;
    ports.set('127.0.0.1:8080', port).set(`${host}:80`, port);
    await start([{ ...bearer, hosts: [`${host}:80`, '127.0.0.1:8080'] }], [`${host}:80`, '127.0.0.1:8080']);
    const plainly = (authority: string) =>
      exchange(
        join(temporary(), 'proxy'),
        `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`,
      );
    assert.match(await plainly(`${host}:80`), /none$/);
    assert.ok(!(await plainly('127.0.0.1:8080')).includes(token));
    assert.deepEqual(asked, [undefined, `Bearer ${token}`]);
  });

  it('shows what the same server gives away where nothing is taken out', async () => {
    // Negative control: the value did go there, and the echo does hold it.
    await start();
    await ask();
    const agent = new Agent({ ca: servers.certificatePem });
    const request = httpsRequest({
      agent,
      host: '127.0.0.1',
      port: origin.port,
      servername: host,
      headers: { authorization: `Bearer ${token}` },
    });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => (text += part));
    await once(response, 'end');
    agent.destroy();
    assert.ok(text.includes(token));
  });
});
