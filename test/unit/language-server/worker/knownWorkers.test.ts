import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KnownWorkers } from '../../../../language-server/src/runners/worker/knownWorkers.ts';
import { tryLock } from '../../../../remote-agent/src/files/folderLock.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const module = new URL('../../../../language-server/src/runners/worker/knownWorkers.ts', import.meta.url)
  .href;
const uid = process.getuid?.() ?? -1;
const worker = { host: 'lab', port: 7337, identity: 'bm9ib2R5' };

describe('the workers that a home is enrolled at', () => {
  const folder = useTemporaryFolder();
  const names = () =>
    new KnownWorkers(folder(), uid)
      .list()
      .map(({ name }) => name)
      .sort();

  it('[WORKER-12] are changed by nobody while another window is in the middle of a change', () => {
    const known = new KnownWorkers(folder(), uid, { waitMs: 0 });
    known.add('one', worker);
    const text = () => readFileSync(join(folder(), 'workers.json'), 'utf8');
    const before = text();
    const other = tryLock(folder());
    assert.throws(() => known.add('two', worker), { code: 'conflict' });
    assert.throws(() => known.forget('one'), { code: 'conflict' });
    assert.equal(text(), before);
    // Who only reads is not kept waiting.
    assert.equal(known.get('one').host, 'lab');
    other?.release();
    known.add('two', worker);
    assert.ok(known.forget('one'));
    assert.ok(!known.forget('one'));
    assert.deepEqual(names(), ['two']);
  });

  it('[WORKER-12] are all there after several windows have enrolled at once', async () => {
    const program = `
      import { KnownWorkers } from ${JSON.stringify(module)};
      const [home, uid, own] = process.argv.slice(1);
      const known = new KnownWorkers(home, Number(uid), { waitMs: 60_000 });
      for (let turn = 0; turn < 20; turn += 1) known.add(own + turn, ${JSON.stringify(worker)});
    `;
    const owners = ['a', 'b', 'c'];
    const children = owners.map((own) =>
      spawn(process.execPath, ['--input-type=module', '-e', program, folder(), String(uid), own], {
        stdio: 'inherit',
      }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number));
    assert.deepEqual(codes, [0, 0, 0]);
    const all = owners.flatMap((own) => Array.from({ length: 20 }, (_, turn) => `${own}${turn}`));
    assert.deepEqual(names(), all.sort());
  }).timeout(120_000);

  it('of which one name is one worker’s', () => {
    const known = new KnownWorkers(folder(), uid);
    known.add('lab', worker);
    assert.throws(() => known.add('lab', { ...worker, host: 'another' }), { code: 'conflict' });
    assert.equal(known.get('lab').host, 'lab');
    assert.throws(() => known.add('a b', worker), { code: 'bad-message' });
  });
});
