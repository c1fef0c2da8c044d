import assert from 'node:assert/strict';
import { EntryPaths, entryPathFault } from '../../../../language-server/src/apps/tree/entryPaths.ts';

describe('paths of an app’s files', () => {
  const bad: readonly (readonly [string, RegExp])[] = [
    ['../x', /out of its folder/],
    ['a/../../x', /out of its folder/],
    ['./x', /out of its folder/],
    ['/etc/passwd', /absolute/],
    ['//host/x', /absolute/],
    ['C:x', /drive/],
    ['c:/windows/x', /drive/],
    ['C:..\\x', /drive/],
    ['a\\..\\x', /backslash/],
    ['a//b', /empty part/],
    ['', /empty part/],
    ['a\0b', /NUL/],
    ['a\nb', /character/],
    ['a\u202Eb', /character/],
    ['ab:stream', /character/],
    ['a*', /character/],
    ['x.', /dot or a space/],
    ['x /y', /dot or a space/],
    ['con', /device/],
    ['a/NUL.txt', /device/],
    ['COM1', /device/],
    ['lpt²', /device/],
    ['.git/hooks/x', /\.git/],
    ['a/.GIT', /\.git/],
    ['x\uD800', /Unicode/],
    [`${'a/'.repeat(70)}x`, /deep/],
    ['a'.repeat(1100), /longer/],
  ];
  for (const [path, why] of bad)
    it(`[APPS-02] refuses ${JSON.stringify(path).slice(0, 40)}`, () =>
      assert.match(entryPathFault(path) ?? '', why));

  it('takes ordinary names, in any script', () => {
    for (const path of [
      'app.json',
      'a/b/c.js',
      'Bücher/日本.txt',
      '.editorconfig',
      'console.js',
      'community/x',
    ])
      assert.equal(entryPathFault(path), undefined, path);
  });

  const pairs: readonly (readonly [string, string, RegExp])[] = [
    ['a.txt', 'a.txt', /twice/],
    ['a.txt', 'A.TXT', /case or form/],
    ['\u00e9', 'e\u0301', /case or form/],
    ['straße', 'STRASSE', /case or form/],
    ['ﬁle', 'file', /case or form/],
    ['K', '\u212A', /case or form/],
    ['a', 'a/b', /below a file/],
    ['a/b', 'a', /file and a folder/],
    ['D/a', 'd/b', /case or form/],
  ];
  for (const [first, second, why] of pairs)
    it(`[APPS-02] refuses ${second} beside ${first}`, () => {
      const paths = new EntryPaths();
      assert.equal(paths.add(first, 'file'), undefined);
      assert.match(paths.add(second, 'file') ?? '', why);
    });
});
