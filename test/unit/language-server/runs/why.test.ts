import assert from 'node:assert/strict';
import { keyParts } from '../../../../language-server/src/runs/cacheKey.ts';
import type { FrozenCard } from '../../../../language-server/src/runs/snapshot.ts';
import { createWhy } from '../../../../language-server/src/runs/why.ts';
import type { KeyPartChange } from '../../../../protocol/src/engine.ts';
import { defaultCardLimits } from '../../../../protocol/src/limits.ts';

const card: FrozenCard = {
  id: 'a',
  title: 'A',
  runtime: 'python',
  entry: 'main.py',
  code: { kind: 'directory', digest: 'a'.repeat(64), sizeBytes: 1, files: 1 },
  inputs: [],
  outputs: [],
  params: { year: 2012 },
  limits: defaultCardLimits,
  asked: [],
  access: { network: { kind: 'none' }, hostFolders: [] },
  viewOutput: null,
  vault: [],
  place: 'local',
  fault: null,
};
const parts = keyParts(card, [], () => ({}));

describe('createWhy', () => {
  interface Kept {
    readonly state: string;
    readonly key: string;
    readonly parts: string | undefined;
  }
  function why(kept: Kept | undefined, ignored: string | null = null): KeyPartChange[] {
    const store = {
      runs: { previous: () => kept && { key: kept.key, state: kept.state } },
      results: { parts: () => kept?.parts },
    };
    const blobs = { has: () => false };
    const told = createWhy(store as never, blobs as never, 'project', 2);
    return told(card, { kind: 'run', key: 'now', parts, ignored });
  }
  const before = (kept: Partial<Kept>): Kept => ({
    state: 'done',
    key: 'before',
    parts: JSON.stringify(parts),
    ...kept,
  });
  const environment = { part: 'environment', detail: 'the form of the cache' };

  const cases: readonly (readonly [string, Kept | undefined, unknown])[] = [
    ['a first run', undefined, { part: 'first-run', detail: 'it has not run before' }],
    [
      'a parameter',
      before({ parts: JSON.stringify({ ...parts, params: { year: 2011 } }) }),
      { part: 'params', detail: 'year: 2011 became 2012' },
    ],
    [
      'a failure',
      before({ key: 'now', state: 'failed' }),
      { part: 'last-failed', detail: 'the last time it was failed' },
    ],
    [
      'a removed result',
      before({ key: 'now' }),
      { part: 'result-removed', detail: 'its result was removed since' },
    ],
    [
      'removed parts',
      before({ parts: undefined }),
      { part: 'result-removed', detail: 'what it ran with was removed since' },
    ],
    ['equal parts under another key', before({}), environment],
    ['parts of another form', before({ parts: '{"version":0}' }), environment],
    ['parts that are no JSON', before({ parts: '{' }), environment],
  ];
  for (const [what, kept, told] of cases) {
    it(`tells ${what}`, () => {
      assert.deepEqual(why(kept), [told]);
    });
  }

  it('tells a cache that is passed over before all else', () => {
    assert.deepEqual(why(before({}), 'the cache was to be ignored'), [
      { part: 'cache-ignored', detail: 'the cache was to be ignored' },
    ]);
  });
});
