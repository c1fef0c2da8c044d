import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from '../../../extension/src/vault/core/lockFolder.ts';
import { nodeFiles } from '../../../extension/src/vault/core/vaultFiles.ts';
import { tryLock } from '../../../remote-agent/src/files/folderLock.ts';
import { loginDraft, read, VaultHarness } from '../../support/vaultHarness.ts';

const program = join(import.meta.dirname, '../../support/raceVault.ts');

describe('several writers of one vault', () => {
  let harness: VaultHarness;
  beforeEach(() => (harness = new VaultHarness()));
  afterEach(() => harness.close());

  it('[SEAL-07] three processes save, change and remove at once: no change is lost', async () => {
    const vault = await harness.create('vault', { counters: null });
    const rounds = 12;
    const names = ['a', 'b', 'c'];
    const saves = await Promise.all(names.map((name) => race(name, rounds)));
    assert.deepEqual(saves, [rounds, rounds, rounds]);
    await vault.refresh();
    assert.equal(vault.get('shared')?.version, names.length * rounds);
    for (const name of names) {
      const ids = vault.list().filter(({ id }) => id.startsWith(`${name}-`));
      assert.equal(ids.length, rounds - rounds / 4);
      for (const { id } of ids) assert.equal(await read(vault, id), `value ${id.split('-')[1] ?? ''}`);
    }
    assert.equal((await harness.state('vault', { counters: null }))['state'], 'open');
    assert.equal(
      readdirSync(join(harness.root, 'vault')).filter((name) => name.startsWith('lock.')).length,
      0,
    );
  });

  it('[SEAL-07] two windows edit one item: the later is told, and nothing of either is overwritten', async () => {
    const first = await harness.create();
    await first.save(loginDraft('one', 'before'));
    const second = await harness.open();
    await first.save(loginDraft('one', 'by the first', 1));
    await assert.rejects(second.save(loginDraft('one', 'by the second', 1)), {
      code: 'changed-elsewhere',
      data: { item: 'one', version: 2 },
    });
    assert.equal(await read(second, 'one'), 'by the first');
    await second.save(loginDraft('one', 'by the second', 2));
    assert.equal(await read(first, 'one', 'password', 2), 'by the first');
    assert.equal(await read(first, 'one'), 'by the second');
  });

  it('[SEAL-07] what a window revokes or removes is gone in the other at its next use', async () => {
    const first = await harness.create();
    await first.save(loginDraft('one', 'x'));
    const second = await harness.open();
    await first.remove('one');
    await assert.rejects(second.open('one', 'password'), { code: 'no-such-item' });
  });

  it('[SEAL-07] changes of one process at the same time come one after the other', async () => {
    const vault = await harness.create();
    await Promise.all(Array.from({ length: 20 }, (_, at) => vault.save(loginDraft(`item-${at}`, `${at}`))));
    assert.equal(vault.list().length, 20);
    const again = await harness.open();
    assert.equal(await read(again, 'item-7'), '7');
  });

  describe('lock', () => {
    let folder: string;
    beforeEach(() => {
      folder = join(harness.root, 'locked');
      mkdirSync(folder);
    });

    it('[SEAL-07] is had by one, and waited for by the next', async () => {
      const first = tryLock(folder);
      assert.ok(first);
      assert.equal(tryLock(folder), undefined);
      const waiting = lockFolder(folder, { files: nodeFiles });
      first.release();
      (await waiting).release();
      assert.deepEqual(readdirSync(folder), []);
    });

    it('[SEAL-07] that is never released is busy after the time', async () => {
      const first = tryLock(folder);
      await assert.rejects(lockFolder(folder, { files: nodeFiles, timeoutMs: 20 }), { code: 'busy' });
      first?.release();
    });
  });

  function race(name: string, rounds: number): Promise<number> {
    const key = harness.deviceKey.use((bytes) => bytes.toString('hex'));
    const folder = join(harness.root, 'vault');
    const child = spawn(process.execPath, [program, folder, key, name, String(rounds)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    return new Promise((resolve) => child.on('close', (code) => resolve(code === 0 ? Number(text) : NaN)));
  }
});
