import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BridgeError, bridgeLimits } from '../../../../protocol/src/bridge.ts';
import { createAppStorage, type AppStorage } from '../../../../language-server/src/plugins/appStorage.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const quota = 10_000;

describe('appStorage', () => {
  const folder = useTemporaryFolder();
  let storage: AppStorage;
  let clock = 0;
  beforeEach(() => {
    clock = 100;
    storage = createAppStorage({ folder: join(folder(), 'data'), now: () => clock });
  });
  afterEach(() => storage.close());

  it('[PLUG-09] keeps files of each app apart, in a file that only its owner reads', () => {
    storage.put('notes', 'a/b.txt', bytes('one'), quota);
    storage.put('board', 'a/b.txt', bytes('two'), quota);
    assert.equal(String(Buffer.from(storage.get('notes', 'a/b.txt')!.bytes)), 'one');
    assert.equal(String(Buffer.from(storage.get('board', 'a/b.txt')!.bytes)), 'two');
    assert.equal(statSync(storage.fileOf('notes')).mode & 0o777, 0o600);
    assert.notEqual(storage.fileOf('notes'), storage.fileOf('board'));
  });

  it('gives back every byte, and an empty file', () => {
    const all = Uint8Array.from({ length: 256 }, (_, at) => at);
    storage.put('notes', 'all', all, quota);
    storage.put('notes', 'none', new Uint8Array(), quota);
    assert.deepEqual(new Uint8Array(storage.get('notes', 'all')!.bytes), all);
    assert.equal(storage.get('notes', 'none')?.bytes.byteLength, 0);
    assert.equal(storage.get('notes', 'other'), undefined);
  });

  it('lists by prefix, in order, with sizes and times', () => {
    for (const path of ['b', 'a/2', 'a/1', 'A/3', 'a%', 'ab']) storage.put('notes', path, bytes(path), quota);
    assert.deepEqual(
      storage.list('notes', 'a/').map(({ path }) => path),
      ['a/1', 'a/2'],
    );
    assert.deepEqual(
      storage.list('notes').map(({ path }) => path),
      ['A/3', 'a%', 'a/1', 'a/2', 'ab', 'b'],
    );
    assert.deepEqual(storage.list('notes', 'b'), [{ path: 'b', sizeBytes: 1, modifiedAt: 100 }]);
  });

  it('counts what is there, whatever was done', () => {
    const used = (): unknown => storage.usage('notes');
    assert.deepEqual(used(), { usedBytes: 0, files: 0 });
    storage.put('notes', 'ab', bytes('12345'), quota);
    assert.deepEqual(used(), { usedBytes: 7, files: 1 });
    storage.put('notes', 'ab', bytes('1'), quota);
    assert.deepEqual(used(), { usedBytes: 3, files: 1 });
    assert.equal(storage.delete('notes', 'ab'), true);
    assert.equal(storage.delete('notes', 'ab'), false);
    assert.deepEqual(used(), { usedBytes: 0, files: 0 });
  });

  it('[PLUG-09] refuses what goes over the quota and leaves what was there', () => {
    storage.put('notes', 'a', bytes('x'.repeat(90)), 100);
    const code = (act: () => unknown): string => {
      try {
        act();
        return 'done';
      } catch (error) {
        return error instanceof BridgeError ? error.code : String(error);
      }
    };
    assert.equal(
      code(() => storage.put('notes', 'b', bytes('x'.repeat(9)), 100)),
      'quota',
    );
    assert.equal(
      code(() => storage.put('notes', 'a', bytes('x'.repeat(100)), 100)),
      'quota',
    );
    assert.equal(
      code(() => storage.put('notes', 'b', bytes('x'.repeat(8)), 100)),
      'done',
    );
    assert.equal(
      code(() => storage.put('notes', 'a', bytes('x'.repeat(80)), 10)),
      'done',
      'smaller is taken',
    );
    assert.equal(
      code(() => storage.put('notes', 'c', new Uint8Array(bridgeLimits.fileBytes + 1), 2 ** 40)),
      'too-large',
    );
    assert.deepEqual(storage.usage('notes'), { usedBytes: 81 + 9, files: 2 });
  });

  it('[PLUG-09] an id that is none opens nothing', () => {
    for (const app of ['../notes', '', 'Notes', 'a/b', '.'])
      assert.throws(() => storage.get(app, 'a'), TypeError);
  });

  it('lets go of a file, opens it again, and removes it', () => {
    storage.put('notes', 'a', bytes('kept'), quota);
    storage.release('notes');
    assert.equal(storage.usage('notes').files, 1);
    storage.clear('notes');
    assert.equal(storage.usage('notes').files, 0);
  });

  it('says which file is damaged', () => {
    storage.put('notes', 'a', bytes('kept'), quota);
    storage.release('notes');
    writeFileSync(storage.fileOf('notes'), 'not a database, but long enough to be taken for one'.repeat(100));
    assert.throws(() => storage.get('notes', 'a'), /notes\.sqlite/);
  });
});
