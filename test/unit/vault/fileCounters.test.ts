import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CounterStore, KnownHead } from '../../../extension/src/vault/core/counterStore.ts';
import { FileCounters, keepTwice } from '../../../extension/src/vault/core/fileCounters.ts';
import { nodeFiles } from '../../../extension/src/vault/core/vaultFiles.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

const id = '0123456789abcdef'.repeat(2);
const head = { counter: 7, digest: 'ab'.repeat(32) };

describe('FileCounters', () => {
  const temporary = useTemporaryFolder();
  const folder = () => join(temporary(), 'vault-counters');

  it('[SEAL-03] keeps a counter for each vault, for its owner alone', async () => {
    const counters = new FileCounters(folder());
    assert.equal(await counters.read(id), undefined);
    await counters.write(id, head);
    await counters.write(id, { ...head, counter: 8 });
    assert.deepEqual(await counters.read(id), { ...head, counter: 8 });
    assert.equal(await counters.read('f'.repeat(32)), undefined);
    assert.deepEqual(readdirSync(folder()), [id]);
    assert.equal(statSync(folder()).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder(), id)).mode & 0o777, 0o600);
  });

  const broken: readonly (readonly [string, string])[] = [
    ['words', 'not a head'],
    ['a negative counter', `-1 ${head.digest}`],
    ['a short digest', '7 abcd'],
    ['more than one line', `7 ${head.digest}\n8 ${head.digest}`],
    ['far too much', '9'.repeat(10_000)],
  ];
  for (const [what, text] of broken)
    it(`[SEAL-03] can’t tell where the file holds ${what}`, async () => {
      mkdirSync(folder());
      writeFileSync(join(folder(), id), text);
      await assert.rejects(new FileCounters(folder()).read(id), /malformed/);
    });

  it('takes a file that a power failure left empty for none', async () => {
    mkdirSync(folder());
    writeFileSync(join(folder(), id), '');
    assert.equal(await new FileCounters(folder()).read(id), undefined);
  });

  it('follows no link, and takes no id that is a path', async () => {
    mkdirSync(folder());
    const other = join(temporary(), 'other');
    writeFileSync(other, `9 ${head.digest}\n`);
    symlinkSync(other, join(folder(), id));
    const counters = new FileCounters(folder());
    await assert.rejects(counters.read(id));
    await counters.write(id, head);
    assert.equal(readFileSync(other, 'utf8'), `9 ${head.digest}\n`);
    await assert.rejects(counters.read('../other'), /Not the id/);
    await assert.rejects(counters.write('../other', head), /Not the id/);
  });

  it('leaves nothing behind, and what was there, where it can’t write', async () => {
    await new FileCounters(folder()).write(id, head);
    const full = {
      ...nodeFiles,
      renameSync: () => {
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      },
    };
    await assert.rejects(new FileCounters(folder(), full).write(id, { ...head, counter: 8 }), /full/);
    assert.deepEqual(readdirSync(folder()), [id]);
    assert.deepEqual(await new FileCounters(folder()).read(id), head);
  });

  it('keeps in both places, reads the first, and goes on without the second', async () => {
    const known = new Map<string, KnownHead>();
    const first: CounterStore = {
      read: async (vault) => known.get(vault),
      write: async (vault, value) => void known.set(vault, value),
    };
    const second = new FileCounters(folder());
    const both = keepTwice(first, second);
    await both.write(id, head);
    assert.deepEqual([await both.read(id), await second.read(id)], [head, head]);
    known.delete(id);
    assert.equal(await both.read(id), undefined);
    const failing: CounterStore = {
      read: async () => undefined,
      write: () => Promise.reject(new Error('full')),
    };
    await keepTwice(first, failing).write(id, head);
    assert.deepEqual(known.get(id), head);
  });
});
