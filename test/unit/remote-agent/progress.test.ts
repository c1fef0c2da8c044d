import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createProgressReader } from '../../../remote-agent/src/progress.ts';

const readAll = (...parts: (string | Uint8Array)[]): [number, string][] => {
  const told: [number, string][] = [];
  const read = createProgressReader((fraction, text) => told.push([fraction, text]));
  for (const part of parts) read(Buffer.from(part));
  return told;
};

describe('progress', () => {
  it('tells each line as it is complete', () => {
    assert.deepEqual(readAll('{"fraction":0.25,"text":"a"}\n{"frac', 'tion":1}\n', '{"fraction":0.5'), [
      [0.25, 'a'],
      [1, ''],
    ]);
  });

  const dropped: [title: string, line: string | Uint8Array][] = [
    ['nothing', ''],
    ['no JSON', 'half done'],
    ['no object', '0.5'],
    ['null', 'null'],
    ['a list', '[0.5]'],
    ['no fraction', '{"text":"a"}'],
    ['a fraction of text', '{"fraction":"0.5"}'],
    ['a fraction below 0', '{"fraction":-0.1}'],
    ['a fraction above 1', '{"fraction":1e999}'],
    ['text that is none', '{"fraction":0.5,"text":{"toString":1}}'],
    ['too long a line', `{"fraction":0.5,"text":"${'x'.repeat(2000)}"}`],
  ];
  for (const [title, line] of dropped) {
    it(`drops ${title} and goes on`, () => {
      assert.deepEqual(readAll(line, '\n{"fraction":0.5,"text":"on"}\n'), [[0.5, 'on']]);
    });
  }

  it('keeps no more than a line of a card that never ends one', () => {
    const told: number[] = [];
    const read = createProgressReader((fraction) => told.push(fraction));
    const flood = Buffer.alloc(1024 * 1024, 'x');
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < 200; count += 1) read(flood);
    assert.ok(process.memoryUsage().heapUsed - before < 50_000_000);
    read(Buffer.from('\n{"fraction":1}\n'));
    assert.deepEqual(told, [1]);
  });

  it('cuts text, and lets no half character through', () => {
    const [[, text] = [0, '']] = readAll(`{"fraction":0,"text":"${'é'.repeat(199)}😀"}\n`);
    assert.equal(text.length, 200);
    assert.ok(text.isWellFormed());
    assert.deepEqual(readAll(Buffer.from('{"fraction":0,"text":"ü'), Buffer.from('"}\n')), [[0, 'ü']]);
  });

  it('reads the same however the bytes are cut', () => {
    const bytes = Buffer.from('{"fraction":0.5,"text":"ü😀"}\nno\n{"fraction":1,"text":"b"}\n');
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const parts = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        assert.deepEqual(readAll(...parts), readAll(bytes));
      }),
    );
  });
});
