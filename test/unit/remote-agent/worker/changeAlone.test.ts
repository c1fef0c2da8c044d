import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeAlone } from '../../../../remote-agent/src/worker/changeAlone.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const module = new URL('../../../../remote-agent/src/worker/changeAlone.ts', import.meta.url).href;

describe('changes of a worker’s files', () => {
  const folder = useTemporaryFolder();

  /** A process in the middle of a change. */
  const startInside = async () => {
    const program = `
      import { readSync, writeSync } from 'node:fs';
      import { changeAlone } from ${JSON.stringify(module)};
      changeAlone(process.argv[1], () => {
        writeSync(1, 'inside');
        readSync(0, Buffer.alloc(1));
      });
    `;
    const words = ['--input-type=module', '-e', program, folder()];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return child;
  };

  it('[WORKER-04] by several processes come one after the other', async () => {
    const count = join(folder(), 'count');
    writeFileSync(count, '0');
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

  it('[WORKER-10] go on at once after a process that was killed in one', async () => {
    const child = await startInside();
    child.kill('SIGKILL');
    await once(child, 'close');
    assert.equal(
      changeAlone(folder(), () => 'done', { waitMs: 0 }),
      'done',
    );
    assert.deepEqual(readdirSync(folder()), []);
  });

  it('[WORKER-10] wait for a process that is stopped in one, however old its mark is', async () => {
    const child = await startInside();
    try {
      child.kill('SIGSTOP');
      const longAgo = (Date.now() - 24 * 60 * 60_000) / 1000;
      for (const name of readdirSync(folder())) utimesSync(join(folder(), name), longAgo, longAgo);
      assert.throws(() => changeAlone(folder(), () => 'done', { waitMs: 20 }), { code: 'conflict' });
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });

  it('[WORKER-03] make one identity, however many processes ask for it first', async () => {
    const files = new URL('../../../../remote-agent/src/worker/workerFiles.ts', import.meta.url).href;
    const program = `
      import { readSync, writeSync } from 'node:fs';
      import { openIdentityFile } from ${JSON.stringify(files)};
      writeSync(1, 'ready ');
      readSync(0, Buffer.alloc(1));
      writeSync(1, openIdentityFile(process.argv[1], process.getuid()).spki.toString('hex'));
    `;
    const words = ['--input-type=module', '-e', program, join(folder(), 'identity')];
    const children = Array.from({ length: 8 }, () =>
      spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const said = Array<string>(children.length).fill('');
    for (const [at, child] of children.entries())
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said[at] = `${said[at] ?? ''}${text}`;
      });
    await until(() => said.every((text) => text === 'ready '), 50_000);
    for (const { stdin } of children) stdin.end('.');
    await Promise.all(children.map((child) => once(child, 'close')));
    assert.match(said[0] ?? '', /^ready [0-9a-f]{88}$/);
    assert.deepEqual(new Set(said).size, 1);
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
