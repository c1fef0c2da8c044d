import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as z from 'zod/mini';
import {
  createBridgeCalls,
  type BridgeCall,
  type BridgeOptions,
} from '../../../../language-server/src/apps/bridge/bridgeCalls.ts';
import { bridgeTable } from '../../../../language-server/src/apps/bridge/bridgeTable.ts';
import { CallBudget } from '../../../../language-server/src/apps/bridge/callBudget.ts';
import { createModelList } from '../../../../language-server/src/apps/generate/modelList.ts';
import {
  bridgeAnswer,
  BridgeError,
  bridgeLimits,
  bridgeMethods,
  type BridgeAnswer,
} from '../../../../protocol/src/bridge.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { pluginFiles, writeApp } from '../../../support/appFolder.ts';
import { useApps } from '../../../support/appsHarness.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { createFrequentActs } from '../../../support/frequentActs.ts';

const never = new AbortController().signal;
const everything = {
  generate: ['text', 'image', 'speech', 'embedding'],
  storageMB: 1,
  models: true,
  results: true,
};

/** Parameters that both tables take, and some that neither does. */
const samples: Readonly<Record<string, { good: readonly unknown[]; bad: readonly unknown[] }>> = {
  'plugin.call': {
    good: [{ plugin: 'a', function: 'echo', input: { x: [1] } }],
    bad: [
      { plugin: '../a', function: 'echo', input: 1 },
      { plugin: 'a', function: '__proto__', input: 1 },
      { plugin: 'a' },
      { plugin: 'a', function: 'f', input: 1, app: 'other' },
    ],
  },
  'generate.text': {
    good: [
      { messages: [{ role: 'user', text: 'x' }] },
      { messages: [{ role: 'user', text: 'x' }], system: 's', maxTokens: 5, temperature: 0.5, model: 'c/m' },
    ],
    bad: [
      {},
      { messages: [] },
      { messages: [{ role: 'system', text: 'x' }] },
      { messages: [{ role: 'user', text: 'x' }], maxTokens: 1e9 },
      { messages: [{ role: 'user', text: 'x' }], connection: 'x' },
      { messages: [{ role: 'user', text: 'x', file: '/etc' }] },
    ],
  },
  'generate.image': {
    good: [{ prompt: 'x', size: '64x64' }],
    bad: [{}, { prompt: '' }, { prompt: 'x', size: '99999x1' }, { prompt: 'x', url: 'x' }],
  },
  'generate.speech': {
    good: [{ text: 'x', voice: 'nova' }],
    bad: [{}, { text: '' }, { text: 'x'.repeat(20_001) }],
  },
  'generate.embedding': {
    good: [{ texts: ['x'] }],
    bad: [{}, { texts: [] }, { texts: Array.from({ length: 257 }, () => 'x') }],
  },
  'files.get': {
    good: [
      { path: 'a/b.txt', encoding: 'text' },
      { path: '_x/-y/0', encoding: 'base64' },
    ],
    bad: [
      { path: '../a', encoding: 'text' },
      { path: '/a', encoding: 'text' },
      { path: 'a//b', encoding: 'text' },
      { path: 'a/', encoding: 'text' },
      { path: '.a', encoding: 'text' },
      { path: 'a\0', encoding: 'text' },
      { path: 'a\n', encoding: 'text' },
      { path: 'a', encoding: 'utf8' },
      { path: 'x/'.repeat(16) + 'x', encoding: 'text' },
      { path: 'a' },
    ],
  },
  'files.put': {
    good: [{ path: 'a', content: '', encoding: 'text' }],
    bad: [
      { path: 'a', encoding: 'text' },
      { path: '..', content: '', encoding: 'text' },
      { path: 'a', content: 1, encoding: 'text' },
    ],
  },
  'files.list': {
    good: [{}, { prefix: 'a/' }],
    bad: [{ prefix: '\0' }, { prefix: 'x'.repeat(201) }, { app: 'other' }],
  },
  'files.delete': { good: [{ path: 'a' }], bad: [{ path: '../a' }, {}] },
  'files.quota': { good: [{}], bad: [{ x: 1 }] },
  'models.list': { good: [{}, { kind: 'text' }], bad: [{ kind: 'video' }] },
  'voices.list': { good: [{}], bad: [{ x: 1 }] },
  'results.list': { good: [{}], bad: [{ root: '/' }] },
  'results.read': {
    good: [{ project: 'p', card: 'c', port: 'o', encoding: 'text' }],
    bad: [{ project: '', card: 'c', port: 'o', encoding: 'text' }, { project: 'p' }],
  },
};

