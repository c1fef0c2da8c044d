import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createRemoteJobs } from '../../../../language-server/src/runs/remoteJobs.ts';
import { openHome } from '../../../../language-server/src/store/home.ts';
import { openStore } from '../../../../language-server/src/store/store.ts';
import { jobWith } from '../../../support/jobs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const releaseLater = {
  ticket: Buffer.alloc(32, 1).toString('base64'),
  waitSeconds: 600,
  root: '/project',
  card: 'load',
  asked: [{ name: 'execution' as const, service: 'slurm:lab' }],
  wishes: [{ item: 'db', field: 'password', use: { kind: 'env' as const, name: 'DB' } }],
};

describe('the jobs elsewhere that a home remembers', () => {
  const folder = useTemporaryFolder();

  const untold = () => assert.fail('told');

  it('keep what the next engine asks for their vault values with, until they are cancelled or settled [SLURM-17]', () => {
    const open = () => {
      const store = openStore(openHome(join(folder(), 'home')), () => 1);
      return {
        store,
        jobs: createRemoteJobs({
          store,
          now: () => 1,
          events: { delta: untold, log: untold, problem: untold },
        }),
      };
    };
    const first = open();
    for (const jobId of ['one', 'two', 'plain'])
      first.jobs.send('slurm:lab', { ...jobWith({ jobId }), ...(jobId === 'plain' ? {} : { releaseLater }) });
    first.store.close();
    const { store, jobs } = open();
    assert.deepEqual(jobs.awaited('one'), releaseLater);
    assert.equal(jobs.awaited('plain'), undefined);
    assert.equal(jobs.awaited('unknown'), undefined);
    jobs.cancel('one');
    jobs.neverAccepted('two');
    assert.equal(jobs.awaited('one'), undefined);
    assert.equal(jobs.awaited('two'), undefined);
    store.close();
  });
});
