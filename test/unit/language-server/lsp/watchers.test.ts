import assert from 'node:assert/strict';
import { watchersFor } from '../../../../language-server/src/lsp/watchers.ts';
import type { LoadedProject } from '../../../../language-server/src/project/model.ts';

function project(cards: readonly string[]): LoadedProject {
  return {
    root: '/home/a b',
    manifestPath: '/home/a b/sallyport.json',
    manifest: { version: 1, name: 'x', cards: [...cards] },
    problems: [],
    cards: new Map(),
    graph: { wires: [], order: [], cyclic: new Set() },
  };
}

describe('watchersFor', () => {
  const table: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[], []],
    [['cards/*'], ['cards/**']],
    [['./cards/*', 'cards/*/'], ['cards/**']],
    [
      ['more/one', 'cards/*'],
      ['cards/**', 'more/one/**'],
    ],
    [['*'], ['**']],
  ];
  for (const [patterns, globs] of table) {
    it(`watches ${globs.join(', ') || 'manifests alone'} for ${patterns.join(', ') || 'nothing'}`, () => {
      const watchers = watchersFor([project(patterns)]).slice(2);
      assert.deepEqual(
        watchers.map((each) => each.globPattern),
        globs.map((pattern) => ({ baseUri: 'file:///home/a%20b', pattern })),
      );
    });
  }

  it('watches what is made and removed beside the manifest of an open app', () => {
    assert.deepEqual(watchersFor([], ['/home/a/notes']).slice(2), [
      { globPattern: { baseUri: 'file:///home/a/notes', pattern: '**' }, kind: 5 },
    ]);
  });
});
