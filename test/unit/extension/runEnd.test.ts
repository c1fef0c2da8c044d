import assert from 'node:assert/strict';
import { endNotice } from '../../../extension/src/runs/endNotice.ts';
import type { CardState } from '../../../protocol/src/engine.ts';
import { makeCardRun, makeRun, makeStatus } from '../../support/sampleViews.ts';

const cards = (...states: CardState[]) =>
  states.map((state) => makeCardRun({ title: state, status: makeStatus({ state }) }));

describe('the end of a run', () => {
  const rows: [
    what: string,
    run: Parameters<typeof makeRun>[0],
    states: CardState[],
    expected: RegExp | undefined,
  ][] = [
    ['says nothing on success', { state: 'done' }, ['done', 'done'], undefined],
    ['says nothing after a cancel', { state: 'cancelled' }, ['cancelled', 'failed'], undefined],
    [
      'names what failed before what is blocked',
      { state: 'failed' },
      ['failed', 'blocked'],
      /card failed failed/,
    ],
    ['says that the end was not seen', { state: 'unknown' }, ['done', 'unknown'], /not seen/],
    ['asks to review what is blocked', { state: 'failed' }, ['done', 'blocked', 'skipped'], /not accepted/],
  ];
  for (const [what, run, states, expected] of rows) {
    it(what, () => {
      const notice = endNotice(makeRun(run), cards(...states));
      if (expected) assert.match(notice?.text ?? '', expected);
      else assert.equal(notice, undefined);
    });
  }
});
