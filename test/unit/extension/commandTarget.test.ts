import assert from 'node:assert/strict';
import { findCard, findProject, parseTarget } from '../../../extension/src/commandTarget.ts';
import { makeCard, makeProject } from '../../support/sampleViews.ts';

describe('parseTarget', () => {
  const rows: [what: string, args: unknown[], expected: object][] = [
    ['nothing', [], {}],
    ['a root', ['/p'], { root: '/p' }],
    ['a root and a card', ['/p', 'load'], { root: '/p', card: 'load' }],
    ['a lens', [{ root: '/p', card: 'load', runId: 'r' }], { root: '/p', card: 'load', runId: 'r' }],
    [
      'a tree node',
      [{ id: 'x', label: 'y', kind: 'card', root: '/p', card: 'load' }],
      { root: '/p', card: 'load' },
    ],
    [
      'a file',
      [{ scheme: 'file', fsPath: '/p/sallyport.json', path: '/p/sallyport.json' }],
      { path: '/p/sallyport.json' },
    ],
    ['fields of other types', [{ root: 1, card: {} }], {}],
    ['null', [null], {}],
    ['a number', [7], {}],
  ];
  for (const [what, args, expected] of rows) {
    it(`reads ${what}`, () => {
      const read = Object.fromEntries(
        Object.entries(parseTarget(args)).filter(([, value]) => value !== undefined),
      );
      assert.deepEqual(read, expected);
    });
  }
});

describe('finding what a target names', () => {
  const inner = makeProject({
    root: '/p/inner',
    cards: [makeCard({ manifestPath: '/p/inner/cards/load/_card.json' })],
  });
  const projects = [makeProject(), inner];

  it('takes the innermost project of a file', () => {
    assert.equal(findProject(projects, { path: '/p/inner/x' })?.root, '/p/inner');
    assert.equal(findProject(projects, { path: '/p/x' })?.root, '/p');
    assert.equal(findProject(projects, { path: '/pp/x' }), undefined);
    assert.equal(findProject(projects, { root: '/gone', path: '/p/x' }), undefined);
  });

  it('takes a card by id or by a file in its folder', () => {
    assert.equal(findCard(inner, { card: 'load' })?.id, 'load');
    assert.equal(findCard(inner, { path: '/p/inner/cards/load/main.py' })?.id, 'load');
    assert.equal(findCard(inner, { path: '/p/inner/cards/loader/main.py' }), undefined);
    assert.equal(findCard(inner, { card: 'gone', path: '/p/inner/cards/load/main.py' }), undefined);
  });
});
