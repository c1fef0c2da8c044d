import assert from 'node:assert/strict';
import { CallClock } from '../../../../language-server/src/plugins/callClock.ts';

describe('callClock', () => {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  let expired = 0;
  const create = (): CallClock => {
    now = 0;
    timers = [];
    expired = 0;
    return new CallClock({
      now: () => now,
      setTimer(run, ms) {
        const timer = { at: now + ms, run };
        timers.push(timer);
        return () => void (timers = timers.filter((each) => each !== timer));
      },
      onExpired: () => expired++,
    });
  };
  const pass = (ms: number): void => {
    now += ms;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { run } of due) run();
  };

  it('[PLUG-02] ends a call that runs on', () => {
    const clock = create();
    clock.begin({}, 100);
    pass(99);
    assert.equal(expired, 0);
    pass(1);
    assert.equal(expired, 1);
  });

  it('[PLUG-03] stands still while the plugin waits, and goes on where it stood', () => {
    const clock = create();
    clock.begin({}, 100);
    pass(60);
    clock.pause();
    pass(10_000);
    assert.equal(expired, 0);
    clock.run();
    pass(39);
    assert.equal(expired, 0);
    pass(1);
    assert.equal(expired, 1);
  });

  it('[PLUG-03] many short stretches count together', () => {
    const clock = create();
    clock.begin({}, 100);
    for (let stretch = 0; stretch < 99; stretch++) {
      pass(1);
      clock.pause();
      pass(50);
      clock.run();
    }
    assert.equal(expired, 0);
    pass(1);
    assert.equal(expired, 1);
  });

  it('[PLUG-02] the call with the least time left decides; an ended one no more', () => {
    const clock = create();
    const first = {};
    clock.begin(first, 100);
    pass(50);
    clock.begin({}, 100);
    clock.end(first);
    pass(99);
    assert.equal(expired, 0);
    pass(1);
    assert.equal(expired, 1);
  });

  it('[PLUG-12] has no timer where nothing is to be timed', () => {
    const clock = create();
    const call = {};
    clock.begin(call, 100);
    clock.pause();
    assert.equal(timers.length, 0);
    clock.run();
    assert.equal(timers.length, 1);
    clock.end(call);
    assert.equal(timers.length, 0);
    clock.begin({}, 100);
    clock.stop();
    assert.equal(timers.length, 0);
  });
});
