import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import type { JobResult, JobSpec } from '../../../protocol/src/runner.ts';
import { putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { openPlaceEngine } from '../../support/placeEngine.ts';
import { writeProject } from '../../support/projectFolder.ts';
import { Heard, type TestPlace } from '../../support/remotePlace.ts';
import { hasSlurm } from '../../support/slurmCluster.ts';
import { longSleep } from '../../support/longSleep.ts';
import { SlurmRig } from '../../support/slurmRig.ts';
import { hasSshd } from '../../support/sshPlace.ts';
import { never, statesOf } from '../../support/testEngine.ts';
import { until } from '../../support/until.ts';

/** Against a real controller and a real node behind a real sshd. */
describe('cards through Slurm', () => {
  const canary = 'canary-5f2c1be0';
  let opened: SlurmRig | undefined;
  let rig: SlurmRig;
  let place: TestPlace;
  let count = 0;

  before(async function () {
    if (!hasSlurm || !hasSshd) {
      console.log('No Slurm or no sshd here: install slurm-wlm, munge and openssh-server to run these.');
      this.skip();
    }
    const nodes = `Nodes=${hostname().split('.')[0]} State=UP`;
    const partitions = [`PartitionName=other ${nodes}`, `PartitionName=brief ${nodes} MaxTime=1`];
    opened = rig = new SlurmRig({ login: { SECRET_TOKEN: canary }, settings: partitions });
    await rig.start();
    place = rig.open();
    const { isolation } = await place.runner.ready();
    assert.equal(isolation.kind, 'bubblewrap');
  });
  after(() => opened?.remove());

  async function job(script: string, more: Partial<JobSpec> = {}): Promise<JobSpec> {
    const code = await putTree(place.blobs.folder, { 'main.sh': script });
    return jobWith({ jobId: `slurm-${++count}`, code, ...more });
  }

  async function start(script: string, more: Partial<JobSpec> = {}, at = place) {
    const spec = await job(script, more);
    const heard = new Heard();
    const stop = new AbortController();
    const result = at.runner.run(spec, heard, stop.signal);
    return { spec, heard, result, cancel: () => stop.abort() };
  }

  async function run(
    script: string,
    more: Partial<JobSpec> = {},
  ): Promise<{ result: JobResult; heard: Heard }> {
    const { heard, result } = await start(script, more);
    return { result: await result, heard };
  }

  /** Names of requests that the controller knows and that none of `before` was. */
  const names = async () => new Set((await rig.cluster.jobs()).map(({ name }) => name));
  const newJobs = async (before: ReadonlySet<string>) =>
    (await rig.cluster.jobs()).filter(({ name }) => !before.has(name) && name.startsWith('sallyport-'));
  const detailOf = ({ outcome }: JobResult) => ('detail' in outcome ? (outcome.detail ?? '') : '');
  const folderThere = () => join(rig.host.home, '.sallyport', 'slurm');

  it('L01: a card runs sealed on a node, its log streams, its outputs come back by content [SLURM-01]', async () => {
    const { result, heard } = await run('echo hello; echo out > "$SALLYPORT_OUTPUTS/x"', {
      outputs: [{ port: 'x', type: 'file', optional: false }],
    });
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(result.isolation, 'bubblewrap');
    assert.equal(heard.stdout, 'hello\n');
    assert.equal(heard.starts, 1);
    const { digest = '' } = result.outputs['x'] ?? {};
    assert.equal(place.blobs.readBytes(digest).toString(), 'out\n');
  });

  it('L02: the card’s own end counts, not the exit code of its job [SLURM-02]', async () => {
    const [failed, killed] = await Promise.all([run('exit 3'), run('kill -9 $$')]);
    assert.deepEqual(failed.result.outcome, { kind: 'exited', exitCode: 3 });
    assert.deepEqual(killed.result.outcome, { kind: 'signalled', signal: 'SIGKILL' });
    const states = (await rig.cluster.jobs()).map(({ state }) => state);
    assert.ok(!states.includes('FAILED'), `A job failed: ${states.join(' ')}`);
  });

  it('a card that reaches its own limits ends in the words of everywhere, before Slurm does anything [SLURM-02] [SLURM-13]', async () => {
    const { limits } = jobWith({});
    const [late, large] = await Promise.all([
      run('sleep 50', { limits: { ...limits, seconds: 1 } }),
      run('head -c 200000000 /dev/zero | tail', { limits: { ...limits, seconds: 50, memoryMB: 64 } }),
    ]);
    assert.deepEqual(late.result.outcome, { kind: 'timeout', seconds: 1 });
    assert.equal(large.result.outcome.kind, 'limit', JSON.stringify(large.result.outcome));
  });

  it('L03: one that is cancelled in Slurm while it runs says so [SLURM-03]', async () => {
    const before = await names();
    const running = await start('echo on; sleep 60', { limits: { ...jobWith({}).limits, seconds: 60 } });
    await until(() => running.heard.stdout === 'on\n');
    const [there] = await newJobs(before);
    await rig.cluster.run('scancel', there?.id.replace('_N/A', '') ?? '');
    const result = await running.result;
    assert.equal(result.outcome.kind, 'cancelled');
    assert.match(detailOf(result), /cancelled in Slurm, not from Sallyport/);
  });

  it('cancelling ends the card on the node, and one in the queue never runs [SLURM-04]', async () => {
    const running = await start('echo on; sleep 60', { limits: { ...jobWith({}).limits, seconds: 60 } });
    await until(() => running.heard.stdout === 'on\n');
    running.cancel();
    assert.deepEqual((await running.result).outcome, { kind: 'cancelled' });
    await until(async () => (await rig.cluster.jobs()).every(({ state }) => !/RUNNING|PENDING/.test(state)));
  });

  it('L04: what a card waits for is shown, and cancelling it in the queue is at once, here or in Slurm (L03) [SLURM-05] [SLURM-04] [SLURM-03]', async () => {
    await rig.cluster.run(
      'scontrol',
      'update',
      `NodeName=${hostname().split('.')[0]}`,
      'State=DRAIN',
      'Reason=test',
    );
    const before = await names();
    const outside = await start('echo nor this');
    await until(async () => (await newJobs(before)).length === 1);
    const [first] = await newJobs(before);
    const waiting = await start('echo never');
    try {
      await until(() =>
        waiting.heard.progressTexts.some((text) =>
          /queue: .*(Resources|Priority|ReqNodeNotAvail|not available)/i.test(text),
        ),
      );
      await rig.cluster.run('scancel', first?.id.replace('_N/A', '') ?? '');
      waiting.cancel();
      assert.deepEqual((await waiting.result).outcome, { kind: 'cancelled' });
      await until(async () => (await rig.cluster.jobs()).every(({ state }) => state !== 'PENDING'));
      assert.equal(waiting.heard.stdout, '');
      assert.match(detailOf(await outside.result), /cancelled in Slurm, not from Sallyport/);
      assert.equal(outside.heard.stdout, '');
    } finally {
      await rig.cluster.run('scontrol', 'update', `NodeName=${hostname().split('.')[0]}`, 'State=RESUME');
    }
  });

  it('a project gives the same results here and on the cluster, by digest, with one log [SLURM-01]', async () => {
    const project = join(rig.folder, 'project');
    const shell = { runtime: 'shell', entry: 'main.sh', outputs: { out: { type: 'text' } } } as const;
    const there = { permissions: { executionService: 'slurm:lab' } };
    writeProject(project, { a: shell, b: { ...shell, ...there } });
    for (const id of ['a', 'b'])
      writeFileSync(join(project, 'cards', id, 'main.sh'), 'echo same > $SALLYPORT_OUTPUTS/out; echo said\n');
    const engine = openPlaceEngine(join(rig.folder, 'home'), project, join(rig.folder, 'here', 'config'));
    try {
      await engine.acceptAll();
      const view = await engine.run({ ignoreCache: true });
      assert.deepEqual(statesOf(view), { a: 'done', b: 'done' });
      const [a, b] = view.cards;
      assert.equal(a?.outputs[0]?.artifact.digest, b?.outputs[0]?.artifact.digest);
      assert.deepEqual([a?.status.place ?? 'local', b?.status.place], ['local', 'slurm:lab']);
      const { lines } = await engine.handlers['log/read'](
        { cardRunId: b?.status.cardRunId ?? '', fromLine: 0, count: 9 },
        never,
      );
      assert.deepEqual(
        lines.map(({ text }) => text),
        ['said'],
      );
      // That it is stored here is a message on its way.
      await until(
        async () => (await engine.handlers['place/held']({ place: 'slurm:lab' }, never)).length === 0,
      );
    } finally {
      await engine.dispose();
    }
  });

  it('L05: with the controller down a card that runs goes on and its result comes; one that is asked for waits [SLURM-06]', async () => {
    const sleep = longSleep();
    const running = await start(`echo on; ${sleep.command}; echo done`);
    await until(() => running.heard.stdout.startsWith('on'));
    await rig.cluster.stop('slurmctld', 'SIGTERM');
    await sleep.wake();
    const waiting = await start('echo late');
    try {
      assert.deepEqual((await running.result).outcome, { kind: 'exited', exitCode: 0 });
      await until(() => waiting.heard.progressTexts.some((text) => /answer/.test(text)));
    } finally {
      await rig.cluster.startController();
    }
    assert.deepEqual((await waiting.result).outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(waiting.heard.stdout, 'late\n');
    assert.equal(waiting.heard.starts, 1);
  });

  it('L06: a job that Slurm has forgotten is told by its result file [SLURM-02]', async () => {
    const engine = 'engine-that-ends';
    const first = rig.open({ engine });
    const sleep = longSleep();
    const begun = await start(`${sleep.command}; echo kept`, {}, first);
    await until(() => begun.heard.starts === 1);
    await rig.crash();
    first.runner.disconnect();
    void begun.result.catch(() => undefined);
    await first.runner.dispose();
    await sleep.wake();
    await until(async () =>
      (await rig.cluster.jobs()).every(({ state }) => !/RUNNING|COMPLETING/.test(state)),
    );
    await rig.cluster.stop('slurmctld', 'SIGTERM');
    await rig.cluster.startController({ forget: true });
    await rig.cluster.isIdle();
    assert.deepEqual(await rig.cluster.jobs(), []);
    const second = rig.open({ engine, jobs: first.jobs });
    await second.runner.ready();
    await until(() => second.jobs.adopted.length === 1);
    const [adopted] = second.jobs.adopted;
    assert.deepEqual(adopted?.result?.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(adopted.log, 'kept\n');
  });

  it('L07: nothing of the login shell’s surroundings or of the card is in what Slurm keeps [SLURM-07]', async () => {
    const holds = (folder: string, text: string): boolean =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((name) => {
        const path = join(folder, name);
        return (
          statSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path).includes(text)
        );
      });
    const state = join(rig.cluster.folder, 'state');
    const told = { jobs: '' };
    const sleep = longSleep();
    const begun = await start(`${sleep.command}; env`, { params: JSON.stringify({ note: canary }) });
    await until(() => begun.heard.starts === 1);
    told.jobs = await rig.cluster.run('scontrol', 'show', 'job');
    assert.ok(holds(state, 'batch once'), 'The script is not where this looks for it');
    assert.ok(!holds(state, canary));
    assert.ok(!told.jobs.includes(canary));
    await sleep.wake();
    await begun.result;
    // The control: without those words Slurm keeps all of it.
    const plain = execFileSync('sbatch', ['--parsable', '--output=/dev/null'], {
      env: { ...process.env, ...rig.cluster.environment, SECRET_TOKEN: canary },
      input: '#!/bin/sh\nsleep 30\n',
      encoding: 'utf8',
    });
    await until(() => holds(state, canary));
    await rig.cluster.run('scancel', plain.trim());
  });

  it('L09: a connection that is lost right after a job was handed over costs nothing, and nothing is handed over twice [SLURM-08]', async () => {
    const before = await names();
    writeFileSync(rig.held, '');
    const begun = await start('echo once');
    await until(async () => (await newJobs(before)).length === 1);
    // The answer of sbatch is on its way: neither it nor who waits for it lives on.
    await rig.crash();
    rmSync(rig.held);
    assert.deepEqual((await begun.result).outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(begun.heard.stdout, 'once\n');
    assert.equal(begun.heard.starts, 1);
    assert.equal((await newJobs(before)).length, 1);
  });

  it('an engine that is killed between handing over and the answer finds its job again, once [SLURM-08]', async () => {
    const engine = 'engine-killed';
    const first = rig.open({ engine });
    await first.runner.ready();
    const before = await names();
    writeFileSync(rig.held, '');
    const sleep = longSleep();
    const begun = await start(`${sleep.command}; echo found`, {}, first);
    await until(async () => (await newJobs(before)).length === 1);
    const dead = first.runner.dispose();
    await rig.crash();
    await dead;
    await begun.result;
    rmSync(rig.held);
    await sleep.wake();
    const second = rig.open({ engine, jobs: first.jobs });
    await second.runner.ready();
    await until(async () => (await second.runner.held()).every(({ state }) => state === 'ended'));
    second.runner.disconnect();
    await second.runner.ready();
    await until(() => second.jobs.adopted.length === 1);
    assert.equal(second.jobs.adopted[0]?.log, 'found\n');
    assert.equal((await newJobs(before)).length, 1);
  });

  it('L10: a node without a way out says in words what the card could not reach [SLURM-09]', async () => {
    const { result, heard } = await run('curl -sS --max-time 8 http://nothing.invalid/ 2>&1; true', {
      access: { network: { kind: 'hosts', hosts: ['nothing.invalid:80'] }, hostFolders: [] },
    });
    assert.equal(result.outcome.kind, 'exited');
    const [record] = heard.records as { verdict: string; reason: string; host: string }[];
    assert.equal(record?.host, 'nothing.invalid');
    assert.equal(record.verdict, 'failed');
    assert.ok(record.reason.length > 0);
  });

  it('many cards that become ready together are one request [SLURM-10]', async () => {
    const submits = () =>
      readdirSync(join(folderThere(), 'submits')).filter((name) => name.endsWith('.jobs'));
    const before = new Set(submits());
    const many = 40;
    const all = await Promise.all(Array.from({ length: many }, (_, index) => start(`echo card ${index}`)));
    await until(() => submits().some((name) => !before.has(name)));
    await until(() => all.every(({ heard }) => heard.progressTexts.some((text) => /Slurm/.test(text))));
    const made = submits().filter((name) => !before.has(name));
    assert.equal(made.length, 1);
    const text = readFileSync(join(folderThere(), 'submits', made[0] ?? ''), 'utf8');
    assert.equal(text.trimEnd().split('\n').length, 1 + many);
    // Most of them are not waited for: what counts is that each is a task of its own.
    const first = all[0];
    assert.deepEqual((await first?.result)?.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(first?.heard.stdout, 'card 0\n');
    for (const each of all) each.cancel();
    await Promise.all(all.map(({ result }) => result));
  });

  it('folders of this computer are refused [SLURM-11]', async () => {
    const { result } = await run('true', {
      access: { network: { kind: 'none' }, hostFolders: [{ path: '/tmp', name: 'tmp', write: false }] },
    });
    assert.equal(result.outcome.kind, 'refused');
    assert.match(detailOf(result), /another machine/);
  });

  it('what Slurm refuses is told in its words [SLURM-03]', async () => {
    const { result } = await run('true', { limits: { ...jobWith({}).limits, memoryMB: 900_000_000 } });
    assert.equal(result.outcome.kind, 'refused');
    assert.match(detailOf(result), /Slurm refused it: .*(node configuration|memory)/i);
  });

  it('a card goes where the person’s settings send it, and a first job asks what a node there is [SLURM-20]', async () => {
    const there = rig.open({ choice: { partition: 'other' } });
    await there.runner.ready();
    const { result } = await start('true', {}, there);
    assert.equal((await result).outcome.kind, 'exited');
    const known = await rig.cluster.run('scontrol', 'show', 'job');
    // The probe and the card.
    assert.equal(known.match(/Partition=other/g)?.length, 2);
    there.runner.disconnect();
  });

  it('a partition that Slurm does not have is refused in its words, with what to do [SLURM-20]', async () => {
    const nowhere = rig.open({ choice: { partition: 'nowhere' } });
    await assert.rejects(nowhere.runner.ready(), (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /Slurm refused a first job: .*[Ii]nvalid partition/);
      assert.match(String(error.data['remedy']), /sallyport\.slurm/);
      return true;
    });
    assert.equal(nowhere.runner.view().state, 'refused');
  });

  it('a partition that gives too little time says so while the first job waits there [SLURM-05] [SLURM-20]', async () => {
    const brief = rig.open({ choice: { partition: 'brief' } });
    const ready = brief.runner.ready();
    const isTold = () =>
      brief.views.some(({ detail }) => /PartitionTimeLimit \(it asks for more time/.test(detail));
    await until(isTold);
    await rig.cluster.run('scancel', '--state=PENDING', '--partition=brief');
    await assert.rejects(ready, { code: 'incompatible', message: /first job ended \(CANCELLED\)/ });
  });

  it('a node that fails while a card runs leaves it unknown, and it is not run again [SLURM-03]', async () => {
    const begun = await start('echo on; sleep 50', { limits: { ...jobWith({}).limits, seconds: 60 } });
    await until(() => begun.heard.stdout === 'on\n');
    const node = `NodeName=${hostname().split('.')[0]}`;
    await rig.cluster.stop('slurmd');
    await rig.cluster.run('scontrol', 'update', node, 'State=DOWN', 'Reason=test');
    endTasks(rig.folder);
    const result = await begun.result;
    assert.equal(result.outcome.kind, 'unknown');
    assert.match(detailOf(result), /node failed while it ran \(NODE_FAIL\).*not run again/);
    await rig.cluster.startNode();
    await rig.cluster.run('scontrol', 'update', node, 'State=RESUME');
  });

  it('what is forgotten leaves nothing in the shared folder [SLURM-12]', async () => {
    const { spec, result } = await start('true');
    await result;
    await until(async () => {
      // A busy machine may miss a heartbeat: then this is told with the next connection.
      await place.runner.ready();
      place.runner.settled?.(spec.jobId);
      return !place.jobs.knows(spec.jobId);
    });
    const left = readdirSync(join(folderThere(), 'runs')).filter((name) => name.startsWith(`${spec.jobId}.`));
    assert.deepEqual(left, []);
  });
});

/** Kills what runs on the node, as its machine's end would. */
function endTasks(folder: string): void {
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (command.includes(' batch once ') && command.includes(folder)) process.kill(Number(name), 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

describe('a cluster whose shared folder has an awkward name', () => {
  it('L08: spaces, quotes and semicolons are one path, in Slurm and on the node; one channel is enough [SLURM-07]', async function () {
    if (!hasSlurm || !hasSshd) {
      console.log('No Slurm or no sshd here: install slurm-wlm, munge and openssh-server to run this.');
      this.skip();
    }
    const awkward = `/tmp/sallyport-slurm-a b'c;$(touch x)-${process.pid}`;
    const rig = new SlurmRig({ login: { SALLYPORT_SLURM_DIR: awkward }, host: ['MaxSessions 1'] });
    try {
      await rig.start();
      const place = rig.open();
      const code = await putTree(place.blobs.folder, { "ma'in; false.sh": 'echo through' });
      const heard = new Heard();
      const spec = jobWith({ jobId: 'awkward', code, entry: "ma'in; false.sh", cardId: '"; touch y' });
      const { outcome } = await place.runner.run(spec, heard, new AbortController().signal);
      assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
      assert.equal(heard.stdout, 'through\n');
      assert.ok(statSync(join(awkward, 'submits')).isDirectory());
    } finally {
      await rig.remove();
      rmSync(awkward, { recursive: true, force: true });
    }
  });
});
