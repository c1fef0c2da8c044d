import assert from 'node:assert/strict';
import { ProgressPump } from '../../../sandbox-worker/src/progressPump.ts';

describe('progressPump', () => {
  it('[QJS-07] sends the first, then the latest now and then, and the last', () => {
    let clock = 0;
    const sent: string[] = [];
    const pump = new ProgressPump({
      send: (fraction, text) => sent.push(`${fraction} ${text}`),
      now: () => clock,
    });
    for (let step = 0; step < 1000; step++) pump.write(1, `a${step}`);
    assert.deepEqual(sent, ['1 a0']);
    clock = 50;
    pump.tick();
    pump.tick();
    assert.deepEqual(sent, ['1 a0', '1 a999']);
    pump.write(0.5, 'b');
    pump.flush();
    pump.flush();
    assert.deepEqual(sent, ['1 a0', '1 a999', '0.5 b']);
  });
});
