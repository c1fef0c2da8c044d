import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { pluginManifest } from '../../../../protocol/src/manifests.ts';
import { permissionsOfPlugin } from '../../../../protocol/src/permissions.ts';
import { newApp } from '../../../../scripts/newApp.mjs';
import { useApps } from '../../../support/appsHarness.ts';
import { openFakeInternet } from '../../../support/fakeInternet.ts';
import { createPluginHarness, type PluginHarness } from '../../../support/pluginHost.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const plugin = join(import.meta.dirname, '../../../../scripts/newApp/plugin/plugins/hello');

describe('the plugin of the template', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  let harness: PluginHarness | undefined;
  afterEach(() => harness?.dispose());

  it('[PLUG-13] can be installed as it is, with what it asks for shown', async () => {
    await newApp('my-app', join(folder(), 'my-app'));
    const review = await apps().stage({ kind: 'folder', path: join(folder(), 'my-app') });
    const [hello] = review.plugins;
    assert.deepEqual(
      hello?.permissions.map(({ permission }) => permission.name),
      ['storage'],
    );
  });

  it('greets and counts', async () => {
    const manifest = pluginManifest.parse(JSON.parse(readFileSync(join(plugin, 'plugin.json'), 'utf8')));
    harness = createPluginHarness({ folder: folder() });
    harness.install('my-app/hello', {
      source: readFileSync(join(plugin, 'index.js'), 'utf8'),
      functions: manifest.functions,
      rights: permissionsOfPlugin(manifest, {}),
    });
    const greet = { functionName: 'greet' };
    assert.equal(
      await harness.call('my-app/hello', { name: 'Ada' }, greet),
      'Hello, Ada! This is greeting 1.',
    );
    assert.equal(await harness.call('my-app/hello', { name: 'Bo' }, greet), 'Hello, Bo! This is greeting 2.');
    assert.match(await harness.outcome('my-app/hello', { name: '' }, greet), /^bad-params/);
  });

  it('[PLUG-06] has exactly what its types say', async () => {
    const internet = await openFakeInternet();
    harness = createPluginHarness({ folder: folder(), host: { network: internet.network } });
    harness.install('my-app/hello', {
      source: `export async function run(_, sallyport) {
        const keys = (value) => Object.keys(value).sort();
        return { api: keys(sallyport), storage: keys(sallyport.storage), generate: keys(sallyport.generate),
          console: keys(console), response: keys(await sallyport.fetch('http://api.example.org/')) };
      }`,
      rights: [{ name: 'network', host: 'api.example.org' }],
    });
    const found = (await harness.call('my-app/hello')) as Record<string, string[]>;
    await internet.close();
    const types = membersOfTypes(readFileSync(join(plugin, 'sallyport.d.ts'), 'utf8'));
    assert.deepEqual(found['api'], types.get('PluginApi'));
    assert.deepEqual(found['storage'], types.get('PluginApi.storage'));
    assert.deepEqual(found['generate'], types.get('PluginApi.generate'));
    assert.deepEqual(found['response'], types.get('PluginResponse'));
    assert.deepEqual(found['console'], ['debug', 'error', 'info', 'log', 'warn']);
  });
});

/** The names of the members of each interface, and of those of its members that are written out, in order. */
function membersOfTypes(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const take = (name: string, members: ts.NodeArray<ts.TypeElement>): void => {
    found.set(name, members.map((member) => member.name?.getText() ?? '').sort());
    for (const member of members)
      if (ts.isPropertySignature(member) && member.type && ts.isTypeLiteralNode(member.type))
        take(`${name}.${member.name.getText()}`, member.type.members);
  };
  for (const statement of ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest, true).statements)
    if (ts.isInterfaceDeclaration(statement)) take(statement.name.text, statement.members);
  return found;
}
