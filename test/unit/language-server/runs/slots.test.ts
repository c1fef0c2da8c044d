import assert from 'node:assert/strict';
import { Slots } from '../../../../language-server/src/runs/slots.ts';

describe('slots', () => {
  const never = new AbortController().signal;

  it('gives places first come, first served, and takes each back once', async () => {
    const slots = new Slots(1);
    const first = await slots.take(never);
    const order: string[] = [];
    const second = slots.take(never).then((release) => (order.push('second'), release));
    const third = slots.take(never).then((release) => (order.push('third'), release));
    assert.ok(first);
    first();
    first();
    (await second)?.();
    (await third)?.();
    assert.deepEqual(order, ['second', 'third']);
    assert.ok(await slots.take(never));
  });

  it('gives nothing after an abort, and passes the place on', async () => {
    const slots = new Slots(1);
    const abort = new AbortController();
    const held = await slots.take(never);
    const given = slots.take(abort.signal);
    const next = slots.take(never);
    abort.abort();
    assert.equal(await given, null);
    held?.();
    assert.ok(await next);
    assert.equal(await slots.take(abort.signal), null);
  });
});
