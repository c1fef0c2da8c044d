import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeAlone } from '../../../../remote-agent/src/worker/folderLock.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('changes of a worker’s files', () => {
  const folder = useTemporaryFolder();

  it('[WORKER-04] by several processes come one after the other', async () => {
    const count = join(folder(), 'count');
    writeFileSync(count, '0');
    const module = new URL('../../../../remote-agent/src/worker/folderLock.ts', import.meta.url).href;
    const program = `
      import { readFileSync, writeFileSync } from 'node:fs';
      import { changeAlone } from ${JSON.stringify(module)};
      const [folder, count] = process.argv.slice(1);
      for (let turn = 0; turn < 50; turn += 1)
        changeAlone(folder, () => writeFileSync(count, String(Number(readFileSync(count, 'utf8')) + 1)));
    `;
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', program, folder(), count], { stdio: 'ignore' }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number));
    assert.deepEqual(codes, [0, 0, 0]);
    assert.equal(readFileSync(count, 'utf8'), '150');
  });

  it('go on after a process that was killed in one', () => {
    const lock = join(folder(), 'changing');
    mkdirSync(lock);
    const longAgo = (Date.now() - 60_000) / 1000;
    utimesSync(lock, longAgo, longAgo);
    assert.equal(
      changeAlone(folder(), () => 'done'),
      'done',
    );
    assert.equal(existsSync(lock), false);
  });

  it('leave no mark behind an error', () => {
    assert.throws(
      () =>
        changeAlone(folder(), () => {
          throw new Error('inside');
        }),
      /inside/,
    );
    assert.equal(
      changeAlone(folder(), () => 1),
      1,
    );
  });
});
