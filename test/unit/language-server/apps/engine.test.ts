import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createEngineServices, type EngineServices } from '../../../../language-server/src/services.ts';
import { openProjects } from '../../../../language-server/src/project/nodeProjects.ts';
import { bridgeAnswer } from '../../../../protocol/src/bridge.ts';
import { pluginFiles, writeApp } from '../../../support/appFolder.ts';
import { buildPrograms } from '../../../support/builtPrograms.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;

describe('apps in the engine as it is built', () => {
  const folder = useTemporaryFolder();
  let built: string;
  let services: EngineServices;
  before(async () => {
    built = await buildPrograms();
  });
  after(() => rmSync(built, { recursive: true, force: true }));
  beforeEach(() => {
    services = createEngineServices({
      home: join(folder(), 'home'),
      trusted: true,
      projects: openProjects({ roots: [folder()] }),
      programs: join(built, 'dist'),
      notify: () => undefined,
      onProblem: () => undefined,
    });
  });
  afterEach(() => services.dispose());

  const call = async (method: string, params: unknown) => {
    const { result } = await services.handlers['bridge/call'](
      { app: 'notes', method, params: JSON.stringify(params) },
      never,
    );
    return bridgeAnswer.parse(JSON.parse(result));
  };
  const source = () => ({ kind: 'folder' as const, path: join(folder(), 'app') });

  it('[APPS-03] an app is reviewed, installed, shown, stores, asks its plugin, and is switched off', async () => {
    const { handlers } = services;
    writeApp(
      join(folder(), 'app'),
      { plugins: ['search'] },
      {
        ...pluginFiles(
          'search',
          { storage: true },
          'import { twice } from "./lib.js"; export const echo = (input) => twice(input);',
        ),
        'plugins/search/lib.js': 'export const twice = (value) => [value, value];',
        'index.html': '<!doctype html><script type="module" src="main.ts"></script>',
        'main.ts': 'const answer: number = 42; document.title = String(answer);',
      },
    );
    const review = await handlers['app/stage']({ source: source(), progressId: 'p' }, never);
    await handlers['app/install']({ stageId: review.stageId, digest: review.digest, progressId: 'p' }, never);
    const page = await handlers['app/page']({ app: 'notes' }, never);
    assert.match(readFileSync(page.documentPath, 'utf8'), /<script>.*42.*<\/script>/s);

    assert.ok((await call('files.put', { path: 'a', content: 'x', encoding: 'text' })).ok);
    assert.deepEqual(await call('plugin.call', { plugin: 'search', function: 'echo', input: 7 }), {
      ok: true,
      value: { output: [7, 7] },
    });
    await handlers['app/setPlugin']({ app: 'notes', plugin: 'search', state: 'off' }, never);
    const off = await call('plugin.call', { plugin: 'search', function: 'echo', input: 7 });
    assert.equal(!off.ok && off.code, 'plugin-off');
    await handlers['app/setPlugin']({ app: 'notes', plugin: 'search', state: 'on' }, never);
    assert.ok((await call('plugin.call', { plugin: 'search', function: 'echo', input: 7 })).ok);
  });

  it('[APPS-05] an update changes the code of a plugin only when it is applied', async () => {
    const { handlers } = services;
    const write = (version: string, answer: number, permissions = {}) =>
      writeApp(
        join(folder(), 'app'),
        { appVersion: version, plugins: ['search'] },
        pluginFiles('search', permissions, `export const echo = () => ${answer};`),
      );
    const ask = async () => {
      const answer = await call('plugin.call', { plugin: 'search', function: 'echo', input: 1 });
      return answer.ok && (answer.value as { output: unknown }).output;
    };
    write('1.0.0', 1);
    const review = await handlers['app/stage']({ source: source(), progressId: 'p' }, never);
    await handlers['app/install']({ stageId: review.stageId, digest: review.digest, progressId: 'p' }, never);
    assert.equal(await ask(), 1);
    write('1.1.0', 2);
    assert.equal(await ask(), 1, 'the live folder is not read');
    assert.equal((await handlers['app/update']({ app: 'notes', progressId: 'p' }, never)).kind, 'applied');
    assert.equal(await ask(), 2);
    write('1.2.0', 3, { network: ['example.org'] });
    assert.equal((await handlers['app/update']({ app: 'notes', progressId: 'p' }, never)).kind, 'waits');
    assert.equal(await ask(), 2, 'the old version goes on');
  });
});
