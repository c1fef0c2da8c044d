import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readCases } from './case.ts';
import { notHere, rows, shownElsewhere } from './rows.ts';

describe('public failures of other agents', () => {
  const fixtures = new Set(readCases().map(({ row }) => row));

  it('[ATTACK-01] are each answered, by a fixture, by another suite, or by why they can’t happen here', () => {
    assert.deepEqual(
      rows.filter((row) => !fixtures.has(row) && !shownElsewhere.has(row) && !notHere.has(row)),
      [],
    );
  });

  it('[ATTACK-01] are the only ones that are answered, each in one way', () => {
    const known = new Set(rows);
    assert.equal(known.size, rows.length);
    const answered = [...fixtures, ...shownElsewhere.keys(), ...notHere.keys()];
    assert.deepEqual(
      answered.filter((row) => !known.has(row)),
      [],
    );
    assert.deepEqual(answered, [...new Set(answered)]);
  });

  for (const [row, { file }] of shownElsewhere)
    it(`[ATTACK-01] ${row} is answered by a suite that is there`, () => {
      assert.ok(existsSync(resolve(import.meta.dirname, '../../..', file)), file);
    });
});
