import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fetchPublic, parseAddress } from '../../../../../language-server/src/agent/net/publicFetch.ts';
import type { EgressRecord } from '../../../../../protocol/src/runner.ts';
import { useTemporaryFolder } from '../../../../support/temporaryFolder.ts';
import { until } from '../../../../support/until.ts';

const openssl = ['/usr/bin/openssl', '/usr/local/bin/openssl'].find((path) => existsSync(path));

describe('requests to the public internet over TLS', () => {
  const folder = useTemporaryFolder();
  let server: Server | undefined;
  let port = 0;
  let certificate = '';
  const records: EgressRecord[] = [];
  beforeEach(async function () {
    if (openssl === undefined) {
      console.log('No openssl: no certificate can be made for this test');
      return this.skip();
    }
    const [key, cert] = [join(folder(), 'key.pem'), join(folder(), 'cert.pem')];
    const subject = ['-subj', '/CN=example.com', '-addext', 'subjectAltName=DNS:example.com'];
    execFileSync(
      openssl,
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        ...subject,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    );
    certificate = readFileSync(cert, 'utf8');
    records.length = 0;
    server = createServer({ key: readFileSync(key), cert: certificate }, (request, response) => {
      response.end(`hello ${request.headers.host ?? ''}`);
    }).listen(0, '127.0.0.1');
    const listening = server;
    await until(() => listening.listening);
    const address = server.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((settle) => (server ? server.close(settle) : settle(undefined)));
    server = undefined;
  });
  const get = (url: string, authorities?: string) =>
    fetchPublic(
      { method: 'GET', address: parseAddress(url), headers: {} },
      {
        opId: 'op',
        limitBytes: 1000,
        timeoutMs: 10_000,
        signal: new AbortController().signal,
        record: (record) => records.push(record),
        now: () => 1,
        network: {
          resolve: async () => ['93.184.215.14'],
          open: () => connect(port, '127.0.0.1'),
        },
        ...(authorities === undefined ? {} : { authorities }),
      },
    );

  it('[NET-02] asks the server for the certificate of the name that was allowed', async () => {
    const { status, body } = await get('https://example.com/', certificate);
    assert.deepEqual([status, Buffer.from(body).toString()], [200, 'hello example.com']);
    await assert.rejects(get('https://other.example/', certificate), /other\.example/);
    await assert.rejects(get('https://example.com/'), /self-signed/);
    assert.deepEqual(
      records.map(({ host, verdict, port: to }) => [host, verdict, to]),
      [
        ['example.com', 'allowed', 443],
        ['other.example', 'failed', 443],
        ['example.com', 'failed', 443],
      ],
    );
  });

  it('[NET-04] logs a request that gets no answer in time', async () => {
    const late = fetchPublic(
      { method: 'GET', address: parseAddress('https://example.com/'), headers: {} },
      {
        opId: 'op',
        limitBytes: 1000,
        timeoutMs: 20,
        signal: new AbortController().signal,
        record: (record) => records.push(record),
        now: () => 1,
        network: { resolve: () => new Promise(() => undefined), open: () => connect(port, '127.0.0.1') },
      },
    );
    await assert.rejects(late, /no whole answer in time/);
    assert.deepEqual(
      records.map(({ verdict }) => verdict),
      ['failed'],
    );
  });
});
