import assert from 'node:assert/strict';
import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createBlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { RunnerClient } from '../../support/runnerClient.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

/** A card that asks for a listed address, for one that is not, and for both without the proxy. */
const card = `
import os, socket, urllib.request
from sallyport import outputs, params, progress

def ask(url, proxied=True):
    opener = urllib.request.build_opener(*([] if proxied else [urllib.request.ProxyHandler({})]))
    try:
        return opener.open(url, timeout=5).read().decode()
    except OSError as error:
        return str(getattr(error, "code", "no way"))

progress(0.5, "asking")
listed, other = params["listed"], params["other"]
answers = [ask(listed), ask(other), ask(listed, proxied=False), ask(other, proxied=False)]
try:
    socket.getaddrinfo("example.org", 80)
    answers.append("resolved")
except OSError:
    answers.append("no name")
outputs.json("answers", answers)
`;

/** The same in Node, by each of its own ways; `secure` has a certificate that nobody signed. */
const nodeCard = `
import { get } from 'node:http';
import { get as getSecure } from 'node:https';
import { outputs, params } from 'sallyport';

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const viaFetch = (url) => fetch(url).then((answer) => answer.text()).catch(() => 'no way');
const via = (ask) => (url) => new Promise((settle) => {
  ask(url, (answer) => answer.setEncoding('utf8').on('data', settle)).on('error', () => settle('no way'));
});
const { listed, secure, other } = params;
outputs.json('answers', [
  await viaFetch(listed),
  await viaFetch(secure),
  await via(get)(listed),
  await via(getSecure)(secure),
  await viaFetch(other.replace('http:', 'https:')),
  await via(getSecure)(other.replace('http:', 'https:')),
]);
`;

describe('a job with a host list', () => {
  const temporary = useTemporaryFolder();
  let origins: Server[];
  let runner: RunnerClient;

  beforeEach(async function () {
    for (const name of ['blobs', 'scratch']) mkdirSync(join(temporary(), name));
    origins = ['listed', 'other'].map((name) => createServer((_request, response) => response.end(name)));
    await Promise.all(origins.map((each) => once(each.listen(0, '127.0.0.1'), 'listening')));
    runner = await RunnerClient.start({
      blobs: join(temporary(), 'blobs'),
      scratch: join(temporary(), 'scratch'),
    });
    if (runner.hello.isolation.kind !== 'bubblewrap') {
      console.log('      skipped: no bubblewrap here');
      this.skip();
    }
  });
  afterEach(async () => {
    await runner.close();
    for (const each of origins) await once(each.close(), 'close');
  });

  const run = async (hosts: (address: string) => string[]) => {
    const [listed = '', other = ''] = origins.map(addressOf);
    return ask('python', { 'main.py': card }, hosts(listed), {
      listed: `http://${listed}/`,
      other: `http://${other}/`,
    });
  };
  const ask = async (
    runtime: 'python' | 'node',
    files: Readonly<Record<string, string>>,
    hosts: readonly string[],
    params: Readonly<Record<string, string>>,
  ) => {
    const store = createBlobStore(join(temporary(), 'blobs'));
    const code = await putTree(join(temporary(), 'blobs'), files);
    const report = await runner.run(
      jobWith({
        runtime,
        entry: Object.keys(files)[0] ?? '',
        code,
        params: JSON.stringify(params),
        outputs: [{ port: 'answers', type: 'json', optional: false }],
        limits: { seconds: 60, memoryMB: 256, processes: 32, outputMB: 1, logMB: 1 },
        access: { network: { kind: 'hosts', hosts: [...hosts] }, hostFolders: [] },
      }),
    );
    assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, report.stderr);
    const answers = report.result.outputs['answers'];
    assert.ok(answers);
    return { report, answers: JSON.parse(store.readBytes(answers.digest).toString()) as unknown };
  };

  it('[EGRESS-07] reaches what is listed through the proxy, and nothing else by any way', async () => {
    const { report, answers } = await run((listed) => [listed]);
    assert.deepEqual(answers, ['listed', '403', 'no way', 'no way', 'no name']);
    assert.deepEqual(
      report.egress.map(({ jobId, method, verdict }) => [jobId, method, verdict]),
      [
        ['job-1', 'GET', 'allowed'],
        ['job-1', 'GET', 'refused'],
      ],
    );
    assert.deepEqual(report.progress, [{ fraction: 0.5, text: 'asking' }]);
  });

  it('[EGRESS-07] Node’s fetch, http and https find the proxy by themselves, whatever Node it is', async function () {
    if (!runner.hello.interpreters.some((each) => each.runtime === 'node')) {
      console.log('      skipped: no Node under /usr');
      this.skip();
    }
    const secureOrigin = createSecureServer(selfSigned(temporary()), (_request, response) =>
      response.end('secure'),
    );
    await once(secureOrigin.listen(0, '127.0.0.1'), 'listening');
    origins.push(secureOrigin);
    const [listed = '', other = '', secure = ''] = origins.map(addressOf);
    const { report, answers } = await ask('node', { 'main.mjs': nodeCard }, [listed, secure], {
      listed: `http://${listed}/`,
      secure: `https://${secure}/`,
      other: `http://${other}/`,
    });
    assert.deepEqual(answers, ['listed', 'secure', 'listed', 'secure', 'no way', 'no way'], report.stderr);
    assert.deepEqual(report.egress.map(({ verdict }) => verdict).sort(), [
      'allowed',
      'allowed',
      'allowed',
      'allowed',
      'refused',
      'refused',
    ]);
  });

  it('[EGRESS-01] reaches nothing with an empty list', async () => {
    const { report, answers } = await run(() => []);
    assert.deepEqual(answers, ['403', '403', 'no way', 'no way', 'no name']);
    assert.deepEqual(new Set(report.egress.map(({ verdict }) => verdict)), new Set(['refused']));
  });
});

function addressOf(server: Pick<Server, 'address'>): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function selfSigned(folder: string): { key: Buffer; cert: Buffer } {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const words = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-subj', '/CN=localhost'];
  execFileSync('openssl', ['req', '-x509', '-nodes', ...words, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}
