import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRecordWrites } from '../../../../language-server/src/history/recordJob.ts';
import { closedAccess } from '../../../../language-server/src/permissions/access.ts';
import type { CardJob } from '../../../../language-server/src/runners/cardRunner.ts';
import { endedWith } from '../../../support/fakeRunner.ts';
import { HistoryHarness } from '../../../support/historyHarness.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('recordJob', () => {
  const folder = useTemporaryFolder();
  let history: HistoryHarness;
  let shared: string;
  beforeEach(() => {
    history = new HistoryHarness(folder(), { limitBytes: 10_000 });
    shared = join(folder(), 'shared');
    mkdirSync(shared);
  });
  afterEach(() => history.close());

  const done = endedWith({ kind: 'exited', exitCode: 0 });
  const job = (hostFolders: CardJob['access']['hostFolders']): CardJob => ({
    jobId: 'job-1',
    cardId: 'card',
    runtime: 'python',
    entry: 'main.py',
    code: { kind: 'directory', digest: 'a'.repeat(64), sizeBytes: 0, files: 0 },
    inputs: [],
    outputs: [],
    params: '{}',
    limits: { seconds: 1, memoryMB: 1, processes: 1, outputMB: 1, logMB: 1 },
    access: { ...closedAccess, hostFolders },
  });
  const writable = () => job([{ path: shared, name: 'shared', write: true }]);
  const record = () => createRecordWrites(() => history.journal);

  it('[UNDO-06] what a card does in a shared folder is taken back', async () => {
    writeFileSync(join(shared, 'a.txt'), 'before');
    const result = await record()(history.root, writable(), async () => {
      writeFileSync(join(shared, 'a.txt'), 'by a card');
      return done;
    });
    assert.equal(result, done);
    const [change] = (await history.list()).changes;
    assert.deepEqual([change?.principal, change?.path], ['card:card', join(shared, 'a.txt')]);
    await history.turn('undo', { group: 'job-1' });
    assert.equal(readFileSync(join(shared, 'a.txt'), 'utf8'), 'before');
  });

  it('costs a card that writes nowhere nothing', async () => {
    const recordWrites = createRecordWrites(() => {
      throw new Error('no journal is needed');
    });
    assert.equal(await recordWrites(history.root, job([]), async () => done), done);
    const reading = job([{ path: shared, name: 'shared', write: false }]);
    assert.equal(await recordWrites(history.root, reading, async () => done), done);
  });

  for (const [what, prepare] of [
    ['holds more than can be kept', () => writeFileSync(join(shared, 'big'), Buffer.alloc(20_000))],
    ['is not there', () => (shared = join(folder(), 'missing'))],
  ] as const) {
    it(`refuses a card whose shared folder ${what}, and does not start it`, async () => {
      prepare();
      let started = false;
      const result = await record()(history.root, writable(), async () => {
        started = true;
        return done;
      });
      assert.equal(result.outcome.kind, 'refused');
      assert.equal(started, false);
    });
  }

  it('passes on that the place was lost, once what was done is recorded', async () => {
    const running = record()(history.root, writable(), async () => {
      writeFileSync(join(shared, 'a.txt'), 'half');
      throw new Error('the runner is gone');
    });
    await assert.rejects(running, /the runner is gone/);
    assert.equal((await history.list()).changes.length, 1);
  });
});
