import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPluginStops, pluginTables } from '../../../../language-server/src/plugins/pluginRecords.ts';
import { Database } from '../../../../language-server/src/store/database.ts';
import { createPluginHarness, startTimer, type PluginHarness } from '../../../support/pluginHost.ts';
import { bundleWorker } from '../../../support/quickjs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const storage = { name: 'storage', megabytes: 1 } as const;
const text = { name: 'generate', kind: 'text' } as const;

describe('pluginHost', function () {
  const folder = useTemporaryFolder();
  let built = '';
  let script = '';
  let harness: PluginHarness;
  before(async () => {
    built = mkdtempSync(join(tmpdir(), 'sallyport-plugins-'));
    await bundleWorker(built);
    script = join(built, 'plugin-worker.mjs');
  });
  after(() => rmSync(built, { recursive: true, force: true }));
  afterEach(() => harness.dispose());
  const open = (options: Partial<Parameters<typeof createPluginHarness>[0]> = {}): PluginHarness =>
    (harness = createPluginHarness({ folder: folder(), script, ...options }));

  it('[PLUG-06] calls a function with JSON and gives its JSON back', async () => {
    open().install('notes/search', 'export const run = (input) => ({ ...input, more: [1, null] });');
    const output = await harness.call('notes/search', { a: 'ä\u0000\ud800', b: { c: true } });
    assert.equal(JSON.stringify(output), '{"a":"ä\\u0000\\ud800","b":{"c":true},"more":[1,null]}');
    assert.equal(Object.getPrototypeOf(output), null);
  });

  it('nothing and a promise are outputs too', async () => {
    open().install('notes/search', 'export async function run() {}');
    assert.equal(await harness.call('notes/search'), null);
  });

  it('[PLUG-07] checks the input before the plugin, and the output after it', async () => {
    open().install('notes/search', {
      source: 'export const run = ({ n }) => (sallyport.log("ran"), n > 1 ? "big" : n);',
      functions: { run: { input: { properties: { n: { type: 'integer' } } }, output: { type: 'integer' } } },
    });
    assert.equal(await harness.outcome('notes/search', { n: 1 }), '1');
    assert.equal(
      await harness.outcome('notes/search', { n: 'x' }),
      "bad-params: The input does not fit the function's schema: input.n: is string, not integer",
    );
    assert.equal(harness.log.length, 1, 'it did not run for the second');
    assert.match(await harness.outcome('notes/search', { n: 2 }), /^plugin-failed: .*output: is string/);
    // Control: without a schema both pass.
    harness.install('notes/search', 'export const run = ({ n }) => n;');
    assert.equal(await harness.outcome('notes/search', { n: 'x' }), '"x"');
  });

  const unknown = ['nothing', 'constructor', '__proto__', 'toString', 'hidden', ''];
  for (const functionName of unknown)
    it(`[PLUG-07] there is no function ${functionName || '(nothing)'} where plugin.json names none`, async () => {
      open().install('notes/search', 'export const run = () => 1; export const hidden = () => 2;');
      assert.match(await harness.outcome('notes/search', null, { functionName }), /^not-found: /);
    });

  it('says what a plugin lacks', async () => {
    open().install('notes/a', 'export const other = 1;');
    harness.install('notes/b', 'export const run = 5;');
    harness.install('notes/c', 'export const run = (;');
    harness.install('notes/d', "import 'lodash'; export const run = () => 1;");
    assert.match(await harness.outcome('notes/a'), /^plugin-failed: index\.js exports no function run/);
    assert.match(await harness.outcome('notes/b'), /^plugin-failed: index\.js exports no function run/);
    assert.match(await harness.outcome('notes/c'), /^plugin-failed: SyntaxError/);
    assert.match(
      await harness.outcome('notes/d'),
      /^plugin-failed: .*Cannot import "lodash".*a plugin imports/s,
    );
    assert.match(await harness.outcome('notes/none'), /^not-found: /);
    assert.match(harness.host.state('notes', 'a').lastError ?? '', /^run: index\.js exports/);
  });

  it('an error that it throws is its own, escaped, and no stop', async () => {
    open().install('notes/search', "export function run() { throw new TypeError('no\\u202e\\u001b[2J'); }");
    for (let time = 0; time < 5; time++)
      assert.match(
        await harness.outcome('notes/search'),
        /^plugin-failed: TypeError: no\\u\{202E\}\\u\{1B\}\[2J/,
      );
    assert.equal(harness.host.state('notes', 'search').state, 'on');
  });

  it('a plugin that fails at each call is told of once in a while', async () => {
    let told = 0;
    open({ changes: { onChanged: () => told++ } });
    harness.install('notes/search', 'let n = 0; export function run() { throw new Error(`no ${++n}`); }');
    for (let time = 0; time < 10; time++) await harness.outcome('notes/search');
    assert.equal(told, 1);
    assert.equal(harness.log.length, 10);
    harness.clock += 1000;
    await harness.outcome('notes/search');
    assert.equal(told, 2);
    assert.match(harness.host.state('notes', 'search').lastError ?? '', /no 11/);
  });

  it('[PLUG-03] what comes back and is too large is refused, not a stop', async () => {
    open({
      generate: () => Promise.resolve({ text: 'x'.repeat(5e6), model: 'm', stop: 'end' } as never),
    });
    harness.install('notes/search', {
      source: 'export const run = (_, { generate }) => generate.text("x").catch((error) => error.code);',
      rights: [text],
    });
    assert.equal(await harness.call('notes/search'), 'too-large');
  });

  it('[PLUG-12] keeps its variables between calls, and a fresh worker has none', async () => {
    open().install('notes/search', 'let count = 0; export const run = () => ++count;');
    assert.equal(await harness.call('notes/search'), 1);
    assert.equal(await harness.call('notes/search'), 2);
    await harness.host.stop('notes');
    assert.equal(await harness.call('notes/search'), 1);
  });

  it('other code is another worker at once', async () => {
    open().install('notes/search', 'let count = 10; export const run = () => ++count;');
    assert.equal(await harness.call('notes/search'), 11);
    harness.install('notes/search', 'let count = 20; export const run = () => ++count;');
    assert.equal(await harness.call('notes/search'), 21);
  });

  it('[PLUG-01] plugins see nothing of each other', async () => {
    open().install('notes/a', 'globalThis.left = "secret"; export const run = () => globalThis.left;');
    harness.install('notes/b', 'export const run = () => typeof globalThis.left;');
    assert.equal(await harness.call('notes/a'), 'secret');
    assert.equal(await harness.call('notes/b'), 'undefined');
    assert.equal(await harness.call('notes/a'), 'secret');
  });

  it('[PLUG-09] stores for its app, and reads what its page stored', async () => {
    open().install('notes/search', {
      source: `export async function run({ path, bytes }, { storage }) {
        if (bytes) await storage.put(path, new Uint8Array(bytes));
        const read = await storage.getBytes(path);
        return { read: read && [...read], text: await storage.get('page.txt'), list: await storage.list(), quota: await storage.quota() };
      }`,
      rights: [storage],
    });
    harness.storage.put('notes', 'page.txt', Buffer.from('of the page'), 1e6);
    const bytes = Array.from({ length: 256 }, (_, at) => at);
    const first = (await harness.call('notes/search', { path: 'own.bin', bytes })) as Record<string, unknown>;
    assert.deepEqual(first['read'], bytes);
    assert.equal(first['text'], 'of the page');
    for (const size of [0, 1, 2, 3, 4]) {
      const some = bytes.slice(0, size);
      const again = (await harness.call('notes/search', { path: 'own.bin', bytes: some })) as Record<
        string,
        unknown
      >;
      assert.deepEqual(again['read'], some);
    }
    const none = (await harness.call('notes/search', { path: 'none' })) as Record<string, unknown>;
    assert.equal(none['read'], undefined);
  });

  it('[PLUG-10] gets a model’s answer, and a typed error', async () => {
    let fails = false;
    open({
      generate: () =>
        fails
          ? Promise.reject(new Error('key sk-123'))
          : Promise.resolve({ text: 'hi', model: 'm', stop: 'end' } as never),
    });
    harness.install('notes/search', {
      source: `export async function run(_, { generate }) {
        try { return (await generate.text('say hi')).text; }
        catch (error) { return [error.name, error.code, error.message, error instanceof Error]; }
      }`,
      rights: [text],
    });
    assert.equal(await harness.call('notes/search'), 'hi');
    assert.equal(harness.generated[0]?.by, 'plugin:notes/search');
    fails = true;
    assert.deepEqual(await harness.call('notes/search'), [
      'HostError',
      'internal',
      'Sallyport failed to do this',
      true,
    ]);
  });

  it('[PLUG-10] rights are those of the moment', async () => {
    open().install('notes/search', { source: readsStorage, rights: [storage], digest: 'same' });
    assert.equal(await harness.call('notes/search'), 'none');
    harness.install('notes/search', { source: readsStorage, rights: [], digest: 'same' });
    assert.equal(await harness.call('notes/search'), 'not-allowed');
  });

  it('[PLUG-02] an endless loop ends with a clean error, a native one with the worker', async () => {
    open({ callMs: 3000 });
    harness.install('notes/a', 'export function run() { for (;;); }');
    harness.install('notes/b', "export function run() { new Array(1e9).join(''); }");
    harness.install('notes/c', 'export const run = () => "well";');
    const all = [harness.outcome('notes/a'), harness.outcome('notes/b'), harness.outcome('notes/c')];
    assert.match(await all[0]!, /^timeout: The plugin was stopped: it ran longer/);
    assert.match(await all[1]!, /^timeout: The plugin was stopped: it ran longer/);
    assert.equal(await all[2], '"well"');
    for (const plugin of ['a', 'b']) {
      const { state, lastError } = harness.host.state('notes', plugin);
      assert.equal(state, 'on');
      assert.match(lastError ?? '', /^run: The plugin was stopped/);
    }
  });

  it('[PLUG-03] waiting is no running', async () => {
    open({
      callMs: 2000,
      generate: () =>
        new Promise((settle) =>
          setTimeout(() => settle({ text: 'late', model: 'm', stop: 'end' } as never), 2500),
        ),
    });
    harness.install('notes/search', {
      source: 'export const run = async (_, { generate }) => (await generate.text("x")).text;',
      rights: [text],
    });
    assert.equal(await harness.call('notes/search'), 'late');
  });

  it('[PLUG-03] a call that waits too long ends, and its worker with it; that is no stop', async () => {
    let aborted = false;
    open({
      wallMs: 100,
      generate: (_by, _kind, _params, { signal }) =>
        new Promise((_settle, reject) =>
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason as Error);
          }),
        ),
    });
    harness.install('notes/search', {
      source: 'export const run = async (_, { generate }) => (await generate.text("x")).text;',
      rights: [text],
    });
    assert.match(await harness.outcome('notes/search'), /^timeout: The call took longer/);
    await until(() => aborted);
    assert.equal(harness.host.state('notes', 'search').state, 'on');
    assert.equal(harness.host.state('notes', 'search').lastError, null);
  });

  it('cancelling answers at once and ends what runs on, which is no stop', async () => {
    open().install('notes/search', 'let n = 0; export function run({ loop }) { while (loop); return ++n; }');
    assert.equal(await harness.call('notes/search', {}), 1);
    const controller = new AbortController();
    const ended = harness.outcome('notes/search', { loop: true }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    assert.match(await ended, /^cancelled: /);
    assert.equal(await harness.outcome('notes/search', {}), '1', 'in a fresh worker, not behind the loop');
    assert.equal(harness.host.state('notes', 'search').lastError, null);
    const already = await harness.outcome('notes/search', {}, { signal: AbortSignal.abort() });
    assert.match(already, /^cancelled: /);
  });

  it('[PLUG-04] three stops within a day switch it off, until a person switches it on', async () => {
    open({ callMs: 2000 });
    harness.install('notes/search', 'export function run(loop) { while (loop); return "well"; }');
    for (let stop = 0; stop < 2; stop++) {
      assert.match(await harness.outcome('notes/search', true), /^timeout/);
      assert.equal(await harness.outcome('notes/search', false), '"well"');
    }
    assert.match(await harness.outcome('notes/search', true), /^timeout/);
    const { state, reason } = harness.host.state('notes', 'search');
    assert.equal(state, 'switched-off');
    assert.match(
      reason ?? '',
      /^Switched off, as it had to be stopped 3 times within a day\. .*in run, it ran longer/,
    );
    assert.equal(await harness.outcome('notes/search', false), `plugin-off: ${reason ?? ''}`);
    harness.host.switchOn('notes', 'search');
    assert.equal(await harness.outcome('notes/search', false), '"well"');
    assert.match(await harness.outcome('notes/search', true), /^timeout/);
    assert.equal(harness.host.state('notes', 'search').state, 'on', 'it is counted anew');
  });

  it('[PLUG-04] control: three stops on three days do not', async () => {
    open({ callMs: 100 });
    harness.install('notes/search', 'export function run() { for (;;); }');
    for (let day = 0; day < 3; day++) {
      assert.match(await harness.outcome('notes/search'), /^timeout/);
      harness.clock += 24 * 60 * 60 * 1000 + 1;
    }
    assert.equal(harness.host.state('notes', 'search').state, 'on');
  });

  it('[PLUG-04] one worker is one stop, whatever number of calls it takes with it', async () => {
    open({ callMs: 300 });
    harness.install('notes/search', 'export function run() { for (;;); }');
    const calls = Array.from({ length: 4 }, () => harness.outcome('notes/search'));
    for (const end of await Promise.all(calls)) assert.match(end, /^(timeout|unavailable)/);
    const { state, lastError } = harness.host.state('notes', 'search');
    assert.deepEqual(
      [state, lastError],
      ['on', 'run: The plugin was stopped: it ran longer than 10 seconds'],
    );
  });

  it('[PLUG-04] stops outlast a restart', () => {
    open();
    const path = join(folder(), 'stops.sqlite');
    const day = 86_400_000;
    const first = new Database(path);
    first.exec(pluginTables);
    createPluginStops(first).add('notes', 'search', 5 * day, 4 * day);
    createPluginStops(first).add('notes', 'other', 5 * day, 4 * day);
    first.close();
    const again = new Database(path);
    const stops = createPluginStops(again);
    assert.equal(stops.add('notes', 'search', 5 * day + 1, 4 * day + 1), 2);
    assert.equal(stops.add('notes', 'search', 7 * day, 6 * day), 1);
    stops.clear('notes', 'search');
    assert.equal(stops.add('notes', 'other', 5 * day, 4 * day), 2);
    stops.clear('notes');
    assert.equal(stops.add('notes', 'other', 5 * day, 4 * day), 1);
    again.close();
  });

  it('a person switches it off and on; what runs ends', async () => {
    open().install('notes/search', 'export function run(loop) { while (loop); return 1; }');
    assert.equal(await harness.call('notes/search', false), 1);
    const running = harness.outcome('notes/search', true);
    await new Promise((settle) => setImmediate(settle));
    await harness.host.switchOff('notes', 'search');
    assert.match(await running, /^plugin-off: You switched this plugin off/);
    assert.match(await harness.outcome('notes/search', false), /^plugin-off: /);
    await harness.host.switchOff('notes', 'search', 'removed');
    assert.match(await harness.outcome('notes/search', false), /^plugin-off: You removed/);
    harness.host.switchOn('notes', 'search');
    assert.equal(await harness.outcome('notes/search', false), '1');
  });

  it('[PLUG-12] at most so many workers at once: the one used longest ago makes room', async () => {
    open({ changes: { mostLive: 2 } });
    for (const name of ['a', 'b', 'c'])
      harness.install(`notes/${name}`, 'let n = 0; export const run = () => ++n;');
    const counts: unknown[] = [];
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) counts.push(await harness.call(`notes/${name}`));
    assert.deepEqual(counts, [1, 1, 2, 1, 3, 1]);
  });

  it('[PLUG-12] where all workers are busy, a call waits', async () => {
    open({ changes: { mostLive: 1 }, callMs: 3000 });
    harness.install('notes/a', 'export function run() { for (;;); }');
    harness.install('notes/b', 'export const run = () => "b";');
    harness.install('notes/c', 'export const run = () => "c";');
    const [a, b, c] = ['a', 'b', 'c'].map((name) => harness.outcome(`notes/${name}`));
    const controller = new AbortController();
    const given = harness.outcome('notes/c', null, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    assert.match(await given, /^cancelled/);
    assert.match(await a!, /^timeout/);
    assert.deepEqual([await b, await c], ['"b"', '"c"']);
  });

  it('[PLUG-12] a worker without a call ends after a while, and no timer is left', async () => {
    const timers = new Set<object>();
    open({
      changes: {
        idleMs: 50,
        setTimer(run, ms) {
          const timer = {};
          timers.add(timer);
          const stop = startTimer(() => {
            timers.delete(timer);
            run();
          }, ms);
          return () => {
            timers.delete(timer);
            stop();
          };
        },
      },
    });
    harness.install('notes/a', 'let n = 0; export const run = () => ++n;');
    assert.equal(await harness.call('notes/a'), 1);
    await until(() => timers.size === 0);
    assert.equal(await harness.call('notes/a'), 1, 'a fresh worker');
  });

  it('[PLUG-03] too many calls of one plugin at once are refused', async () => {
    open({ generate: () => new Promise(() => undefined), wallMs: 500 });
    harness.install('notes/search', {
      source: 'export const run = async (wait, { generate }) => wait ? generate.text("x") : 1;',
      rights: [text],
    });
    const calls = Array.from({ length: 8 }, () => harness.outcome('notes/search', true));
    assert.match(await harness.outcome('notes/search', false), /^too-many: /);
    await Promise.all(calls);
    await until(async () => (await harness.outcome('notes/search', false)) === '1');
  });

  it('[PLUG-05] a worker that can’t be started is said to be, and is no stop', async () => {
    open({ script: join(folder(), 'none.mjs') }).install('notes/search', 'export const run = () => 1;');
    assert.match(await harness.outcome('notes/search'), /^unavailable: The plugin can’t be started/);
    assert.equal(harness.host.state('notes', 'search').state, 'on');
  });

  it('a start that fails is said to have failed, and tried again', async () => {
    let starts = 0;
    open({
      changes: {
        prepareThreads: () => {
          starts++;
          return Promise.reject(new Error('quickjs.wasm is missing'));
        },
      },
    }).install('notes/search', 'export const run = () => 1;');
    for (let time = 0; time < 2; time++)
      assert.equal(
        await harness.outcome('notes/search'),
        'unavailable: The plugin can’t be started: quickjs.wasm is missing',
      );
    assert.equal(starts, 2);
  });

  it('[PLUG-12] has a worker stand by where it is told to, and not before', async () => {
    let started = 0;
    open({
      changes: {
        standby: 2,
        prepareThreads: () => {
          started++;
          return Promise.reject(new Error('counted'));
        },
      },
    });
    await new Promise((settle) => setImmediate(settle));
    assert.equal(started, 0);
    harness.host.warmUp();
    await until(() => started === 1);
  });

  it('after it was disposed of there are no calls', async () => {
    open().install('notes/search', 'export const run = () => 1;');
    await harness.call('notes/search');
    await harness.host.dispose();
    assert.match(await harness.outcome('notes/search'), /^unavailable/);
  });

  it('[PLUG-14] imports its own modules, frozen as they were given', async () => {
    open().install('notes/search', {
      source: "import { word } from './lib/word.mjs'; export const run = () => word;",
      modules: {
        'lib/word.mjs': "export { word } from '../other.js';",
        'other.js': 'export const word = "found";',
      },
    });
    assert.equal(await harness.call('notes/search'), 'found');
  });
});

const readsStorage = `export async function run(_, { storage }) {
  try { return (await storage.get('x')) ?? 'none'; } catch (error) { return error.code; }
}`;
