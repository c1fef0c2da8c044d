import assert from 'node:assert/strict';
import { lazyHandlers, lazyPart } from '../../../language-server/src/lazyPart.ts';
import { never } from '../../support/testEngine.ts';

describe('lazyPart', () => {
  let starts: number;
  let fails: boolean;
  const make = () =>
    lazyPart(async () => {
      starts++;
      if (fails) throw new Error('no');
      return {
        handlers: {
          echo: (params: string, signal: AbortSignal) => Promise.resolve([params, signal] as const),
        },
      };
    });
  beforeEach(() => {
    [starts, fails] = [0, false];
  });

  it('starts once, when it is first asked for', async () => {
    const part = make();
    assert.equal(await part.opened(), undefined);
    assert.equal(starts, 0);
    const [one, two] = await Promise.all([part.open(), part.open()]);
    assert.equal(one, two);
    assert.equal(await part.opened(), one);
    assert.equal(starts, 1);
  });

  it('is started again by the next one after a start that failed', async () => {
    const part = make();
    fails = true;
    const failing = part.open();
    await assert.rejects(part.opened() ?? Promise.resolve(), { message: 'no' });
    await assert.rejects(failing, { message: 'no' });
    assert.equal(part.opened(), undefined);
    fails = false;
    await part.open();
    assert.equal(starts, 2);
  });

  it('is told something before what it is asked for afterwards', async () => {
    const order: string[] = [];
    const part = lazyPart(async () => ({
      handlers: { ask: async () => void order.push('asked') },
    }));
    await part.open();
    const { ask } = lazyHandlers<{ ask: () => Promise<void> }>({ ask: 0 }, part);
    void part.opened()?.then(() => order.push('told'));
    await ask();
    assert.deepEqual(order, ['told', 'asked']);
  });

  it('is opened by a handler, which gets what it was given', async () => {
    const part = make();
    const { echo } = lazyHandlers<Awaited<ReturnType<typeof part.open>>['handlers']>({ echo: 0 }, part);
    assert.equal(starts, 0);
    assert.deepEqual(await echo('x', never), ['x', never]);
    assert.equal(starts, 1);
  });
});
