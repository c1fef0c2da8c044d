import assert from 'node:assert/strict';
import type { Json } from '../../../../../protocol/src/canonicalJson.ts';
import { withEveryArgument } from '../../../../../language-server/src/agent/tools/everyArgument.ts';

describe('withEveryArgument', () => {
  const shown = { title: 'Run a command', lines: ['echo one', 'echo two 12'], fullText: null };
  const cases: readonly (readonly [string, Json, readonly string[]])[] = [
    ['nothing, where all is shown', { command: 'echo one\r\necho two 12' }, []],
    ['a number', { command: 'echo one', seconds: 597 }, ['seconds: 597']],
    ['a number that is only part of another one', { seconds: 1 }, ['seconds: 1']],
    ['nothing for a number that stands there', { seconds: 12 }, []],
    ['a switch that is on', { all: true, quiet: false, name: null, text: '' }, ['all: true']],
    ['what lies deep', { edits: [{ old: 'gone' }, { old: 'echo' }] }, ['edits.0.old: gone']],
    ['a text of which one line is missing', { text: 'echo one\nrm -rf' }, ['text: echo one\nrm -rf']],
    ['signs that mean something in a pattern', { glob: '*' }, ['glob: *']],
  ];
  for (const [what, args, lines] of cases)
    it(`[ATTACK-04] adds ${what}`, () => {
      assert.deepEqual(withEveryArgument(shown, args), { ...shown, lines: [...shown.lines, ...lines] });
    });

  it('[ATTACK-04] leaves out what the tool shows as a difference, and only that', () => {
    const args = { files: [{ text: 'as it was' }], filesystem: 'gone', seconds: 597 };
    assert.deepEqual(withEveryArgument(shown, args, ['files']).lines, [
      ...shown.lines,
      'filesystem: gone',
      'seconds: 597',
    ]);
  });

  it('[ATTACK-04] adds it to the whole text as well, which is what is read', () => {
    const { fullText } = withEveryArgument({ ...shown, fullText: 'diff' }, { mode: '0755' });
    assert.equal(fullText, 'diff\n\nmode: 0755');
  });
});
