import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultCardLimits } from '../../../protocol/src/limits.ts';
import { putTree } from '../../support/blobs.ts';
import { RunnerClient } from '../../support/runnerClient.ts';
import { processesNaming } from './evidence.ts';

/** Detaches a process that nothing ties to it, says so, and stays. */
const program = (token: string) => `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "${token}"])
print("READY", flush=True)
time.sleep(60)
`;

describe('a runner that is killed outright', () => {
  let folder = '';
  let token = '';
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sallyport-killed-'));
    token = `orphan${randomBytes(6).toString('hex')}`;
  });
  afterEach(async () => {
    for (const { pid } of processesNaming(token, [])) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('takes its cards with it, and the next runner sweeps what it left [HOSTILE-03]', async () => {
    const engine = { blobs: path.join(folder, 'blobs'), scratch: path.join(folder, 'scratch') };
    await mkdir(engine.scratch);
    const client = await RunnerClient.start(engine);
    let ready = false;
    const job = client.run(
      {
        jobId: token,
        cardId: 'orphan',
        runtime: 'python',
        entry: 'main.py',
        code: await putTree(engine.blobs, { 'main.py': program(token) }),
        inputs: [],
        outputs: [],
        params: '{}',
        limits: defaultCardLimits,
        access: { network: { kind: 'none' }, hostFolders: [] },
      },
      { onLog: () => (ready = true) },
    );
    job.catch(() => undefined);
    await until('the card runs', () => ready && processesNaming(token, []).length > 0);
    process.kill(client.pid, 'SIGKILL');
    await assert.rejects(job, { code: 'closed' });
    await until('nothing of the card is left', () => processesNaming(token, []).length === 0);

    const next = await RunnerClient.start(engine);
    try {
      const { removed } = await next.channel.call('runner/sweep', {});
      assert.ok(removed >= 1, `It removed ${removed}`);
    } finally {
      await next.close();
    }
  });

  it('a plain parent that is killed leaves its children (control)', async () => {
    const parent = spawn('/usr/bin/python3', ['-c', program(token)], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(parent.stdout, 'data');
    await until('the child runs', () => processesNaming(token, [parent.pid ?? 0]).length > 0);
    const ended = once(parent, 'exit');
    parent.kill('SIGKILL');
    await ended;
    assert.ok(processesNaming(token, []).length > 0);
  });
});

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + 45_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`Waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
