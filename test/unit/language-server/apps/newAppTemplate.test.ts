import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { composeApp, suggestId } from '../../../../extension/src/apps/newApp/composeApp.ts';
import { createBundler } from '../../../../language-server/src/apps/page/bundler.ts';
import { inlinePage } from '../../../../language-server/src/apps/page/inlinePage.ts';
import { appManifest, idPattern } from '../../../../protocol/src/manifests.ts';
import { declarations, newApp, readTemplate } from '../../../../scripts/newApp.mjs';
import { useApps } from '../../../support/appsHarness.ts';
import { buildCompiler } from '../../../support/buildCompiler.ts';
import { checkTypes } from '../../../support/checkTypes.ts';
import { sampleAppsFolder } from '../../../support/sampleApps.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const variants = (['page', 'plugin'] as const).flatMap((parts) =>
  (['javascript', 'typescript'] as const).map((language) => ({ parts, language })),
);

describe('the template of apps', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  let compiler = '';
  before(async () => {
    compiler = await buildCompiler();
  });
  after(() => rmSync(compiler, { recursive: true, force: true }));

  for (const { parts, language } of variants) {
    it(`[NEWAPP-03] gives a whole app: ${parts} in ${language}`, async () => {
      const path = join(folder(), 'greeter');
      await newApp('greeter', path, { name: 'The <Greeter>', parts, language });
      const { name, plugins, files } = await apps().stage({ kind: 'folder', path });
      assert.deepEqual([name, plugins.length], ['The <Greeter>', parts === 'plugin' ? 1 : 0]);
      assert.ok(files > 6);
      const configs = [
        join(path, language === 'typescript' ? 'tsconfig.json' : 'jsconfig.json'),
        ...(parts === 'plugin' ? [join(path, 'plugins/hello/jsconfig.json')] : []),
      ];
      for (const config of configs) assert.deepEqual(checkTypes(config), []);
      const page = await inlinePage('index.html', readFileSync(join(path, 'index.html'), 'utf8'), {
        read: (file) => readFileSync(join(path, file)),
        bundle: (entry) =>
          createBundler({
            script: join(compiler, 'build-worker.mjs'),
            readCompiler: async () => readFileSync(join(compiler, 'esbuild.wasm')),
          })(
            { kind: 'file', path: entry },
            { has: (file) => existsSync(join(path, file)), read: (file) => readFileSync(join(path, file)) },
            new AbortController().signal,
          ),
      });
      assert.match(page, /<title>The &lt;Greeter(&gt;|>)<\/title>/);
      assert.match(page, parts === 'plugin' ? /sallyport\.plugins\.call/ : /sallyport\.files\.put/);
      assert.doesNotMatch(page, /APP_[A-Z]/);
      const readme = readFileSync(join(path, 'README.md'), 'utf8');
      assert.match(readme, /^# The \\<Greeter\\>\n/);
      for (const [, named = ''] of readme.matchAll(/^\| `([^`]+)`(?:, `([^`]+)`)*/gm))
        assert.ok(existsSync(join(path, named)), named);
    });
  }

  it('[NEWAPP-03] a type error in it would be found', async () => {
    const path = join(folder(), 'greeter');
    await newApp('greeter', path, { parts: 'page', language: 'typescript' });
    appendFileSync(join(path, 'main.ts'), 'void sallyport.files.put(1);\n');
    assert.equal(checkTypes(join(path, 'tsconfig.json')).length, 1);
  });

  it('writes the manifest last', async () => {
    const template = await readTemplate();
    for (const { parts, language } of variants)
      assert.equal(
        [...composeApp(template, { id: 'a', name: 'A', parts, language }).keys()].at(-1),
        'app.json',
      );
  });

  it('takes any name into each kind of file as text', async () => {
    const name = `"}</title><script>&amp; APP_ID [a](command:b) $& \\u`;
    const files = composeApp(await readTemplate(), { id: 'a', name, parts: 'page', language: 'javascript' });
    assert.equal(appManifest.parse(JSON.parse(files.get('app.json') ?? '')).name, name);
    assert.doesNotMatch(files.get('index.html') ?? '', /<script>/);
    assert.match(files.get('README.md') ?? '', /\\\[a\\\]\\\(command:b\\\)/);
  });

  for (const [name, id] of [
    ['My first app!', 'my-first-app'],
    ['  Ärger & Co. ', 'arger-co'],
    ['2048', ''],
    ['3 pigs', 'pigs'],
    ['メモ', ''],
    ['long '.repeat(30), `${'long-'.repeat(12)}long`],
  ] as const)
    it(`suggests “${id}” for “${name.trim().slice(0, 20)}”`, () => {
      assert.equal(suggestId(name), id);
      if (id !== '') assert.match(id, idPattern);
    });
});

describe('the types of apps', () => {
  for (const path of [
    join(sampleAppsFolder, 'notes', 'sallyport.d.ts'),
    join(sampleAppsFolder, 'board', 'sallyport.d.ts'),
  ])
    it(`[NEWAPP-04] ${path.split('/').slice(-2).join('/')} is what the page gets`, async () => {
      assert.equal(readFileSync(path, 'utf8'), await declarations());
    });

  it('[NEWAPP-04] those of the template are what the page gets', async () => {
    const { 'common/sallyport.d.ts': text } = await readTemplate();
    assert.equal(text, await declarations());
    assert.match(text, /^declare const sallyport: Sallyport;$/m);
  });
});
