import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { spawnSystemTool } from '../../../../language-server/src/environment.ts';
import { filledParts, toParts } from '../../../../language-server/src/runners/vm/filledParts.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;
const block = 64 * 1024;

describe('what a sparse file holds', () => {
  const folder = useTemporaryFolder();

  it('is every block that the map does not call a hole, once, in order', () => {
    const pieces = fc.array(fc.record({ length: fc.integer({ min: 1, max: 400 }), zero: fc.boolean() }), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 511 }), (drawn, short) => {
        let start = 0;
        const map = drawn.map(({ length, zero }) => {
          const piece = { start, length: length * 512, zero, depth: 0 };
          start += piece.length;
          return piece;
        });
        const size = start - short;
        const parts = toParts(JSON.stringify(map), size, block);
        const isFilled = (at: number) =>
          map.some((piece) => !piece.zero && piece.start < at + block && piece.start + piece.length > at);
        for (let at = 0; at < size; at += block)
          assert.equal(
            parts.filter((part) => part.start <= at && part.end > at).length,
            isFilled(at) ? 1 : 0,
            String(at),
          );
        for (const [index, { start: begin, end }] of parts.entries()) {
          assert.ok(begin % block === 0 && begin < end && (end % block === 0 || end === size));
          assert.ok(begin > (parts[index - 1]?.end ?? -1));
        }
      }),
    );
  });

  const refused: Readonly<Record<string, unknown>> = {
    'no list': {},
    'an end before the file’s': [{ start: 0, length: 512, zero: true }],
    'an end long after the file’s': [{ start: 0, length: 4096, zero: true }],
    'a gap': [
      { start: 0, length: 512, zero: true },
      { start: 1024, length: 512, zero: false },
    ],
    'a piece twice': [
      { start: 0, length: 1024, zero: true },
      { start: 512, length: 512, zero: false },
    ],
    'no word of holes': [{ start: 0, length: 1024 }],
  };
  for (const [what, map] of Object.entries(refused))
    it(`is not guessed from a map with ${what}`, () => {
      assert.throws(() => toParts(JSON.stringify(map), 1024, block), { code: 'internal' });
    });

  it('is found by what looks at the file system, also where the content looks like another format', async () => {
    const path = join(folder(), 'with space,and:colon');
    writeFileSync(path, 'QFI\xfb', 'latin1');
    const sizeBytes = 2 ** 35 + 100;
    truncateSync(path, sizeBytes);
    const file = { path, sizeBytes };
    const parts = await filledParts(file, block, { spawnTool: spawnSystemTool, signal: never });
    assert.deepEqual(parts, [{ start: 0, end: block }]);
    await assert.rejects(
      filledParts(file, block, { spawnTool: spawnSystemTool, signal: AbortSignal.abort() }),
    );
  });
});
