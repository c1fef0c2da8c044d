import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryKills } from '../../../../remote-agent/src/batch/memoryKills.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('what a control group counts as ended for want of memory', () => {
  const folder = useTemporaryFolder();
  const mount = () => join(folder(), 'cgroup');
  const write = (group: string, text: string) => {
    mkdirSync(join(mount(), group), { recursive: true });
    writeFileSync(join(mount(), group, 'memory.events'), text);
  };
  const events = (count: number) => `low 0\nhigh 0\nmax 9\noom 1\noom_kill ${count}\noom_group_kill 5\n`;

  it('is its own count, as it is at that moment', () => {
    write('job/step', events(2));
    write('job', events(7));
    const count = memoryKills(mount(), '0::/job/step\n');
    assert.equal(count(), 2);
    write('job/step', events(3));
    assert.equal(count(), 3);
  });

  it('is its own count with the older kind of groups', () => {
    mkdirSync(join(mount(), 'memory/slurm/job'), { recursive: true });
    const file = join(mount(), 'memory/slurm/job/memory.oom_control');
    writeFileSync(file, 'oom_kill_disable 0\nunder_oom 0\noom_kill 4\n');
    for (const line of ['4:memory:/slurm/job', '4:cpu,memory:/slurm/job'])
      assert.equal(memoryKills(mount(), `${line}\n0::/\n`)(), 4);
    // Kernels before 4.13 do not count.
    writeFileSync(file, 'oom_kill_disable 0\nunder_oom 0\n');
    assert.equal(memoryKills(mount(), '4:memory:/slurm/job\n')(), undefined);
  });

  it('is that of the nearest group above that counts', () => {
    write('job', events(7));
    mkdirSync(join(mount(), 'job/step/task'), { recursive: true });
    assert.equal(memoryKills(mount(), '5:cpuset:/other\n0::/job/step/task\n')(), 7);
  });

  for (const [title, membership] of [
    ['a group of the older kind that is not seen', '4:memory:/job\n'],
    ['nothing that is told', ''],
    ['a group that nobody counts for', '0::/none\n'],
    ['one outside of what is seen', '0::/../job\n'],
  ] as const)
    it(`is not known of ${title}`, () => {
      write('job', events(1));
      write('../job', events(1));
      assert.equal(memoryKills(mount(), membership)(), undefined);
    });
});
