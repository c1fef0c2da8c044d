import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyHunks } from '../../../../../language-server/src/agent/tools/applyHunks.ts';
import { matchesName } from '../../../../../language-server/src/agent/tools/globLine.ts';
import { judge, parseIgnore } from '../../../../../language-server/src/agent/tools/ignoreRules.ts';
import { lineDiff } from '../../../../../language-server/src/agent/tools/lineDiff.ts';
import { parsePatch } from '../../../../../language-server/src/agent/tools/patch.ts';
import { parseText, toBytes } from '../../../../../language-server/src/agent/tools/textFile.ts';

const line = fc.constantFrom('a', 'b', 'c', '', ' x');
const textOf = (lines: readonly string[], endsInBreak: boolean) =>
  lines.join('\n') + (lines.length > 0 && endsInBreak ? '\n' : '');
const someText = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, endsInBreak]) => textOf(lines, endsInBreak));

describe('lineDiff', () => {
  it('is a patch that makes the one text of the other, and its opposite has the opposite counts', () => {
    fc.assert(
      fc.property(someText, someText, (before, after) => {
        const { text, addedLines, removedLines } = lineDiff(before, after);
        const back = lineDiff(after, before);
        assert.deepEqual([back.addedLines, back.removedLines], [removedLines, addedLines]);
        if (before === after) assert.equal(text, '');
        if (before === after || before === '' || after === '') return;
        const [patch] = parsePatch(`--- a/f\n+++ b/f\n${text}\n`);
        assert.ok(patch?.kind === 'update');
        assert.equal(applyHunks('f', before, patch.hunks, patch.endsInBreak), after, text);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves nothing out of a very large difference', () => {
    const before = Array.from({ length: 5000 }, (_, index) => `old ${index}\n`).join('');
    const after = Array.from({ length: 5000 }, (_, index) => `new ${index}\n`).join('');
    const { text, addedLines, removedLines } = lineDiff(before, after);
    assert.deepEqual([addedLines, removedLines], [5000, 5000]);
    assert.ok(text.includes('-old 4999') && text.includes('+new 4999'));
  });
});

describe('parseText', () => {
  it('gives back exactly the bytes that it was given', () => {
    const piece = fc.constantFrom('a', '\n', '\r\n', '\r', '\uFEFF', 'é', '😀');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const bytes = Buffer.from(pieces.join(''));
        const file = parseText(bytes);
        assert.ok(file);
        assert.deepEqual(toBytes(file.text, file), bytes);
      }),
      { numRuns: 1000 },
    );
  });

  for (const [what, bytes] of [
    ['a NUL', Buffer.from('a\0b')],
    ['UTF-16', Buffer.from('\uFEFFabc', 'utf16le')],
    ['a broken sequence', Buffer.from([0x61, 0xc3])],
  ] as const) {
    it(`takes ${what} for no text`, () => assert.equal(parseText(bytes), undefined));
  }
});

describe('matchesName', () => {
  const table: readonly [string, string, boolean][] = [
    ['*.ts', 'a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[!a-c]x', 'dx', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a**b', 'axxb', true],
    ['', '', true],
    ['', 'a', false],
    ['[', '[', true],
  ];
  for (const [pattern, name, expected] of table) {
    it(`${pattern} ${expected ? 'matches' : 'does not match'} ${name}`, () =>
      assert.equal(matchesName(pattern, name), expected));
  }

  it('takes no exponential time', () => {
    assert.equal(matchesName('*a'.repeat(200) + 'b', 'a'.repeat(4000)), false);
  });
});

describe('judge', () => {
  const table: readonly [string, string, boolean, ReturnType<typeof judge>][] = [
    ['*.log', 'deep/a.log', false, 'ignored'],
    ['/a.log', 'a.log', false, 'ignored'],
    ['/a.log', 'deep/a.log', false, null],
    ['build/', 'build', true, 'ignored'],
    ['build/', 'build', false, null],
    ['a/b', 'a/b', false, 'ignored'],
    ['a/b', 'x/a/b', false, null],
    ['**/b', 'x/y/b', false, 'ignored'],
    ['a/**', 'a/x/y', false, 'ignored'],
    ['a/**/b', 'a/b', false, 'ignored'],
    ['a/**/b', 'a/x/y/b', false, 'ignored'],
    ['*.log\n!keep.log', 'keep.log', false, 'kept'],
    ['!keep.log\n*.log', 'keep.log', false, 'ignored'],
    ['# x', '# x', false, null],
    ['\\#x', '#x', false, 'ignored'],
    ['x  ', 'x', false, 'ignored'],
  ];
  for (const [rules, path, isFolder, expected] of table) {
    it(`${JSON.stringify(rules)} says ${String(expected)} of ${path}${isFolder ? '/' : ''}`, () =>
      assert.equal(judge(parseIgnore(rules), path, isFolder), expected));
  }
});
