import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { LogLine } from '../../../protocol/src/engine.ts';
import { bytesOfBase64, imageType, textOfBytes } from '../../../webviews/src/run/bytes.ts';
import { CsvReader, type CsvTable } from '../../../webviews/src/run/csvTable.ts';
import { findLines } from '../../../webviews/src/run/findLines.ts';
import { LogPages, logPageLines } from '../../../webviews/src/run/logPages.ts';
import { byteSize, duration } from '../../../webviews/src/ui/figures.ts';
import { visibleText } from '../../../webviews/src/ui/visibleText.ts';
import { rowWindow, scrollTopOfRow } from '../../../webviews/src/ui/windowing.ts';
import { withoutFrames } from '../../../webviews/src/view/withoutFrames.ts';

function read(text: string, step = 1000): CsvTable {
  const reader = new CsvReader(text);
  while (reader.step(step));
  return reader.table();
}

const rowsOf = (table: CsvTable) => Array.from({ length: table.rowCount }, (_, index) => table.row(index));

describe('A CSV table', () => {
  const cases: readonly (readonly [string, string, readonly string[], readonly (readonly string[])[]])[] = [
    [
      'plain',
      'a,b\n1,2\n3,4\n',
      ['a', 'b'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['without a last line end', 'a\n1', ['a'], [['1']]],
    ['with CRLF', 'a,b\r\n1,2\r\n', ['a', 'b'], [['1', '2']]],
    ['with a byte order mark', '\uFEFFa\n1\n', ['a'], [['1']]],
    ['quoted', '"a,b","c\nd"\n"e""f",\n', ['a,b', 'c\nd'], [['e"f', '']]],
    ['empty', '', [], []],
    ['only a header', 'a,b\n', ['a', 'b'], []],
    ['a quote that never ends', 'a\n"b\nc', ['a'], [['b\nc']]],
  ];
  for (const [name, text, columns, rows] of cases) {
    it(name, () => {
      for (const step of [1, 3, 1000]) {
        const table = read(text, step);
        assert.deepEqual(table.columns, columns);
        assert.deepEqual(rowsOf(table), rows);
      }
    });
  }

  it('reads back what was written, whatever the cells hold and however it is stepped', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é') });
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 4 })
          .chain((width) =>
            fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
          ),
        fc.integer({ min: 1, max: 9 }),
        ([header = [], ...rows], step) => {
          const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
          const text = [header, ...rows].map((row) => `${row.map(quote).join(',')}\n`).join('');
          const table = read(text, step);
          assert.deepEqual(table.columns, header);
          assert.deepEqual(rowsOf(table), rows);
          assert.equal(table.unevenRows, 0);
        },
      ),
    );
  });

  it('sorts numbers as numbers, texts as people do, and leaves empty cells last both ways', () => {
    const numbers = read('n\n10\n9\n\n-1\n');
    assert.deepEqual([...numbers.order(0, false)], [3, 1, 0, 2]);
    assert.deepEqual([...numbers.order(0, true)], [0, 1, 3, 2]);
    const texts = read('t\nb10\nb9\na\n');
    assert.deepEqual([...texts.order(0, false)], [2, 1, 0]);
  });

  it('counts rows of another width', () => {
    assert.equal(read('a,b\n1\n1,2\n1,2,3\n').unevenRows, 2);
  });
});

describe('The rows in view', () => {
  it('cover the view at every position, at both ends and however long the list is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000_000 }),
        fc.integer({ min: 100, max: 2000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (rows, view, part) => {
          const { heightPx } = rowWindow(0, view, rows, 18);
          const top = part * Math.max(0, heightPx - view);
          const shown = rowWindow(top, view, rows, 18);
          assert.ok(shown.first >= 0 && shown.end <= rows && shown.end > shown.first);
          assert.ok(shown.topPx <= top + 0.01, 'starts at or above the view');
          const bottom = shown.topPx + (shown.end - shown.first) * 18;
          assert.ok(bottom >= Math.min(top + view, heightPx) - 1, 'ends at or below it');
          assert.ok(shown.end - shown.first <= Math.ceil(view / 18) + 18);
        },
      ),
    );
  });

  it('contain the row that was asked for', () => {
    for (const rows of [10, 1000, 1_000_000, 5_000_000]) {
      for (const row of [0, 1, rows >> 1, rows - 1]) {
        const top = scrollTopOfRow(row, 600, rows, 18);
        const shown = rowWindow(top, 600, rows, 18, 0);
        assert.ok(row >= shown.first - 1 && row < shown.end + 1, `${row} of ${rows}`);
      }
    }
  });
});

