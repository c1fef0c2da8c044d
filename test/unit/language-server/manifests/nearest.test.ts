import assert from 'node:assert/strict';
import { nearest } from '../../../../language-server/src/manifests/nearest.ts';

const keys = [
  'version',
  'title',
  'description',
  'runtime',
  'entry',
  'inputs',
  'outputs',
  'params',
  'limits',
  'view',
];

describe('nearest', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['titel', 'title'],
    ['Titel', 'title'],
    ['ouputs', 'outputs'],
    ['input', 'inputs'],
    ['vew', 'view'],
    ['runtim', 'runtime'],
    ['colour', undefined],
    ['', undefined],
    ['x', undefined],
    ['v'.repeat(10_000), undefined],
  ];
  for (const [word, expected] of table) {
    it(`takes ${word.slice(0, 20)} for ${expected ?? 'nothing'}`, () =>
      assert.equal(nearest(word, keys), expected));
  }
});
