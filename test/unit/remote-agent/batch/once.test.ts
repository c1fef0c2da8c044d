import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Probed } from '../../../../remote-agent/src/isolation/isolation.ts';
import type { Interpreters } from '../../../../remote-agent/src/interpreters.ts';
import type { RunnerFolder } from '../../../../remote-agent/src/runnerFolder.ts';
import { BatchFolder, type Submit } from '../../../../remote-agent/src/batch/batchFolder.ts';
import { emptyResult } from '../../../../protocol/src/runner.ts';
import { EventReader } from '../../../../remote-agent/src/batch/eventReader.ts';
import { runOnce, type OnceOptions } from '../../../../remote-agent/src/batch/once.ts';
import { readEnvironment } from '../../../../remote-agent/src/environment.ts';
import { findInterpreters } from '../../../../remote-agent/src/interpreters.ts';
import { probeHere } from '../../../../remote-agent/src/isolation/probeHere.ts';
import { putTree } from '../../../support/blobs.ts';
import { bundledRunner } from '../../../support/bundledRunner.ts';
import { jobWith } from '../../../support/jobs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const execute = promisify(execFile);
type Probe = (folder: RunnerFolder, interpreters: Interpreters) => Promise<Probed>;

describe('one task on a node', () => {
  const folder = useTemporaryFolder();
  const environment = readEnvironment();
  const home = () => new BatchFolder(join(folder(), 'shared'), environment.uid);
  const name = 'sallyport-a';

  async function prepare(more: Partial<Submit> = {}): Promise<{ shared: BatchFolder; jobId: string }> {
    const shared = home();
    const code = await putTree(shared.blobs, { 'main.sh': 'echo ran' });
    const job = jobWith({ code });
    const interpreters = Object.values(await findInterpreters(environment));
    const expects = { platform: environment.platform, interpreters };
    const { limits } = job;
    shared.writeSubmit({
      version: 1,
      name,
      engine: 'engine-a',
      limits,
      acceptedAt: 1,
      chosen: '',
      expects,
      jobs: [job],
      ...more,
    });
    return { shared, jobId: job.jobId };
  }

  async function once(shared: BatchFolder, more: Partial<OnceOptions> = {}, probe?: Probe): Promise<void> {
    await runOnce({
      folder: shared,
      name,
      index: 0,
      task: '7_0',
      restart: 0,
      runner: {
        version: '0',
        environment,
        now: () => performance.now(),
        probe: probe ?? ((at, interpreters) => probeHere(environment, at, interpreters)),
        openCgroup: () => undefined,
        onProblem: () => undefined,
      },
      program: '/shared/runner-x.cjs',
      stop: new AbortController().signal,
      memoryKills: () => undefined,
      now: () => 1,
      ...more,
    });
  }

  /** The same as a node does it: the runner's file in a process of its own. */
  async function asProcess(task: string): Promise<void> {
    const words = [bundledRunner(), 'batch', 'once', '--home', home().path, '--submit', name];
    const told = ['--index', '0', '--task', `${task}_0`, '--restart', '0'];
    await execute(process.execPath, [...words, ...told], { env: { PATH: '/usr/bin:/bin' } });
  }

  const outcomeOf = (shared: BatchFolder, jobId: string) => shared.resultOf(jobId)?.result.outcome;
  const logOf = (shared: BatchFolder, jobId: string) =>
    new EventReader(shared.runFile(`${jobId}.events`))
      .read()
      .flatMap(({ event }) => (event.kind === 'log' ? [event.text] : []));

  it('runs its job, claimed before the program starts, with its events beside it', async () => {
    const { shared, jobId } = await prepare();
    await asProcess('7');
    assert.deepEqual(outcomeOf(shared, jobId), { kind: 'exited', exitCode: 0 });
    assert.deepEqual(logOf(shared, jobId), ['ran\n']);
    assert.equal(shared.claimOf(jobId)?.task, '7_0');
  });

  for (const [title, counts, told] of [
    ['one more than before', [3, 4], true],
    ['none', [3, 3], false],
    ['of which nothing is told', [3, undefined], undefined],
  ] as const)
    it(`says of processes ended for want of memory: ${title}`, async () => {
      const { shared, jobId } = await prepare();
      const left: (number | undefined)[] = [...counts];
      await once(shared, { memoryKills: () => left.shift() });
      assert.equal(shared.resultOf(jobId)?.killedForMemory, told);
    });

  it('of two tasks for the same job one runs it [SLURM-14]', async () => {
    const { shared, jobId } = await prepare();
    await Promise.all([asProcess('7'), asProcess('8')]);
    assert.deepEqual(outcomeOf(shared, jobId), { kind: 'exited', exitCode: 0 });
    assert.deepEqual(logOf(shared, jobId), ['ran\n']);
    await asProcess('9');
    assert.deepEqual(logOf(shared, jobId), ['ran\n']);
  });

  it('one whose claim the login node took runs never [SLURM-14]', async () => {
    const { shared, jobId } = await prepare();
    assert.ok(shared.takeClaim(jobId, { by: 'login', task: '', host: 'login' }));
    await once(shared);
    assert.equal(outcomeOf(shared, jobId), undefined);
    assert.deepEqual(logOf(shared, jobId), []);
  });

  it('one that is started again after its program was started is unknown, and not run again [SLURM-14]', async () => {
    const { shared, jobId } = await prepare();
    assert.ok(shared.takeClaim(jobId, { by: 'node', task: '7_0', host: 'node-1' }));
    await once(shared, { restart: 1 });
    const outcome = outcomeOf(shared, jobId);
    assert.equal(outcome?.kind, 'unknown');
    assert.match(outcome.detail, /started on node-1; it is not run again/);
    assert.deepEqual(logOf(shared, jobId), []);
  });

  it('a node without isolation refuses, with what failed [SLURM-15]', async () => {
    const { shared, jobId } = await prepare();
    const check = {
      id: 'start',
      title: 'A sandbox starts',
      ok: false,
      detail: 'no namespaces',
      remedy: 'Ask.',
    };
    await once(shared, {}, () =>
      Promise.resolve({ isolation: undefined, report: { kind: 'none', version: '', checks: [check] } }),
    );
    const outcome = outcomeOf(shared, jobId);
    assert.deepEqual(outcome?.kind === 'refused' && [outcome.code, outcome.detail], [
      'isolation-missing',
      'A sandbox starts: no namespaces',
    ]);
    assert.deepEqual(logOf(shared, jobId), []);
  });

  it('a node with other interpreters than the first refuses [SLURM-15]', async () => {
    const interpreters = [{ runtime: 'shell' as const, path: '/bin/sh', version: 'another' }];
    const { shared, jobId } = await prepare({ expects: { platform: environment.platform, interpreters } });
    await once(shared);
    const outcome = outcomeOf(shared, jobId);
    assert.match(outcome?.kind === 'refused' ? outcome.detail : '', /node of the first job had another/);
  });

  it('inputs that were removed while it waited are told as that', async () => {
    const { shared, jobId } = await prepare({ jobs: [jobWith({})] });
    await once(shared);
    const outcome = outcomeOf(shared, jobId);
    assert.match(outcome?.kind === 'refused' ? outcome.detail : '', /are not in .* any more/);
  });

  it('a job that was forgotten meanwhile leaves nothing', async () => {
    const { shared, jobId } = await prepare();
    shared.removeRun(name, 0, jobId);
    shared.removeSubmit(name, [{ jobId }]);
    await once(shared);
    assert.deepEqual([...shared.runFiles()], []);
  });

  it('the probe tells what the node is', async () => {
    const { shared } = await prepare({ expects: null, jobs: [] });
    await once(shared);
    const facts = shared.facts();
    assert.equal(facts?.program, 'runner-x.cjs');
    assert.equal(facts.platform, environment.platform);
  });

  it('what has no form is an unknown end, a claim of somebody, and no event', () => {
    const shared = home();
    for (const kind of ['result', 'claim', 'progress', 'events'])
      writeFileSync(shared.runFile(`job-1.${kind}`), '{"half\n');
    writeFileSync(join(shared.path, 'facts'), '{}');
    assert.equal(outcomeOf(shared, 'job-1')?.kind, 'unknown');
    assert.equal(shared.claimOf('job-1')?.by, 'node');
    assert.equal(shared.progressOf('job-1'), undefined);
    assert.equal(shared.facts(), undefined);
    assert.deepEqual(new EventReader(shared.runFile('job-1.events')).read(), []);
  });

  it('an end is written once: the first one stays', () => {
    const shared = home();
    const end = (exitCode: number) => ({ lastSeq: 0, result: emptyResult({ kind: 'exited', exitCode }) });
    assert.ok(shared.writeResult('job-1', end(1)));
    assert.ok(!shared.writeResult('job-1', end(2)));
    assert.deepEqual(outcomeOf(shared, 'job-1'), { kind: 'exited', exitCode: 1 });
  });
});
