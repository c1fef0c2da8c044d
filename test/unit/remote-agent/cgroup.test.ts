import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openCgroup } from '../../../remote-agent/src/cgroup.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

const limits = { seconds: 1, memoryMB: 100, processes: 4, outputMB: 10, logMB: 1 };

/** Ordinary folders stand in for cgroupfs, whose files are there by themselves. */
describe('limits by cgroup', () => {
  const mount = useTemporaryFolder();
  const own = () => path.join(mount(), 'user/scope');
  const read = (file: string) => readFileSync(path.join(own(), file), 'utf8');

  function delegate(controllers: string): void {
    mkdirSync(own(), { recursive: true });
    writeFileSync(path.join(own(), 'cgroup.controllers'), `${controllers}\n`);
  }

  it('are kept where the runner’s own group was delegated to it', () => {
    delegate('cpu memory pids');
    const root = openCgroup(mount(), '4:memory:/v1\n0::/user/scope\n', 77);
    assert.ok(root);
    assert.equal(read('cgroup.subtree_control'), '+memory +pids');
    assert.equal(read('sallyport-runner-77/cgroup.procs'), '77');
    const group = root.createGroup('job');
    group.add(123);
    group.limit(limits);
    assert.equal(read('sallyport-77-job/cgroup.procs'), '123');
    assert.equal(read('sallyport-77-job/pids.max'), '6');
    // Folders in memory count too, so the group's bound is above the card's memory by what they can hold.
    assert.equal(Number(read('sallyport-77-job/memory.max')), (100 + 256 + 64 + 10) * 1024 * 1024);
    const events = (file: string, text: string) =>
      writeFileSync(path.join(own(), 'sallyport-77-job', file), text);
    events('memory.events', 'low 0\noom 0\noom_kill 0\n');
    events('pids.events', 'max 0\n');
    assert.equal(group.excess(), undefined);
    events('pids.events', 'max 3\n');
    assert.equal(group.excess(), 'processes');
    events('memory.events', 'oom 1\noom_kill 2\n');
    assert.equal(group.excess(), 'memory');
    group.remove();
    assert.ok(existsSync(path.join(own(), 'sallyport-77-job')), 'a group that is busy is left for later');
    for (const file of [
      'memory.max',
      'memory.oom.group',
      'pids.max',
      'cgroup.procs',
      'memory.events',
      'pids.events',
    ]) {
      rmSync(path.join(own(), 'sallyport-77-job', file));
    }
    root.createGroup('next');
    assert.ok(!existsSync(path.join(own(), 'sallyport-77-job')));
  });

  const refused = {
    'without the controllers': ['cpu', '0::/user/scope\n'],
    'without cgroup v2': ['memory pids', '4:memory:/user/scope\n'],
    'where the group is not there': ['memory pids', '0::/elsewhere\n'],
  } as const;
  for (const [name, [controllers, membership]] of Object.entries(refused)) {
    it(`are left to the watchdog ${name}`, () => {
      delegate(controllers);
      assert.equal(openCgroup(mount(), membership, 77), undefined);
    });
  }

  it('are left to the watchdog where others share the group, and the runner goes back', () => {
    delegate('memory pids');
    // Enabling controllers fails as with EBUSY: a folder stands where the file would be.
    mkdirSync(path.join(own(), 'cgroup.subtree_control'));
    assert.equal(openCgroup(mount(), '0::/user/scope\n', 77), undefined);
    assert.equal(read('cgroup.procs'), '77');
  });
});
