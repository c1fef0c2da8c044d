import assert from 'node:assert/strict';
import { LazyServices } from '../../../../language-server/src/lsp/lazyServices.ts';
import type { EngineServices } from '../../../../language-server/src/services.ts';

const looks = 'looks for what was left elsewhere';

/** Services of which only trust and the end matter here. */
function fake(log: string[]): EngineServices {
  return {
    handlers: {} as EngineServices['handlers'],
    setTrusted: (trusted) => void log.push(`trusted ${trusted}`),
    setConnections: ({ webSearch }) => void log.push(`connections ${webSearch}`),
    vaultChanged: () => undefined,
    cardStatus: () => null,
    warmUp: () => undefined,
    findHeld: () => void log.push(looks),
    whenFinished: () => Promise.resolve(),
    dispose: () => Promise.resolve(void log.push('disposed')),
  };
}

describe('LazyServices', () => {
  it('starts once, at the first need, and looks then for what was left elsewhere [PLACE-17]', async () => {
    const log: string[] = [];
    const services = new LazyServices(
      (trusted) => Promise.resolve((log.push(`start ${trusted}`), fake(log))),
      false,
    );
    assert.deepEqual(log, []);
    const [one, two] = await Promise.all([services.get(), services.get()]);
    assert.equal(one, two);
    assert.deepEqual(log, ['start false', looks]);
    await services.dispose();
    assert.deepEqual(log, ['start false', looks, 'disposed']);
    await assert.rejects(services.get(), /ending/);
  });

  it('starts with the trust of that moment, and hears of a change while it starts', async () => {
    const log: string[] = [];
    let open: (() => void) | undefined;
    const services = new LazyServices(async (trusted) => {
      log.push(`start ${trusted}`);
      await new Promise<void>((done) => (open = done));
      return fake(log);
    }, true);
    services.setTrusted(false);
    services.setTrusted(true);
    const starting = services.get();
    services.setTrusted(false);
    open?.();
    await starting;
    assert.deepEqual(log, ['start true', 'trusted false', looks]);
    services.setTrusted(true);
    assert.equal(log.at(-1), 'trusted true');
    // Another folder was opened.
    services.findHeld();
    assert.equal(log.at(-1), looks);
  });

  it('tries again after a start that failed, and ends without one', async () => {
    let tries = 0;
    const services = new LazyServices(() => {
      if (++tries === 1) return Promise.reject(new Error('disk full'));
      return Promise.resolve(fake([]));
    }, false);
    await assert.rejects(services.get(), /disk full/);
    await services.get();
    assert.equal(tries, 2);
    await new LazyServices(() => Promise.reject(new Error('never')), false).dispose();
  });

  it('tells what it was told of connections before the start', async () => {
    const log: string[] = [];
    const services = new LazyServices(() => Promise.resolve(fake(log)), true);
    services.setConnections({ connections: [], webSearch: true, shellInternet: false });
    assert.deepEqual(log, []);
    await services.get();
    services.setConnections({ connections: [], webSearch: false, shellInternet: false });
    assert.deepEqual(log, ['connections true', looks, 'connections false']);
    await services.dispose();
  });
});