describe('The loaded part of a log', () => {
  const lines = (count: number): LogLine[] =>
    Array.from({ length: count }, (_, index) => ({ stream: 'stdout', text: `line ${index}`, cutBytes: 0 }));

  it('[VIEW-07] asks for each part once, and holds a bounded number of lines', () => {
    const pages = new LogPages();
    pages.grow(1_000_000);
    for (let line = 0; line < 1_000_000; line += 2000) {
      for (const request of pages.missing(line, line + 50))
        pages.store(request, lines(logPageLines), 1_000_000);
      assert.deepEqual(pages.missing(line, line + 50), []);
    }
    assert.ok(pages.loadedLines <= 24 * logPageLines);
  });

  it('asks again for a last part that has grown, and never takes a shorter answer for a longer one', () => {
    const pages = new LogPages();
    pages.grow(3);
    const [first] = pages.missing(0, 10);
    assert.ok(first);
    pages.store(first, lines(3), 3);
    pages.grow(5);
    assert.equal(pages.missing(0, 10).length, 1);
    pages.store(first, lines(5), 5);
    pages.store(first, lines(3), 3);
    assert.equal(pages.line(4)?.text, 'line 4');
    assert.equal(pages.totalLines, 5);
  });

  it('asks again after a failure', () => {
    const pages = new LogPages();
    pages.grow(3);
    const [request] = pages.missing(0, 3);
    assert.ok(request);
    assert.deepEqual(pages.missing(0, 3), []);
    pages.forget(request);
    assert.equal(pages.missing(0, 3).length, 1);
  });

  it('is searched in the form in which it is shown', () => {
    const line: LogLine = { stream: 'stdout', text: 'a\u001b[31mNEE\u001b[0mdle', cutBytes: 0 };
    assert.deepEqual(findLines([[7, line]], 'needle'), [7]);
    assert.deepEqual(findLines([[7, line]], '[31m'), []);
  });
});

describe('Text that a card wrote', () => {
  const shown: readonly (readonly [string, string])[] = [
    ['\u001b[1;31mred\u001b[0m', 'red'],
    ['\u001b]8;;command:x\u0007link\u001b]8;;\u001b\\', 'link'],
    ['\u001b]0;title\u0007x', 'x'],
    ['a\u202eb', 'a\\u{202e}b'],
    ['\u0000\u0008', '\\u{0}\\u{8}'],
    ['\u009b31mx', 'x'],
    ['a\tb', 'a    b'],
    ['\u001b', '\\u{1b}'],
    ['<b>', '<b>'],
  ];
  for (const [text, expected] of shown) {
    it(`[VIEW-05] ${JSON.stringify(text)} is shown as ${JSON.stringify(expected)}`, () => {
      assert.equal(visibleText(text), expected);
    });
  }

  it('[VIEW-05] has no control, format or line characters left, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.doesNotMatch(visibleText(text), /[\p{Cc}\p{Cf}\u2028\u2029]/u);
      }),
    );
  });
});

describe('Markup without frames', () => {
  it('[VIEW-01] has no element that could hold a document, for HTML and for XML with prefixes', () => {
    const piece = fc.constantFrom(
      '<',
      '/',
      'i',
      'frame',
      'FRAME',
      'object',
      'x:',
      'x-',
      'set',
      ' ',
      '>',
      'embed',
      'fenced',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const result = withoutFrames(pieces.join(''));
        assert.doesNotMatch(
          result,
          /<(?:[^\s<>/:]*:)?(?:i?frame|frameset|fencedframe|object|embed|portal)(?=[\s/>]|$)/i,
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves everything else as it is', () => {
    const page = '<p class="frame">an iframe in words</p><script>const frame = "object";</script>';
    assert.equal(withoutFrames(page), page);
    assert.equal(withoutFrames('<IFRAME src=x></IFRAME>'), '<Ix-FRAME src=x></Ix-FRAME>');
  });
});

describe('Bytes of a result', () => {
  it('are known by what they are', () => {
    const png = bytesOfBase64('iVBORw0KGgoAAAANSUhEUg==');
    assert.equal(imageType(png), 'image/png');
    assert.equal(
      imageType(new TextEncoder().encode('<?xml version="1.0"?>\n<svg xmlns="x">')),
      'image/svg+xml',
    );
    assert.equal(imageType(new TextEncoder().encode('<html><svg>')), undefined);
    assert.equal(imageType(new Uint8Array()), undefined);
    assert.equal(textOfBytes(new Uint8Array([0xc3, 0xa9])), 'é');
    assert.equal(textOfBytes(new Uint8Array([0xff])), undefined);
  });

  it('have sizes and times in words', () => {
    assert.deepEqual([0, 1023, 1536, 1048576 * 3].map(byteSize), ['0 B', '1023 B', '1.5 KB', '3.0 MB']);
    assert.deepEqual([4, 1240, 61_000, 7_200_000].map(duration), ['4 ms', '1.2 s', '1 min 1 s', '2 h 0 min']);
    assert.deepEqual([59_940, 59_960, 3_599_900].map(duration), ['59.9 s', '1 min 0 s', '1 h 0 min']);
  });
});
