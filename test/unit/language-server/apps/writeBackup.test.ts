import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBackup } from '../../../../language-server/src/apps/writeBackup.ts';
import { never } from '../../../support/testEngine.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('writeBackup', () => {
  const folder = useTemporaryFolder();
  const path = () => join(folder(), 'notes.zip');
  /** Backs an app up that has one file; `meanwhile` is done after the first look at the path. */
  const write = (meanwhile: () => void = () => undefined) =>
    writeBackup(
      {
        app: 'notes',
        path: path(),
        tree: { files: new Map([['app.json', {}]]), read: () => Buffer.from('{}') } as never,
        storage: { list: () => [] } as never,
        now: () => 1_000_000_000_000,
      },
      meanwhile,
      never,
    );

  it('writes one file for its owner alone, and nothing beside it', async () => {
    const { sizeBytes } = await write();
    const { size, mode, nlink } = statSync(path());
    assert.deepEqual([size, mode & 0o777, nlink], [sizeBytes, 0o600, 1]);
    assert.deepEqual(readdirSync(folder()), ['notes.zip']);
  });

  const taken: readonly (readonly [string, () => void])[] = [
    ['a file', () => writeFileSync(path(), 'mine')],
    ['a link to nothing', () => symlinkSync('nowhere', path())],
  ];
  for (const [what, put] of taken) {
    it(`replaces ${what} neither where it was there nor where it came while the backup was written`, async () => {
      let isPut = false;
      const once = () => {
        if (!isPut) put();
        isPut = true;
      };
      await assert.rejects(write(once), { code: 'conflict' });
      assert.deepEqual(readdirSync(folder()), ['notes.zip']);
      await assert.rejects(write(), { code: 'conflict' });
    });
  }

  it('leaves what a person put there as it was', async () => {
    await assert.rejects(
      write(() => writeFileSync(path(), 'mine')),
      { code: 'conflict' },
    );
    assert.equal(readFileSync(path(), 'utf8'), 'mine');
  });
});
