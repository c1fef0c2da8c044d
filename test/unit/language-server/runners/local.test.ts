import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerEnvironment } from '../../../../language-server/src/environment.ts';
import type { CardJob, JobEvents } from '../../../../language-server/src/runners/cardRunner.ts';
import { createLocalRunner, type LocalRunner } from '../../../../language-server/src/runners/local.ts';
import { UserError, type ErrorCode } from '../../../../protocol/src/errors.ts';
import { defaultCardLimits } from '../../../../protocol/src/limits.ts';
import { spawnScriptedRunner } from '../../../support/scriptedRunner.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never } from '../../../support/testEngine.ts';

const failsWith = (code: ErrorCode) => (error: unknown) => error instanceof UserError && error.code === code;

describe('local runner', () => {
  const folder = useTemporaryFolder();
  let runner: LocalRunner;
  let problems: string[] = [];
  const open = (...args: string[]) => {
    problems = [];
    runner = createLocalRunner({
      spawn: () => spawnScriptedRunner('--start-log', join(folder(), 'starts'), ...args),
      blobs: join(folder(), 'blobs'),
      scratch: join(folder(), 'scratch'),
      maxJobs: 2,
      onProblem: (problem) => problems.push(problem),
    });
    return runner;
  };
  const starts = () => readFileSync(join(folder(), 'starts'), 'utf8').trim().split('\n').length;
  const told: string[] = [];
  const events: JobEvents = {
    started: () => told.push('started'),
    log: (stream, text) => told.push(`${stream} ${text}`),
    progress: (fraction, text) => told.push(`${fraction} ${text}`),
    egress: () => undefined,
  };
  const job = (entry: string, jobId = 'r1-0'): CardJob => ({
    jobId,
    cardId: 'a',
    runtime: 'python',
    entry,
    code: { kind: 'directory', digest: '0'.repeat(64), sizeBytes: 0, files: 0 },
    inputs: [],
    outputs: [{ port: 'out', type: 'text', optional: false }],
    params: '{}',
    limits: defaultCardLimits,
    access: { network: { kind: 'none' }, hostFolders: [] },
  });
  afterEach(async () => {
    told.length = 0;
    await runner.dispose();
  });

  it('[LOC-01] starts on first need, once for all who need it', async () => {
    open();
    const [one, other] = await Promise.all([runner.ready(), runner.ready()]);
    assert.equal(one, other);
    assert.equal(starts(), 1);
    assert.equal((await runner.probe()).kind, 'bubblewrap');
  });

  it('hands on what a job tells, and only what its own job tells', async () => {
    open();
    const result = await runner.run(job('log'), events, never);
    assert.equal(result.outcome.kind, 'exited');
    assert.deepEqual(told, ['started', 'stdout one\ntwo\n', '0.5 half']);
  });

  it('[LOC-02] a cancelled job answers when it has ended', async () => {
    open();
    const abort = new AbortController();
    const running = runner.run(job('hang'), { ...events, started: () => abort.abort() }, abort.signal);
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
    assert.deepEqual((await runner.run(job('ok'), events, abort.signal)).outcome, { kind: 'cancelled' });
  });

  it('[LOC-03] a runner that dies takes its jobs down as lost, and the next job gets another runner', async () => {
    open();
    const bystander = runner.run(job('hang', 'r1-1'), events, never);
    const lost = [
      assert.rejects(bystander, failsWith('closed')),
      assert.rejects(runner.run(job('die'), events, never), failsWith('closed')),
    ];
    await Promise.all(lost);
    assert.equal((await runner.run(job('ok'), events, never)).outcome.kind, 'exited');
    assert.equal(starts(), 2);
  });

  it('[LOC-04] tries a start a few times, then refuses with the reason, and tries anew when asked again', async () => {
    open('--dies-until', join(folder(), 'go'));
    await assert.rejects(runner.ready(), failsWith('isolation-missing'));
    assert.equal(starts(), 3);
    writeFileSync(join(folder(), 'go'), '');
    assert.equal((await runner.ready()).protocol, 1);
  });

  for (const option of ['--deaf', '--old', '--garbage']) {
    it(`[LOC-04] refuses a runner that is ${option.slice(2)}`, async () => {
      open(option);
      await assert.rejects(runner.ready(), failsWith('isolation-missing'));
      assert.ok(problems.length > 0);
    });
  }

  it('[LOC-04] refuses where the program is not there', async () => {
    open();
    await runner.dispose();
    const { spawn } = await import('node:child_process');
    runner = createLocalRunner({
      spawn: () => spawn('/nowhere/node', []),
      blobs: folder(),
      scratch: folder(),
      maxJobs: 1,
      onProblem: () => undefined,
    });
    await assert.rejects(runner.ready(), failsWith('isolation-missing'));
  });

  it('starts nothing once it was disposed of', async () => {
    open();
    await runner.ready();
    await runner.dispose();
    await assert.rejects(runner.ready(), failsWith('closed'));
    assert.equal(starts(), 1);
  });

  it('[LOC-05] gives the runner a short list of the person’s variables and no secret', () => {
    const given = {
      PATH: '/bin',
      HOME: '/home/p',
      AWS_SECRET_ACCESS_KEY: 's',
      SSH_AUTH_SOCK: '/s',
      NODE_OPTIONS: '--require evil',
      LD_PRELOAD: 'evil.so',
      GITHUB_TOKEN: 't',
    };
    assert.deepEqual(runnerEnvironment(given, false), { PATH: '/bin', HOME: '/home/p' });
    assert.deepEqual(runnerEnvironment({}, true), { ELECTRON_RUN_AS_NODE: '1' });
  });
});
