import assert from 'node:assert/strict';
import { QuickjsPool } from '../../../../language-server/src/runners/quickjsPool.ts';
import type { QuickjsThread } from '../../../../language-server/src/runners/quickjsThread.ts';

interface FakeThread extends QuickjsThread {
  readonly pages: number;
}

/** A pool over threads that do nothing, with timers that the test fires. */
function fakePool(standby = 2) {
  const started: FakeThread[] = [];
  let timer: (() => void) | undefined;
  const pool = new QuickjsPool({
    start: (pages) => {
      let ended = false;
      let setGone = (): void => undefined;
      const gone = new Promise<void>((resolve) => (setGone = resolve));
      const thread: FakeThread = {
        pages,
        ready: Promise.resolve(),
        gone,
        get ended() {
          return ended;
        },
        run: () => Promise.reject(new Error('not here')),
        end: () => {
          ended = true;
          setGone();
          return gone;
        },
      };
      started.push(thread);
      return thread;
    },
    memoryPages: 1024,
    standby,
    idleMs: 1000,
    setTimer: (run, ms) => {
      assert.equal(ms, 1000);
      timer = run;
      return () => (timer = undefined);
    },
  });
  return { pool, started, fire: () => timer?.(), hasTimer: () => timer !== undefined };
}

describe('quickjsPool', () => {
  it('[QJS-11] starts nothing before a card comes', () => {
    const { started, hasTimer } = fakePool();
    assert.equal(started.length, 0);
    assert.ok(!hasTimer());
  });

  it('[QJS-11] fills up after a card, gives each thread once, and keeps at most its number', () => {
    const { pool, started } = fakePool();
    const first = pool.take(1024);
    pool.refill();
    pool.refill();
    assert.equal(pool.standby, 2);
    const [second, third, fourth] = [pool.take(1024), pool.take(1024), pool.take(1024)];
    assert.equal(new Set([first, second, third, fourth]).size, 4);
    assert.equal(started.length, 4);
    assert.equal(pool.standby, 0);
  });

  it('[QJS-11] ends what stands by after the idle time, and only that', () => {
    const { pool, started, fire, hasTimer } = fakePool();
    const used = pool.take(1024);
    pool.refill();
    fire();
    assert.equal(pool.standby, 0);
    assert.ok(!used.ended);
    assert.deepEqual(
      started.map((thread) => thread.ended),
      [false, true, true],
    );
    pool.refill();
    assert.ok(hasTimer(), 'the next card starts it all again');
  });

  it('[QJS-03] starts a thread of its own size for a card with less memory', () => {
    const { pool, started } = fakePool();
    pool.take(1024);
    pool.refill();
    pool.take(512);
    assert.deepEqual(
      started.map((thread) => thread.pages),
      [1024, 1024, 1024, 512],
    );
    assert.equal(pool.standby, 2);
  });

  it('[QJS-11] passes over a thread that died while it stood by', async () => {
    const { pool, started } = fakePool(1);
    pool.refill();
    await started[0]?.end();
    assert.ok(!pool.take(1024).ended);
    assert.equal(started.length, 2);
  });

  it('[QJS-11] ends every thread with itself, and starts none afterwards', async () => {
    const { pool, started, hasTimer } = fakePool();
    pool.take(1024);
    pool.refill();
    await pool.dispose();
    assert.ok(started.every((thread) => thread.ended));
    assert.ok(!hasTimer());
    pool.refill();
    assert.equal(started.length, 3);
  });
});
