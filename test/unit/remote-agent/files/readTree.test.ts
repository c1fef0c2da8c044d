import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { canonicalJson } from '../../../../protocol/src/canonicalJson.ts';
import { parseTree } from '../../../../remote-agent/src/files/readTree.ts';
import { showName, treePathFault } from '../../../../remote-agent/src/files/treePath.ts';

const digest = hash('sha256', '');
const listing = (...paths: string[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      version: 1,
      entries: paths.map((path) =>
        path.endsWith('|')
          ? { kind: 'directory', path: path.slice(0, -1) }
          : { kind: 'file', path, digest, sizeBytes: 0, executable: false },
      ),
    }),
  );

describe('readTree', () => {
  it('takes sound listings', () => {
    for (const paths of [
      [],
      ['a'],
      ['a', 'a-b', 'b/c', 'd|'],
      ['.hidden/..b/c..'],
      ['ü', '日本/語'],
      ['a\nb'],
    ]) {
      assert.equal(parseTree(listing(...paths)).entries.length, paths.length, paths.join());
    }
  });

  const unsafe: [title: string, paths: string[]][] = [
    ['a parent', ['../x']],
    ['a parent further down', ['a/../../x']],
    ['a parent at the end', ['a/..']],
    ['a parent alone', ['..|']],
    ['the folder itself', ['.']],
    ['the folder itself further down', ['a/./b']],
    ['an absolute path', ['/etc/passwd']],
    ['an empty part', ['a//b']],
    ['an end that is empty', ['a/']],
    ['a backslash', ['a\\..\\..\\x']],
    ['a NUL', ['a\0b']],
    ['half a surrogate', ['a\ud800']],
    ['the same twice', ['a', 'a']],
    ['another order', ['b', 'a']],
    ['a file as a folder', ['a', 'a/b']],
    ['a file as a folder with others between', ['a', 'a-b', 'a/b']],
    ['an empty folder that is not', ['a|', 'a/b/c']],
    ['a file as a folder further down', ['x/y/z', 'x/y/z/0/1/2']],
    ['too many parts', [Array<string>(65).fill('a').join('/')]],
    ['too long a path', ['é'.repeat(2049)]],
  ];
  for (const [title, paths] of unsafe) {
    it(`[FILES-05] refuses ${title}`, () => {
      assert.throws(() => parseTree(listing(...paths)), { code: 'unsafe-path' });
    });
  }

  const damaged: [title: string, bytes: Uint8Array][] = [
    ['nothing', Buffer.alloc(0)],
    ['half a listing', listing('a', 'b').subarray(0, 60)],
    ['another version', Buffer.from('{"version":2,"entries":[]}')],
    ['an unknown key', Buffer.from('{"version":1,"entries":[],"more":1}')],
    ['an unknown kind', Buffer.from('{"version":1,"entries":[{"kind":"symlink","path":"a"}]}')],
    ['bytes that are not UTF-8', Buffer.from('7b22ff', 'hex')],
    ['a digest that is a path', Buffer.from(listing('a').toString().replace(digest, '../../../etc/passwd'))],
    ['an endless nest', Buffer.from('['.repeat(100_000))],
  ];
  for (const [title, bytes] of damaged) {
    it(`[FILES-02] takes ${title} for damage`, () => {
      assert.throws(() => parseTree(bytes), { code: 'store-damaged' });
    });
  }

  it('refuses more entries than a tree may have', () => {
    const paths = Array.from({ length: 100_001 }, (_, index) => String(index).padStart(6, '0'));
    assert.throws(() => parseTree(listing(...paths)), { code: 'too-large' });
  });

  it('takes exactly the sets of safe paths in which none lies below another', () => {
    const part = fc.constantFrom('a', 'b', 'a-b', 'ä', '..', '.', '');
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 6 }), (paths) => {
        const sorted = paths.filter((each) => each !== '').sort();
        const sound =
          sorted.every((each) => treePathFault(each) === undefined) &&
          !sorted.some((each) => sorted.some((other) => other.startsWith(`${each}/`)));
        const bytes = Buffer.from(canonicalJson(JSON.parse(listing(...sorted).toString()) as never));
        if (sound) assert.equal(parseTree(bytes).entries.length, sorted.length);
        else assert.throws(() => parseTree(bytes), { code: 'unsafe-path' });
      }),
    );
  });

  it('shows names without letting them act on a terminal or forge text', () => {
    const names: [string | Uint8Array, string][] = [
      ['report (1).csv', 'report (1).csv'],
      ['日本語', '日本語'],
      ['a\nb', 'a\\x0ab'],
      ['\x1b[31m', '\\x1b[31m'],
      ['\u202etxt.exe', '\\xe2\\x80\\xaetxt.exe'],
      ['a\\x0ab', 'a\\x5cx0ab'],
      [Buffer.from([0x61, 0xff]), 'a\\xff'],
    ];
    for (const [name, shown] of names) assert.equal(showName(name), shown);
  });
});
