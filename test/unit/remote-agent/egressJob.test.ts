import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
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
    const [listed = '', other = ''] = origins.map(
      (each) => `127.0.0.1:${(each.address() as AddressInfo).port}`,
    );
    const store = createBlobStore(join(temporary(), 'blobs'));
    const code = await putTree(join(temporary(), 'blobs'), { 'main.py': card });
    const report = await runner.run(
      jobWith({
        runtime: 'python',
        entry: 'main.py',
        code,
        params: JSON.stringify({ listed: `http://${listed}/`, other: `http://${other}/` }),
        outputs: [{ port: 'answers', type: 'json', optional: false }],
        limits: { seconds: 30, memoryMB: 256, processes: 32, outputMB: 1, logMB: 1 },
        access: { network: { kind: 'hosts', hosts: hosts(listed) }, hostFolders: [] },
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

  it('[EGRESS-01] reaches nothing with an empty list', async () => {
    const { report, answers } = await run(() => []);
    assert.deepEqual(answers, ['403', '403', 'no way', 'no way', 'no name']);
    assert.deepEqual(new Set(report.egress.map(({ verdict }) => verdict)), new Set(['refused']));
  });
});
