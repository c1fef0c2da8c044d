import assert from 'node:assert/strict';
import { join } from 'node:path';
import fc from 'fast-check';
import { LogPacker, readLines, type LogStream } from '../../../../language-server/src/store/logLines.ts';
import { openHome } from '../../../../language-server/src/store/home.ts';
import { openStore } from '../../../../language-server/src/store/store.ts';
import type { LogLine } from '../../../../protocol/src/engine.ts';
import { limits } from '../../../../protocol/src/limits.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const pieces = fc.array(
  fc.tuple(
    fc.constantFrom<LogStream>('stdout', 'stderr'),
    fc.oneof(fc.string(), fc.constant('\n'), fc.constant('a\nb\n'), fc.string({ unit: 'grapheme' })),
  ),
  { maxLength: 40 },
);

describe('log lines', () => {
  const folder = useTemporaryFolder();

  it('[LOG-01] keeps every character of both streams, each in its own order', () => {
    fc.assert(
      fc.property(pieces, (given) => {
        const packer = new LogPacker();
        const chunks = given.flatMap(([stream, text], at) => {
          packer.push(stream, text);
          return at % 3 === 0 ? packer.take() : [];
        });
        chunks.push(...packer.take(true));
        const lines = chunks.flatMap((chunk) => readLines(chunk, 0, Infinity));
        assert.equal(lines.length, packer.totalLines);
        for (const stream of ['stdout', 'stderr'] as const) {
          const whole = given
            .filter(([name]) => name === stream)
            .map(([, text]) => text)
            .join('');
          const shown = lines.filter((line) => line.stream === stream).map(({ text }) => text);
          assert.equal(shown.join('\n'), whole.replace(/\n$/, ''));
        }
      }),
    );
  });

  it('[LOG-02] cuts a line of ten megabytes on reading, says by how much, and parts no character', () => {
    const packer = new LogPacker();
    packer.push('stdout', 'before\n');
    for (let at = 0; at < 100; at++) packer.push('stdout', 'é😀'.repeat(20_000));
    packer.push('stderr', 'meanwhile\n');
    packer.push('stdout', '\nafter');
    const home = openHome(join(folder(), 'home'));
    const store = openStore(home);
    try {
      const run = store.runs.insert({
        id: 'r1',
        engine: store.engineId,
        project: 'p',
        root: '/',
        projectName: 'p',
        startedAt: 0,
      });
      const chunks = packer.take(true);
      assert.ok(chunks.every(({ data }) => data.isWellFormed() && data.length <= limits.logChunkBytes + 10));
      store.logs.append({ run, index: 0 }, chunks, packer.totalLines);
      const { lines } = store.logs.read({ run, index: 0 }, 0, 10);
      assert.deepEqual(
        lines.map(({ text }) => text.slice(0, 9)),
        ['before', 'é😀é😀é😀', 'meanwhile', 'after'],
      );
      const [, long] = lines;
      assert.ok(long);
      const shown = Buffer.byteLength(long.text);
      assert.ok(shown <= limits.logLineShownBytes && shown > limits.logLineShownBytes - 8);
      assert.equal(shown + long.cutBytes, 100 * 20_000 * 6);
      assert.ok(long.text.isWellFormed());
    } finally {
      store.close();
    }
  });

  it('[LOG-03] reads a window of a million lines without reading the rest', () => {
    const home = openHome(join(folder(), 'home'));
    const store = openStore(home);
    try {
      const run = store.runs.insert({
        id: 'r1',
        engine: store.engineId,
        project: 'p',
        root: '/',
        projectName: 'p',
        startedAt: 0,
      });
      const key = { run, index: 0 };
      const packer = new LogPacker();
      for (let at = 0; at < 1_000_000; at += 1000) {
        packer.push('stdout', Array.from({ length: 1000 }, (_, line) => `line ${at + line}\n`).join(''));
      }
      store.logs.append(key, packer.take(true), packer.totalLines);
      const read = (from: number, count: number) =>
        store.logs.read(key, from, count).lines.map(({ text }: LogLine) => text);
      for (const from of [0, 1999, 2000, 777_777, 999_998]) {
        const expected = Array.from(
          { length: Math.min(3, 1_000_000 - from) },
          (_, line) => `line ${from + line}`,
        );
        assert.deepEqual(read(from, 3), expected);
      }
      assert.deepEqual(read(1_000_000, 5), []);
      const plan = store.database.all(
        'explain query plan select data from log_chunks where run = 1 and idx = 0 and first_line < 5 and first_line >= 0',
      );
      assert.match(JSON.stringify(plan), /log_chunks_by_line/);
    } finally {
      store.close();
    }
  });
});
