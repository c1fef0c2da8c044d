import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { identifyProcess } from '../../../remote-agent/src/processes.ts';
import {
  createRunnerFolder,
  removeFolder,
  sweepRunnerFolders,
} from '../../../remote-agent/src/runnerFolder.ts';
import { asOrdinaryUser, useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('the folder of a runner', () => {
  const scratch = useTemporaryFolder();
  const uid = process.getuid?.() ?? -1;

  it('is its own, and lets others pass only where that was asked for', () => {
    const closed = createRunnerFolder({ scratch: scratch(), pid: process.pid });
    assert.equal(statSync(closed.path).mode & 0o777, 0o700);
    assert.throws(() => createRunnerFolder({ scratch: scratch(), pid: process.pid }), UserError);
    assert.notEqual(closed.nextJobFolder(), closed.nextJobFolder());
    closed.remove();
    const passable = createRunnerFolder({ scratch: scratch(), pid: process.pid, passable: true });
    assert.equal(statSync(passable.path).mode & 0o777, 0o711);
  });

  it('[JOB-07] is swept once its runner is gone, and only then', () => {
    const own = createRunnerFolder({ scratch: scratch(), pid: process.pid }).path;
    const parent = identifyProcess(process.ppid);
    const kept = [
      `sallyport-runner-${process.ppid}-${parent?.startTicks}`,
      'somebody-else',
      'sallyport-runner-x-1',
    ];
    const gone = ['sallyport-runner-4194999-1', `sallyport-runner-${process.ppid}-1`];
    for (const name of [...kept, ...gone]) {
      mkdirSync(path.join(scratch(), name, 'jobs/1/code'), { recursive: true });
      writeFileSync(path.join(scratch(), name, 'jobs/1/code/file'), 'x');
    }
    assert.equal(sweepRunnerFolders(scratch(), uid, own), 2);
    assert.deepEqual(readdirSync(scratch()).sort(), [...kept, path.basename(own)].sort());
    assert.equal(sweepRunnerFolders(scratch(), uid, own), 0);
  });

  it('[JOB-07] leaves alone what belongs to another user', () => {
    mkdirSync(path.join(scratch(), 'sallyport-runner-4194999-1'));
    assert.equal(sweepRunnerFolders(scratch(), uid + 1, ''), 0);
  });

  it('is removed with folders that may not be listed, and without following links', async () => {
    const folder = path.join(scratch(), 'job');
    mkdirSync(path.join(folder, 'closed/inner'), { recursive: true });
    mkdirSync(path.join(scratch(), 'outside'));
    writeFileSync(path.join(scratch(), 'outside/file'), 'kept');
    symlinkSync('../../outside', path.join(folder, 'closed/link'));
    await asOrdinaryUser(scratch(), async () => {
      chmodSync(path.join(folder, 'closed/inner'), 0);
      chmodSync(path.join(folder, 'closed'), 0);
      removeFolder(folder);
    });
    assert.deepEqual([existsSync(folder), existsSync(path.join(scratch(), 'outside/file'))], [false, true]);
  });
});
