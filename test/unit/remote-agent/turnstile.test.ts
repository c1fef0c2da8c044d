import assert from 'node:assert/strict';
import { Turnstile } from '../../../remote-agent/src/turnstile.ts';

const never = new AbortController().signal;

describe('the turnstile', () => {
  it('lets a bounded number in, the others in the order of arrival', async () => {
    const turnstile = new Turnstile(2);
    const order: string[] = [];
    const enter = (name: string) =>
      turnstile.enter(never).then((leave) => {
        order.push(name);
        return leave;
      });
    const first = await enter('a');
    await enter('b');
    const third = enter('c');
    const fourth = enter('d');
    assert.deepEqual(order, ['a', 'b']);
    first();
    (await third)();
    await fourth;
    assert.deepEqual(order, ['a', 'b', 'c', 'd']);
  });

  it('forgets who gave up waiting, and takes no place from the others', async () => {
    const turnstile = new Turnstile(1);
    const leave = await turnstile.enter(never);
    const controller = new AbortController();
    const waiting = turnstile.enter(controller.signal);
    const next = turnstile.enter(never);
    controller.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
    leave();
    (await next)();
    await assert.rejects(turnstile.enter(controller.signal), { name: 'AbortError' });
    (await turnstile.enter(never))();
  });
});
