import assert from 'node:assert/strict';
import { guestName, ImportRefused, resolveModule } from '../../../sandbox-worker/src/modulePath.ts';

describe('modulePath', () => {
  const modules = new Map(['main.js', 'lib/a.js', 'lib/deep/b.mjs', 'c.js'].map((path) => [path, '']));

  const found: readonly [string, string, string][] = [
    [guestName, 'main.js', 'main.js'],
    ['main.js', './lib/a.js', 'lib/a.js'],
    ['main.js', './lib/../c.js', 'c.js'],
    ['lib/a.js', '../c.js', 'c.js'],
    ['lib/a.js', './deep/b.mjs', 'lib/deep/b.mjs'],
    ['lib/deep/b.mjs', '../../main.js', 'main.js'],
    ['lib/a.js', './././a.js', 'lib/a.js'],
  ];
  for (const [base, request, path] of found)
    it(`[QJS-06] finds ${request} from ${base}`, () =>
      assert.equal(resolveModule(modules, base, request), path));

  const refused: readonly [string, string][] = [
    ['main.js', 'c.js'],
    ['main.js', '/c.js'],
    ['main.js', '../main.js'],
    ['main.js', './../main.js'],
    ['lib/a.js', '../../lib/a.js'],
    ['main.js', './c'],
    ['main.js', './c.js?x'],
    ['main.js', './%63.js'],
    ['main.js', '.\\c.js'],
    ['main.js', './lib//a.js'],
    ['main.js', './'],
    ['main.js', '..'],
    ['main.js', ''],
    ['main.js', 'node:fs'],
    ['main.js', 'file:///c.js'],
    ['main.js', './__proto__'],
    ['main.js', './C.js'],
    ['<input>', '../c.js'],
    [guestName, './main.js'],
  ];
  for (const [base, request] of refused)
    it(`[QJS-06] refuses "${request}" from ${base}`, () => {
      const name = resolveModule(modules, base, request);
      assert.ok(!modules.has(name));
      assert.doesNotMatch(name, /\.m?js$/, 'no file of a card can have this name');
      assert.match(new ImportRefused(name).message, /^Cannot import ".*" from .*: a js card imports/);
    });

  it('[QJS-06] bounds what it repeats', () => {
    const name = resolveModule(modules, 'b'.repeat(10_000), `./${'x'.repeat(10_000)}\0`);
    assert.ok(name.length < 500);
    assert.ok(!name.includes('\0'));
  });
});
