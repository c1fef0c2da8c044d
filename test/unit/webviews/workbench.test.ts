import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mergeRows } from '../../../protocol/src/rows.ts';
import { BlockSplitter } from '../../../webviews/src/workbench/blocks.ts';
import { imageLimits, imageProblem } from '../../../webviews/src/workbench/images.ts';
import { createMarkdownParser, isWebAddress } from '../../../webviews/src/workbench/markdownParser.ts';
import { mentionAt } from '../../../webviews/src/workbench/mentionText.ts';
import { keepRows, lastRows, moveDown, moveUp } from '../../../webviews/src/workbench/rowWindow.ts';
import { showProse } from '../../../webviews/src/workbench/showProse.ts';
import { matchingCommands, slashCommandOf } from '../../../webviews/src/workbench/slashCommands.ts';
import { turnEnds } from '../../../webviews/src/workbench/turns.ts';
import { costText, tokenText } from '../../../webviews/src/workbench/usageText.ts';
import {
  initialWorkbench,
  keptRows,
  reduceWorkbench,
  type WorkbenchEvent,
} from '../../../webviews/src/workbench/workbenchState.ts';
import {
  answerItem,
  longConversation,
  personItem,
  sampleItems,
  sampleSnapshot,
  sampleSummary,
  toolItem,
} from '../../support/sampleConversation.ts';

const parser = createMarkdownParser();
const markdown = [
  '# Title\n\nA paragraph\nof two lines.\n\n- one\n\n- two\n  more\n\n```js\na\n\nb\n```\n\n> quote\n\n| a |\n| - |\n| 1 |\n\n',
  'Setext\n===\n\n    indented\n\n<b>html</b>\n\n1. x\n   ```\n   inner\n   ```\n2. y\n\n***\n\n~~~\nopen fence',
].join('');

