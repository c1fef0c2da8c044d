import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSystemTool } from '../../../../language-server/src/environment.ts';
import {
  chooseClock,
  measureClock,
  toClockKHz,
} from '../../../../language-server/src/runners/vm/hostClock.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** Two rounds of looks at a clock of 3 GHz; the looks with `late` were interrupted. */
function written({ late = false } = {}): Buffer {
  const output = Buffer.alloc(2048);
  for (let look = 0; look < 64; look += 1) {
    const at = look * 32;
    const nanoseconds = 1_500_000_000 + look * 1000 + (look < 32 ? 0 : 50_000_000);
    const isLate = late && look % 32 !== 7;
    output.writeBigInt64LE(BigInt(nanoseconds * 3 - 60), at);
    output.writeBigInt64LE(BigInt(Math.floor(nanoseconds / 1e9)), at + 8);
    output.writeBigInt64LE(BigInt(nanoseconds % 1e9), at + 16);
    output.writeBigInt64LE(BigInt(nanoseconds * 3 + (isLate ? 900_000 * (look + 1) : 60)), at + 24);
  }
  return output;
}

describe('the speed of this machine’s clock', () => {
  const folder = useTemporaryFolder();

  it('is taken from the looks that nothing interrupted', () => {
    assert.equal(toClockKHz(written()), 3_000_000);
    assert.equal(toClockKHz(written({ late: true })), 3_000_000);
  });

  it('is unknown where what was written makes no sense', () => {
    assert.equal(toClockKHz(Buffer.alloc(2048)), undefined);
    assert.equal(toClockKHz(written().subarray(1)), undefined);
  });

  it('is measured by a program of which nothing is left', async function () {
    if (process.platform !== 'linux' || process.arch !== 'x64') {
      console.log('      needs Linux on x64');
      this.skip();
    }
    const one = await measureClock(folder(), spawnSystemTool);
    const other = await measureClock(folder(), spawnSystemTool);
    assert.ok(
      one !== undefined && other !== undefined && Math.abs(one / other - 1) < 0.001,
      `${one} ${other}`,
    );
    assert.deepEqual(readdirSync(folder()), []);
    assert.equal(await measureClock(join(folder(), 'nowhere'), spawnSystemTool), undefined);
  });

  it('stays that of the image until it is another machine’s', async () => {
    const rows = [
      [3_000_000, 3_000_000],
      [3_000_900, 3_000_000],
      [3_100_000, 3_100_000],
    ] as const;
    for (const [measured, chosen] of rows)
      assert.equal(await chooseClock(folder(), () => Promise.resolve(measured)), chosen);
    assert.equal(await chooseClock(folder(), () => Promise.resolve(undefined)), undefined);
    assert.match(readFileSync(join(folder(), 'clock.json'), 'utf8'), /3100000/);
  });
});
