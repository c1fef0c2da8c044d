import assert from 'node:assert/strict';
import { RefusalLog } from '../../../../remote-agent/src/worker/refusalLog.ts';

describe('the refusals in a worker’s log', () => {
  const refusal = (why: string) => ({ refusal: 'not-enrolled', why, from: '192.0.2.1' });
  const written = () => {
    const lines: { why: string; times?: number }[] = [];
    return { lines, log: new RefusalLog(({ why, times }) => lines.push({ why, ...(times && { times }) })) };
  };

  it('[WORKER-06] begin with a line each, and those alike are counted for a minute', () => {
    const { lines, log } = written();
    for (let second = 0; second < 61; second += 1) log.note(refusal('a'), second * 1000);
    log.note(refusal('b'), 61_000);
    log.flush(Infinity);
    assert.deepEqual(lines, [{ why: 'a' }, { why: 'a', times: 59 }, { why: 'a' }, { why: 'b' }]);
  });

  it('[WORKER-06] are counted together where there are too many kinds', () => {
    const { lines, log } = written();
    for (let kind = 0; kind < 1500; kind += 1) log.note(refusal(String(kind)), 0);
    assert.equal(lines.length, 1000);
    log.flush(Infinity);
    assert.deepEqual(lines.at(-1), { why: 'too many kinds to tell apart', times: 500 });
  });
});
