import assert from 'node:assert/strict';
import { Turnstile } from '../../../../language-server/src/runners/turnstile.ts';

const never = new AbortController().signal;

describe('turnstile', () => {
  it('lets as many in as there are places, and the others in order', async () => {
    const turnstile = new Turnstile(2);
    const [first, second] = [await turnstile.enter(never), await turnstile.enter(never)];
    const order: string[] = [];
    const third = turnstile.enter(never).then((leave) => (order.push('third'), leave));
    const fourth = turnstile.enter(never).then((leave) => (order.push('fourth'), leave));
    await Promise.resolve();
    assert.deepEqual(order, []);
    first?.();
    first?.();
    const leaveThird = await third;
    assert.deepEqual(order, ['third'], 'leaving twice frees one place');
    leaveThird?.();
    (await fourth)?.();
    second?.();
    assert.deepEqual(order, ['third', 'fourth']);
  });

  it('forgets who gave up', async () => {
    const turnstile = new Turnstile(1);
    const leave = await turnstile.enter(never);
    const abort = new AbortController();
    const waiting = turnstile.enter(abort.signal);
    const next = turnstile.enter(never);
    abort.abort();
    assert.equal(await waiting, undefined);
    leave?.();
    assert.ok(await next);
    assert.equal(await turnstile.enter(abort.signal), undefined, 'aborted before it came');
  });
});
