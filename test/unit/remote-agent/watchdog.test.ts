import assert from 'node:assert/strict';
import { Watchdog, type Excess, type Meters } from '../../../remote-agent/src/watchdog.ts';

const mebibyte = 1024 * 1024;
const limits = { seconds: 1, memoryMB: 100, processes: 4, outputMB: 10, logMB: 1 };
const nothing = { processes: 1, threads: 3, memoryBytes: 0, pids: [1] };

function watch(meters: Partial<Meters>, outputBytes?: () => number, pids: readonly number[] = [1]) {
  const watchdog = new Watchdog({
    usageBelow: () => nothing,
    proportionalBytes: () => 0,
    hiddenMemory: () => 0,
    availableMemory: () => undefined,
    ...meters,
  });
  const told: (Excess & { pid: number })[] = [];
  const stops = pids.map((pid) =>
    watchdog.watch({
      pid,
      limits,
      ownNetwork: true,
      outputBytes,
      onExcess: (excess) => told.push({ pid, ...excess }),
    }),
  );
  watchdog.look();
  watchdog.look();
  for (const stop of stops) stop();
  return told;
}

describe('the watchdog', () => {
  it('[JOB-06] lets a job be that keeps its limits exactly', () => {
    const usage = { ...nothing, threads: 6, memoryBytes: 100 * mebibyte };
    assert.deepEqual(
      watch({ usageBelow: () => usage }, () => 10 * mebibyte),
      [],
    );
  });

  it('[JOB-06] names memory, by what the processes use together', () => {
    const usageBelow = () => ({ ...nothing, memoryBytes: 200 * mebibyte });
    const [excess, ...more] = watch({ usageBelow, proportionalBytes: () => 150 * mebibyte });
    assert.deepEqual([excess?.limit, excess?.detail, more.length], ['memory', '150 MB of 100 MB', 0]);
  });

  it('[JOB-06] does not count shared pages twice', () => {
    const usageBelow = () => ({ ...nothing, memoryBytes: 200 * mebibyte });
    assert.deepEqual(watch({ usageBelow, proportionalBytes: () => 60 * mebibyte }), []);
  });

  it('[JOB-06] counts memory that the kernel holds for a job and no process shows', () => {
    const usageBelow = () => ({ ...nothing, memoryBytes: 60 * mebibyte });
    const proportionalBytes = () => 50 * mebibyte;
    const [excess] = watch({ usageBelow, proportionalBytes, hiddenMemory: () => 70 * mebibyte });
    assert.deepEqual([excess?.limit, excess?.detail], ['memory', '120 MB of 100 MB']);
    assert.deepEqual(watch({ usageBelow, proportionalBytes, hiddenMemory: () => 40 * mebibyte }), []);
  });

  it('[JOB-06] names processes where there are more than allowed beside the sandbox’s own', () => {
    const [excess] = watch({ usageBelow: () => ({ ...nothing, threads: 7 }) });
    assert.equal(excess?.limit, 'processes');
  });

  it('[JOB-06] names outputs that are too large', () => {
    const [excess] = watch({}, () => 11 * mebibyte);
    assert.equal(excess?.limit, 'output');
  });

  it('[JOB-06] ends the largest job where the machine runs out of memory, and not the others', () => {
    const usageBelow = (pid: number) => ({ ...nothing, memoryBytes: pid * mebibyte });
    const low = { available: 100 * mebibyte, total: 16_384 * mebibyte };
    const told = watch({ usageBelow, availableMemory: () => low }, undefined, [3, 9, 5]);
    assert.deepEqual(
      told.map(({ pid }) => pid),
      [9, 5],
    );
    assert.deepEqual(watch({ usageBelow, availableMemory: () => ({ ...low, available: low.total }) }), []);
  });
});
