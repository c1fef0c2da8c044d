import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { qemuHypervisor } from '../../../../language-server/src/runners/vm/machine.ts';
import { MachineFolder } from '../../../../language-server/src/runners/vm/machineFolder.ts';
import { identifyProcess, isAlive, usageBelow } from '../../../../remote-agent/src/processes.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('a VM that is being started', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  before(function () {
    if (process.platform === 'linux') return;
    console.log('      QEMU is started on Linux only');
    this.skip();
  });

  it('leaves no process when that is stopped before anybody could end it', async () => {
    const machines = join(folder(), 'machines');
    mkdirSync(machines);
    const held = await MachineFolder.create(machines, () => Promise.resolve(false));
    const stop = new AbortController();
    let child: ChildProcess | undefined;
    const starting = qemuHypervisor({
      ...{ qemu: 'qemu', virtiofsd: [] },
      spawnTool: () => spawn('true', { stdio: 'ignore' }),
      spawnShare: () => {
        throw new Error('It has no folders');
      },
      // As bubblewrap does: the one that is started waits for another one.
      spawnMachine: () => (child = spawn('sh', ['-c', 'sleep 600 & wait'], { stdio: 'ignore' })),
    }).start({
      ...{ folder: held, shares: [], stored: undefined, signal: stop.signal, project: () => null },
      shape: {
        accelerator: 'tcg',
        network: false,
        shares: [],
        memoryMB: 64,
        processors: 1,
        clockKHz: undefined,
      },
      ...{ image: join(folder(), 'image'), imageId: 'image', diskMB: 1 },
    });
    starting.catch(() => undefined);
    await until(() => usageBelow(child?.pid ?? -1).pids.length === 2);
    const all = usageBelow(child?.pid ?? -1).pids.flatMap((pid) => identifyProcess(pid) ?? []);
    const ended = once(child as ChildProcess, 'exit');
    try {
      stop.abort();
      await assert.rejects(starting);
      await until(() => !all.some(isAlive));
      await ended;
    } finally {
      for (const each of all.filter(isAlive)) process.kill(each.pid, 'SIGKILL');
      held.release();
    }
  });
});
