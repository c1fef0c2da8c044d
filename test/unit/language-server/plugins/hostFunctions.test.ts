import assert from 'node:assert/strict';
import { join } from 'node:path';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import { createAppStorage, type AppStorage } from '../../../../language-server/src/plugins/appStorage.ts';
import type { Generate } from '../../../../language-server/src/plugins/generate.ts';
import {
  createHostFunctions,
  type HostFunctions,
} from '../../../../language-server/src/plugins/hostFunctions/hostFunctions.ts';
import type { PluginRights } from '../../../../language-server/src/plugins/rights.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { noValueRequests } from '../../../support/valueRequests.ts';
import { createFrequentActs } from '../../../support/frequentActs.ts';

const all: PluginRights = [
  { name: 'storage', megabytes: 1 },
  { name: 'generate', kind: 'text' },
];

describe('hostFunctions', () => {
  const folder = useTemporaryFolder();
  let storage: AppStorage;
  let serve: HostFunctions;
  let asked: unknown[] = [];
  beforeEach(() => {
    asked = [];
    storage = createAppStorage({ folder: join(folder(), 'data'), now: () => 7 });
    const generate: Generate = (by, kind, params) => {
      asked.push([by, kind, params]);
      return Promise.resolve({ text: 'hello', model: 'm', stop: 'end' } as never);
    };
    serve = createHostFunctions({
      storage,
      acts: createFrequentActs().acts,
      generate,
      values: noValueRequests,
      recordEgress: () => undefined,
      now: () => 7,
      createId: () => 'id',
    });
  });
  afterEach(() => storage.close());

  const call = async (name: string, params: unknown, rights = all, app = 'notes'): Promise<unknown> => {
    const text = typeof params === 'string' ? params : JSON.stringify(params);
    try {
      return JSON.parse(
        await serve(
          { app, plugin: 'search', rights, installation: 'i' },
          name,
          text,
          new AbortController().signal,
        ),
      );
    } catch (error) {
      assert.ok(error instanceof BridgeError, String(error));
      return error.code;
    }
  };

  it('[PLUG-09] writes, reads, lists and deletes within its app', async () => {
    const put = { path: 'a/b.txt', content: 'höi', encoding: 'text' };
    assert.deepEqual(await call('storage.put', put), { path: 'a/b.txt', bytes: 4, modifiedAt: 7 });
    assert.deepEqual(await call('storage.get', { path: 'a/b.txt', encoding: 'base64' }), {
      content: 'aMO2aQ==',
      encoding: 'base64',
      bytes: 4,
      modifiedAt: 7,
    });
    assert.deepEqual(await call('storage.list', {}), {
      files: [{ path: 'a/b.txt', bytes: 4, modifiedAt: 7 }],
    });
    assert.deepEqual(await call('storage.quota', {}), { usedBytes: 11, limitBytes: 1024 * 1024 });
    assert.equal(await call('storage.get', { path: 'a/b.txt', encoding: 'text' }, all, 'board'), 'not-found');
    assert.deepEqual(await call('storage.delete', { path: 'a/b.txt' }), { found: true });
  });

  it('[PLUG-09] bytes that are no text, and text that is no base64, are said to be', async () => {
    await call('storage.put', { path: 'x', content: '/w==', encoding: 'base64' });
    assert.equal(await call('storage.get', { path: 'x', encoding: 'text' }), 'bad-params');
    assert.equal(await call('storage.put', { path: 'x', content: '/w', encoding: 'base64' }), 'bad-params');
  });

  const paths = [
    '../x',
    '/x',
    'a/../x',
    'a//x',
    '.hidden',
    'a/.git/x',
    'a\\x',
    '',
    'a/',
    'C:x',
    'x\0',
    'é',
    'a'.repeat(101),
    '%2e%2e/x',
  ];
  for (const path of paths)
    it(`[PLUG-09] refuses the path ${JSON.stringify(path).slice(0, 20)}`, async () => {
      assert.equal(await call('storage.get', { path, encoding: 'text' }), 'bad-params');
      assert.equal(await call('storage.put', { path, content: '', encoding: 'text' }), 'bad-params');
    });

  it('[PLUG-10] asks a model in the name of the plugin', async () => {
    const messages = [{ role: 'user', text: 'hi' }];
    assert.deepEqual(await call('generate.text', { messages }), { text: 'hello', model: 'm', stop: 'end' });
    assert.deepEqual(
      asked.map((each) => JSON.stringify(each)),
      [JSON.stringify(['plugin:notes/search', 'text', { messages }])],
    );
  });

  const everything: Readonly<Record<string, unknown>> = {
    fetch: { url: 'http://api.example.org/', method: 'GET', headers: [], body: null, redirect: 'follow' },
    'storage.get': { path: 'x', encoding: 'text' },
    'storage.put': { path: 'x', content: '', encoding: 'text' },
    'storage.list': {},
    'storage.delete': { path: 'x' },
    'storage.quota': {},
    'generate.text': { messages: [{ role: 'user', text: 'x' }] },
    'generate.image': { prompt: 'x' },
    'generate.speech': { text: 'x' },
    'generate.embedding': { texts: ['x'] },
  };
  for (const [name, params] of Object.entries(everything)) {
    it(`[PLUG-10] ${name} does nothing without its permission`, async () => {
      assert.equal(await call(name, params, []), 'not-allowed');
      assert.deepEqual(asked, []);
      assert.equal(storage.usage('notes').files, 0);
    });
    it(`[PLUG-10] ${name} takes nothing beside its parameters`, async () => {
      for (const more of [{ app: 'board' }, { principal: 'person' }, { rights: all }, { permissions: ['*'] }])
        assert.equal(await call(name, { ...(params as object), ...more }), 'bad-params');
    });
  }

  it('[PLUG-10] a permission for one kind of model opens no other', async () => {
    for (const kind of ['image', 'speech', 'embedding'])
      assert.equal(await call(`generate.${kind}`, everything[`generate.${kind}`]), 'not-allowed');
  });

  for (const name of [
    '',
    'storage',
    'storage.clear',
    'constructor',
    '__proto__',
    'toString',
    'generate',
    'files.get',
    'plugin.call',
  ])
    it(`[PLUG-10] there is no host function ${name || '(nothing)'}`, async () =>
      assert.equal(await call(name, {}), 'not-allowed'));

  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '['.repeat(1000),
    '{"__proto__":{"path":"x","encoding":"text"}}',
  ])
    it(`[PLUG-06] refuses the parameters ${text.slice(0, 24)}`, async () =>
      assert.equal(await call('storage.get', text), 'bad-params'));
});
