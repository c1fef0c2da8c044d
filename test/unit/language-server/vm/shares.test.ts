import assert from 'node:assert/strict';
import { closeSync, fstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  foldersInside,
  mostShares,
  openShare,
  sharesOf,
} from '../../../../language-server/src/runners/vm/shares.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { isGuestShare } from '../../../../protocol/src/vmGuest.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const isUnsafe = (error: unknown) => error instanceof UserError && error.code === 'unsafe-path';

describe('the shares of a VM', () => {
  const folder = useTemporaryFolder();
  const make = (name: string) => {
    mkdirSync(join(folder(), name), { recursive: true });
    return join(folder(), name);
  };
  const asked = (path: string, write = false, name = 'data') => ({ path, name, write });

  it('are each folder once, in one order, whatever the card calls it', () => {
    const [a, b] = [make('a'), make('b')];
    const shares = sharesOf([asked(b), asked(a, true), asked(b, false, 'again')], []);
    assert.deepEqual(
      shares.map(({ path, write }) => [path, write]),
      [
        [a, true],
        [b, false],
      ],
    );
    const inside = foldersInside([asked(b, false, 'x'), asked(a, true, 'y')], shares);
    assert.deepEqual(inside, [
      { path: '/run/sallyport/shares/1', name: 'x', write: false },
      { path: '/run/sallyport/shares/0', name: 'y', write: true },
    ]);
    assert.ok(inside.every(({ path }) => isGuestShare(path)));
  });

  it('[VM-10] to read and to write are two, and what was not shared is not found', () => {
    const a = make('a');
    const shares = sharesOf([asked(a), asked(a, true)], []);
    assert.deepEqual(
      shares.map(({ write }) => write),
      [false, true],
    );
    assert.throws(() => foldersInside([asked(a, true)], shares.slice(0, 1)));
  });

  it('[VM-13] of folders that no card is shown are refused', () => {
    const own = make('home/store');
    const a = make('a');
    symlinkSync(a, join(folder(), 'link'));
    writeFileSync(join(folder(), 'file'), '');
    for (const bad of [
      own,
      folder(),
      '/',
      join(folder(), 'link'),
      join(folder(), 'file'),
      'a',
      join(folder(), 'none'),
    ])
      assert.throws(() => sharesOf([asked(bad)], [join(folder(), 'home')]), isUnsafe, bad);
    assert.equal(sharesOf([asked(a)], [join(folder(), 'home')]).length, 1);
  });

  it('are no more than a VM has room for', () => {
    const many = Array.from({ length: mostShares + 1 }, (_, at) => asked(make(`m${at}`)));
    assert.throws(() => sharesOf(many, []), isUnsafe);
    assert.equal(sharesOf(many.slice(1), []).length, mostShares);
  });

  it('[VM-13] of a folder that was replaced are others, and the old ones open nothing', () => {
    const a = make('a');
    const [before] = sharesOf([asked(a)], []);
    assert.ok(before);
    const descriptor = openShare(before);
    assert.ok(fstatSync(descriptor).isDirectory());
    closeSync(descriptor);
    renameSync(a, join(folder(), 'moved'));
    make('a');
    const [after] = sharesOf([asked(a)], []);
    assert.notEqual(after?.identity, before.identity);
    assert.throws(() => openShare(before), isUnsafe);
    rmSync(a, { recursive: true });
    symlinkSync(join(folder(), 'moved'), a);
    // The same folder, by way of a link.
    assert.throws(() => openShare(before));
  });
});