describe('the blocks of an answer', () => {
  const whole = new BlockSplitter(parser).read(markdown);

  it('are the top level: code apart from the rest', () => {
    assert.deepEqual(
      whole.filter(({ kind }) => kind === 'code'),
      [
        { kind: 'code', text: 'a\n\nb\n', language: 'js' },
        { kind: 'code', text: 'indented\n', language: '' },
        { kind: 'code', text: 'open fence', language: '' },
      ],
    );
    assert.equal(whole[0]?.text, '# Title');
  });

  it('are the same however the text arrives', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: markdown.length }), { maxLength: 40 }), (cuts) => {
        const splitter = new BlockSplitter(parser);
        for (const cut of [...cuts].sort((a, b) => a - b)) splitter.read(markdown.slice(0, cut));
        assert.deepEqual(splitter.read(markdown), whole);
      }),
    );
  });

  it('of any text hold all of it that is not white space', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('a', '*', '#', '`', '```', '\n', '\n\n', '- ', '> ', '|', ' ', '<', '[x]', '='),
          {
            maxLength: 60,
          },
        ),
        (parts) => {
          const text = parts.join('');
          const bare = (value: string) => value.replace(/[\s`~>|-]/g, '').length;
          const kept = new BlockSplitter(parser).read(text).reduce((sum, block) => sum + bare(block.text), 0);
          // Only the words after a fence are not part of a block's text.
          assert.ok(kept <= bare(text));
        },
      ),
    );
  });

  it('begin anew when another text is shown', () => {
    const splitter = new BlockSplitter(parser);
    splitter.read('one\n\ntwo\n\nthree');
    assert.deepEqual(
      splitter.read('two').map(({ text }) => text),
      ['two'],
    );
  });
});

describe('what is a link', () => {
  for (const [address, expected] of [
    ['https://a.example/x?y#z', true],
    ['HTTP://a.example', true],
    ['command:x', false],
    ['vscode:x', false],
    ['file:///x', false],
    ['javascript:x', false],
    ['data:text/html,x', false],
    ['//a.example', false],
    ['http:a', false],
    ['https:// a', false],
    ['', false],
  ] as const) {
    it(`${address === '' ? 'nothing' : address}: ${expected}`, () =>
      assert.equal(isWebAddress(address), expected));
  }

  it('markup holds no picture and no style', () => {
    const html = parser.render('![a](https://x.example/y)\n\n| a |\n| -: |\n| 1 |');
    assert.doesNotMatch(html, /<img|style=/);
    assert.match(html, /<a href="https:\/\/x\.example\/y">\[picture: a\]<\/a>/);
    assert.match(html, /<td align="right">/);
  });
});

describe('the rows of a conversation', () => {
  it('take what is new and what changed, in order, and keep the last', () => {
    const rows = longConversation(6);
    const changed = toolItem(5, { title: 'other' });
    const merged = mergeRows(rows, { items: [personItem(8), changed, personItem(7)], text: null }, 5);
    assert.deepEqual(
      merged.items.map(({ seq }) => seq),
      [4, 5, 6, 7, 8],
    );
    assert.equal(merged.items[1], changed);
    assert.equal(merged.items[0], rows[3]);
    assert.ok(merged.isWhole);
  });

  it('take text once, however often it is told, and say when some is missing', () => {
    const rows = [answerItem(1, 'ab')];
    const after = (at: number, append: string, seq = 1) =>
      mergeRows(rows, { items: [], text: { seq, at, append } }, 9);
    const textOf = ({ items: [row] }: ReturnType<typeof after>) => row?.kind === 'answer' && row.markdown;
    assert.equal(textOf(after(2, 'cd')), 'abcd');
    assert.equal(textOf(after(1, 'bcd')), 'abcd');
    assert.equal(after(3, 'x').isWhole, false);
    assert.equal(after(0, 'x', 2).isWhole, false);
    assert.equal(after(0, 'x', 0).isWhole, true);
  });

  it('merged in any order of delivery are those of the engine', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7, 8], { minLength: 8 }), (order) => {
        const merged = order.reduce<ReturnType<typeof mergeRows>['items']>(
          (items, seq) => mergeRows(items, { items: [personItem(seq)], text: null }, 100).items,
          [personItem(0)],
        );
        assert.deepEqual(
          merged.map(({ seq }) => seq),
          [0, 1, 2, 3, 4, 5, 6, 7, 8],
        );
      }),
    );
  });
});

describe('the state of the workbench', () => {
  const all = longConversation(1000);
  const shown = sampleSnapshot({ items: all.slice(-200) });
  const after = (...events: WorkbenchEvent[]) =>
    [{ type: 'state' as const, shown }, ...events].reduce(reduceWorkbench, initialWorkbench);

  it('[WB-04] keeps a bounded number of rows whatever is read', () => {
    let state = after();
    for (let before = 801; before > 1; before -= 100) {
      const items = all.filter(({ seq }) => seq < before).slice(-100);
      state = reduceWorkbench(state, { type: 'older', id: 'c-1', items });
    }
    assert.equal(state.shown?.items.length, keptRows);
    assert.equal(state.shown.items[0]?.seq, 1);
    assert.ok(state.hasNewer);
    // What is said at the end meanwhile leaves no hole, and what comes back follows on.
    const delta = { type: 'delta', summary: sampleSummary(), items: [personItem(1001)], text: null } as const;
    assert.equal(reduceWorkbench(state, delta).shown?.items.at(-1)?.seq, keptRows);
    const later = reduceWorkbench(state, { type: 'newer', id: 'c-1', items: all.slice(600, 700) });
    assert.deepEqual([later.shown?.items[0]?.seq, later.shown?.items.at(-1)?.seq], [101, 700]);
    assert.ok(later.hasOlder);
    assert.equal(reduceWorkbench(later, { type: 'newer', id: 'c-1', items: [] }).hasNewer, false);
  });

  it('ignores what is about another conversation', () => {
    const state = after();
    const summary = sampleSummary({ id: 'other' });
    assert.equal(
      reduceWorkbench(state, { type: 'delta', summary, items: [personItem(5000)], text: null }),
      state,
    );
    assert.equal(reduceWorkbench(state, { type: 'older', id: 'other', items: [personItem(0)] }), state);
  });

  it('is torn by a missed delta until everything comes again', () => {
    const torn = after({
      type: 'delta',
      summary: sampleSummary(),
      items: [],
      text: { seq: 999, at: 1e6, append: 'x' },
    });
    assert.ok(torn.isTorn);
    assert.equal(reduceWorkbench(torn, { type: 'state', shown }).isTorn, false);
  });
});

describe('the window of rows', () => {
  it('[WB-04] stays within the list and within its bound, however it moves', () => {
    const moves = fc.array(fc.constantFrom('up', 'down', 'older', 'append'), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 500 }), moves, (start, steps) => {
        let count = start;
        let range = lastRows(count);
        for (const step of steps) {
          if (step === 'up') range = moveUp(range);
          if (step === 'down') range = moveDown(range, count);
          if (step === 'older') range = keepRows(range, 100, (count += 100));
          if (step === 'append') range = keepRows(range, 0, (count += 1));
          assert.ok(range.first >= 0 && range.first <= range.end && range.end <= count);
          assert.ok(range.end - range.first <= 120);
        }
      }),
    );
  });
});

describe('the ends of turns', () => {
  it('offer what can be done, and nothing while the turn is answered', () => {
    const items = sampleItems();
    assert.deepEqual([...turnEnds(items, 'idle').keys()], [9, 12]);
    assert.deepEqual(
      [...turnEnds(items, 'waiting').values()],
      [{ turn: 1, seq: 9, canUndo: true, canRedo: false }],
    );
    const change = {
      changeId: 'x',
      path: 'a',
      kind: 'edit',
      addedLines: 1,
      removedLines: 1,
      undone: true,
    } as const;
    assert.deepEqual(
      [...turnEnds([toolItem(1, { changes: [change] })], 'idle').values()],
      [{ turn: 1, seq: 1, canUndo: false, canRedo: true }],
    );
  });
});

describe('what is typed', () => {
  for (const [text, caret, expected] of [
    ['see @ab', 7, { query: 'ab', from: 4 }],
    ['@', 1, { query: '', from: 0 }],
    ['see @ab cd', 7, { query: 'ab', from: 4 }],
    ['see @ab cd', 10, undefined],
    ['a@b', 3, undefined],
  ] as const) {
    it(`${text} at ${caret}`, () => assert.deepEqual(mentionAt(text, caret), expected));
  }

  it('is a command only where all of it is one', () => {
    assert.equal(slashCommandOf('/plan ')?.name, 'plan');
    assert.equal(slashCommandOf('/plan a trip'), undefined);
    assert.equal(slashCommandOf('/etc/passwd'), undefined);
    assert.deepEqual(
      matchingCommands('/c')?.map(({ name }) => name),
      ['compact'],
    );
    assert.equal(matchingCommands('a /c'), undefined);
  });

  it('holds pictures of known kinds and sizes only', () => {
    assert.equal(imageProblem({ type: 'image/png', size: 1 }, 0), undefined);
    assert.equal(imageProblem({ type: 'image/svg+xml', size: 1 }, 0), 'type');
    assert.equal(imageProblem({ type: 'image/png', size: imageLimits.bytes + 1 }, 0), 'size');
    assert.equal(imageProblem({ type: 'image/png', size: 1 }, imageLimits.count), 'count');
  });
});

describe('figures and prose', () => {
  it('are short and never rounded to nothing', () => {
    assert.deepEqual([850, 1000, 12_400, 99_999, 999_499, 1_200_000].map(tokenText), [
      '850',
      '1k',
      '12.4k',
      '100k',
      '999k',
      '1.2M',
    ]);
    assert.deepEqual([0, 0.00001, 0.0841, 1.5].map(costText), ['0.00', '<0.0001', '0.0841', '1.50']);
  });

  it('[WB-03] show what turns the direction, and leave emoji and scripts alone', () => {
    assert.equal(showProse('a\u202Eb\u{E0041}'), 'a\\u{202E}b\\u{E0041}');
    assert.equal(showProse('👩‍💻 ❤️ नमस्ते می‌روم'), '👩‍💻 ❤️ नमस्ते می‌روم');
  });
});
