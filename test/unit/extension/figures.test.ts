import assert from 'node:assert/strict';
import { duration, shortTimestamp, size, timestamp } from '../../../extension/src/figures.ts';

describe('figures', () => {
  const durations: [number, string][] = [
    [0, '0 ms'],
    [99.4, '99 ms'],
    [100, '0.1 s'],
    [9_949, '9.9 s'],
    [9_950, '10 s'],
    [59_499, '59 s'],
    [60_000, '1 min 0 s'],
    [185_000, '3 min 5 s'],
    [7_440_000, '2 h 4 min'],
  ];
  for (const [ms, text] of durations) it(`shows ${ms} ms as ${text}`, () => assert.equal(duration(ms), text));

  it('leaves the day out where it is today', () => {
    const noon = new Date(2026, 2, 1, 12, 0, 0).getTime();
    assert.equal(timestamp(noon), '2026-03-01 12:00:00');
    assert.equal(shortTimestamp(noon - 1000, noon), '11:59:59');
    assert.equal(shortTimestamp(noon - 86_400_000, noon), '2026-02-28 12:00');
  });

  const sizes: [number, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KB'],
    [3482, '3.4 KB'],
    [10_188, '9.9 KB'],
    [10_189, '10 KB'],
    [102_400, '100 KB'],
    [5 * 1024 ** 3, '5.0 GB'],
    [3 * 1024 ** 5, '3072 TB'],
  ];
  for (const [bytes, text] of sizes)
    it(`shows ${bytes} bytes as ${text}`, () => assert.equal(size(bytes), text));
});
