import assert from 'node:assert/strict';
import {
  appManifest,
  pluginManifest,
  type AppManifest,
  type PluginManifest,
} from '../../../../protocol/src/manifests.ts';
import {
  permissionKey,
  permissionsOfApp,
  permissionsOfPlugin,
  permissionSentence,
} from '../../../../protocol/src/permissions.ts';

const app: AppManifest = {
  version: 1,
  id: 'notes',
  name: 'Notes',
  appVersion: '1.2.0',
  entry: 'index.html',
  permissions: { generate: ['text'], storageMB: 8, models: true },
  plugins: ['search'],
};
const plugin: PluginManifest = {
  version: 1,
  id: 'search',
  entry: 'index.js',
  permissions: {
    network: ['b.example.org', 'a.example.org:8443', 'b.example.org'],
    storage: true,
    generate: ['text'],
  },
  functions: { find: { input: {}, output: { type: 'array' } } },
};

describe('the manifests of apps', () => {
  it('[PLUG-13] reads what is written in docs/plugins.md', () => {
    assert.ok(appManifest.safeParse(app).success);
    assert.ok(pluginManifest.safeParse(plugin).success);
  });

  const brokenApps: readonly (readonly [string, object])[] = [
    ['an unknown key', { trusted: true }],
    ['another version of the format', { version: 2 }],
    ['an id with a capital', { id: 'Notes' }],
    ['an id that is a path', { id: '../notes' }],
    ['no version of the app', { appVersion: '1' }],
    ['an entry above its folder', { entry: '../index.html' }],
    ['an absolute entry', { entry: '/index.html' }],
    ['an entry with a back slash', { entry: 'a\\index.html' }],
    ['a hidden entry', { entry: '.git/index.html' }],
    ['an entry that is a script', { entry: 'index.js' }],
    ['an address as entry', { entry: 'https://example.org/index.html' }],
    ['an unknown permission', { permissions: { network: ['example.org'] } }],
    ['an unknown kind of model', { permissions: { generate: ['video'] } }],
    ['too much storage', { permissions: { storageMB: 100_000 } }],
    ['storage below nothing', { permissions: { storageMB: -1 } }],
    ['a plugin that is a path', { plugins: ['../x'] }],
  ];
  for (const [what, change] of brokenApps)
    it(`[PLUG-13] app.json: refuses ${what}`, () =>
      assert.equal(appManifest.safeParse({ ...app, ...change }).success, false));

  const brokenPlugins: readonly (readonly [string, object])[] = [
    ['an unknown key', { env: {} }],
    ['the whole network', { permissions: { network: true } }],
    ['any host', { permissions: { network: ['*'] } }],
    ['an address with a scheme', { permissions: { network: ['https://example.org'] } }],
    ['a path of a host', { permissions: { network: ['example.org/x'] } }],
    ['a user name', { permissions: { network: ['a@example.org'] } }],
    ['a storage of another app', { permissions: { storage: 'board' } }],
    ['an entry that is no module', { entry: 'index.json' }],
    ['a function named like no export', { functions: { 'not-a-name': { input: {}, output: {} } } }],
    ['a function without a schema', { functions: { find: { input: {} } } }],
    ['a schema with a pattern', { functions: { find: { input: { pattern: '(a+)+$' }, output: {} } } }],
    [
      'more functions than anyone reads',
      {
        functions: Object.fromEntries(
          Array.from({ length: 101 }, (_, at) => [`f${at}`, { input: {}, output: {} }]),
        ),
      },
    ],
  ];
  for (const [what, change] of brokenPlugins)
    it(`[PLUG-13] plugin.json: refuses ${what}`, () =>
      assert.equal(pluginManifest.safeParse({ ...plugin, ...change }).success, false));

  it('[PLUG-13] says what is asked for, once, in one order', () => {
    assert.deepEqual(permissionsOfApp(app).map(permissionKey), ['generate:text', 'models', 'storage:8']);
    assert.deepEqual(permissionsOfPlugin(plugin, app).map(permissionKey), [
      'generate:text',
      'network:a.example.org:8443',
      'network:b.example.org',
      'storage:8',
    ]);
    for (const permission of permissionsOfPlugin(plugin, app))
      assert.notEqual(permissionSentence(permission), '');
  });

  it('[PLUG-13] asks for nothing where nothing is written', () => {
    const bareApp = { ...app, permissions: undefined };
    const barePlugin = { ...plugin, permissions: undefined };
    assert.deepEqual(permissionsOfApp(bareApp), []);
    assert.deepEqual(permissionsOfPlugin(barePlugin, app), []);
    const storing = { ...barePlugin, permissions: { storage: true } };
    assert.deepEqual(permissionsOfPlugin(storing, bareApp), [{ name: 'storage', megabytes: 16 }]);
  });
});