describe('the bridge', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  let seen: string[];
  beforeEach(() => {
    seen = [];
  });

  const open = async (permissions: object = everything, options: Partial<BridgeOptions> = {}) => {
    const path = writeApp(join(folder(), 'app'), { permissions, plugins: ['a'] }, pluginFiles('a'));
    await apps().add({ kind: 'folder', path });
    const bridge = createBridgeCalls({
      library: apps().apps.library,
      storage: apps().storage,
      acts: createFrequentActs().acts,
      generate: async (by, kind, _, { onText }) => {
        seen.push(`${by} ${kind}`);
        onText?.('a');
        onText?.('b');
        return { text: 'ab', model: 'm', stop: 'end' } as never;
      },
      models: createModelList(() => []),
      results: { list: () => [], read: () => ({ content: '', encoding: 'text', type: 'text', bytes: 0 }) },
      callPlugin: async ({ app, plugin, functionName, input }) => {
        seen.push(`${app}/${plugin}.${functionName}`);
        return input;
      },
      onChunk: (app, callId, text) => void seen.push(`chunk ${app} ${callId} ${text}`),
      onProblem: () => undefined,
      monotonic: () => 0,
      setTimer: () => () => undefined,
      ...options,
    });
    return async (method: string, params: unknown, more: Partial<BridgeCall> = {}, signal = never) =>
      bridgeAnswer.parse(
        JSON.parse(
          await bridge(
            {
              app: 'notes',
              method,
              params: typeof params === 'string' ? params : JSON.stringify(params),
              ...more,
            },
            signal,
          ),
        ),
      );
  };
  const codeOf = (answer: BridgeAnswer) => (answer.ok ? 'ok' : answer.code);

  it('[APPS-13] the engine’s table and the contract name the same methods', () => {
    const contract = Object.entries(bridgeMethods).flatMap(([name, { answeredBy }]) =>
      answeredBy === 'engine' ? [name] : [],
    );
    assert.deepEqual(Object.keys(bridgeTable).sort(), contract.sort());
    assert.deepEqual(Object.keys(samples).sort(), contract.sort());
    for (const [name, { needs }] of Object.entries(bridgeMethods))
      if (Object.hasOwn(bridgeTable, name))
        assert.equal(bridgeTable[name as keyof typeof bridgeTable].needs !== null, needs !== undefined, name);
  });

  for (const [method, { good, bad }] of Object.entries(samples)) {
    const schemas = {
      engine: bridgeTable[method as keyof typeof bridgeTable].params,
      contract: bridgeMethods[method as keyof typeof bridgeMethods].params,
    };
    it(`[APPS-13] both tables take and refuse the same parameters of ${method}`, () => {
      for (const [table, schema] of Object.entries(schemas)) {
        for (const params of good)
          assert.ok(z.safeParse(schema, params).success, `${table} ${JSON.stringify(params)}`);
        for (const params of bad)
          assert.ok(!z.safeParse(schema, params).success, `${table} ${JSON.stringify(params)}`);
      }
    });
    it(`[APPS-13] the engine alone refuses bad parameters of ${method}, and the method without its permission`, async () => {
      const call = await open();
      for (const params of bad)
        assert.equal(codeOf(await call(method, params)), 'bad-params', JSON.stringify(params));
      assert.deepEqual(seen, [], 'nothing was done');
      if (bridgeTable[method as keyof typeof bridgeTable].needs === null) return;
      writeApp(join(folder(), 'app'), { appVersion: '1.0.1', permissions: {}, plugins: ['a'] });
      await apps().update('notes');
      for (const params of good) assert.equal(codeOf(await call(method, params)), 'not-allowed');
      assert.deepEqual(seen, []);
    });
  }

  const outside = [
    'link.open',
    'download.save',
    'theme.get',
    'agent.ask',
    'settings.get',
    'app/install',
    'app/delete',
    'bridge/call',
    'run/start',
    'vault/read',
    'permissions/accept',
    'constructor',
    '__proto__',
    'toString',
    '',
    'FILES.GET',
    'files.get ',
    'files',
  ];
  for (const method of outside)
    it(`[APPS-13] refuses the method ${JSON.stringify(method)} whoever let it through`, async () => {
      const call = await open();
      assert.equal(codeOf(await call(method, {})), 'not-allowed');
      assert.deepEqual(seen, []);
    });

  it('[APPS-13] refuses what is no JSON, too deep or too large, before it is looked at', async () => {
    const call = await open();
    for (const text of ['', '{', 'undefined', '['.repeat(100_000), '{"a":'.repeat(5000)])
      assert.equal(codeOf(await call('files.list', text)), 'bad-params');
    assert.equal(
      codeOf(await call('files.list', ' '.repeat(bridgeLimits.paramsCharacters + 1))),
      'too-large',
    );
    assert.equal(codeOf(await call('files.list', '{"__proto__":{"prefix":"a"}}')), 'bad-params');
  });

  it('[APPS-13] knows the app by who sends the call: another one, a deleted one and none are refused', async () => {
    const call = await open();
    assert.equal(codeOf(await call('files.quota', {}, { app: 'other' })), 'not-found');
    assert.equal(codeOf(await call('files.put', { path: 'a', content: 'x', encoding: 'text' })), 'ok');
    await apps().apps.handlers['app/delete']({ app: 'notes' }, never);
    assert.equal(codeOf(await call('files.get', { path: 'a', encoding: 'text' })), 'not-found');
  });

  it('keeps an app’s files, within its quota', async () => {
    const call = await open();
    const put = (path: string, content: string, encoding = 'text') =>
      call('files.put', { path, content, encoding });
    assert.deepEqual(await put('a/b.txt', 'hello'), {
      ok: true,
      value: { path: 'a/b.txt', bytes: 5, modifiedAt: apps().clock.now },
    });
    assert.equal(codeOf(await put('big', 'x'.repeat(1024 * 1024 + 1))), 'quota');
    assert.equal(codeOf(await put('b', 'no base64!', 'base64')), 'bad-params');
    assert.deepEqual(await call('files.get', { path: 'a/b.txt', encoding: 'base64' }), {
      ok: true,
      value: { content: 'aGVsbG8=', encoding: 'base64', bytes: 5, modifiedAt: apps().clock.now },
    });
    assert.equal(codeOf(await call('files.get', { path: 'none', encoding: 'text' })), 'not-found');
    const list = await call('files.list', { prefix: 'a/' });
    assert.ok(list.ok && JSON.stringify(list.value).includes('a/b.txt'));
    const quota = await call('files.quota', {});
    assert.deepEqual(quota.ok && quota.value, { usedBytes: 12, limitBytes: 1024 * 1024 });
    assert.deepEqual(await call('files.delete', { path: 'a/b.txt' }), { ok: true, value: { found: true } });
  });

  it('[APPS-15] asks models as this app, with pieces of the text before the answer', async () => {
    const call = await open();
    const answer = await call('generate.text', { messages: [{ role: 'user', text: 'x' }] }, { callId: 'c1' });
    assert.ok(answer.ok);
    assert.deepEqual(seen, ['app:notes text', 'chunk notes c1 ab']);
  });

  it('calls the app’s own plugins and no others', async () => {
    const call = await open();
    assert.deepEqual(await call('plugin.call', { plugin: 'a', function: 'echo', input: { x: 1 } }), {
      ok: true,
      value: { output: { x: 1 } },
    });
    assert.equal(
      codeOf(await call('plugin.call', { plugin: 'b', function: 'echo', input: 1 })),
      'not-allowed',
    );
    assert.deepEqual(seen, ['notes/a.echo']);
  });

  it('tells an app nothing of this machine when something fails', async () => {
    const secret = '/home/person/.ssh/id';
    for (const error of [
      new Error(secret),
      new UserError('unreadable', secret),
      new UserError('not-found', secret),
    ]) {
      const call = await open(everything, { callPlugin: () => Promise.reject(error) });
      const answer = await call('plugin.call', { plugin: 'a', function: 'echo', input: 1 });
      assert.ok(!answer.ok && !answer.message.includes(secret));
    }
    const call = await open(everything, {
      callPlugin: () => Promise.reject(new BridgeError('plugin-failed', 'It threw')),
    });
    assert.deepEqual(await call('plugin.call', { plugin: 'a', function: 'echo', input: 1 }), {
      ok: false,
      code: 'plugin-failed',
      message: 'It threw',
    });
    const stop = new AbortController();
    stop.abort();
    assert.equal(codeOf(await call('files.quota', {}, {}, stop.signal)), 'cancelled');
  });

  it('[APPS-13] bounds how many calls are under way and how many begin in ten seconds', () => {
    let now = 0;
    const budget = new CallBudget(() => now);
    const leaves = Array.from({ length: 4 }, () => budget.enter('generate'));
    assert.throws(() => budget.enter('generate'), { code: 'too-many' });
    budget.enter('plain')();
    leaves.forEach((leave) => leave());
    leaves[0]?.();
    for (let count = 4; count < 60; count++) budget.enter('generate')();
    assert.throws(() => budget.enter('generate'), { code: 'too-many' }, 'sixty in a window');
    now += 10_001;
    budget.enter('generate')();
    const open = Array.from({ length: 32 }, () => budget.enter('plain'));
    assert.throws(() => budget.enter('plugin'), { code: 'too-many' });
    open.forEach((leave) => leave());
  });
});
