import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MarkupContent } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { looseProblems } from '../../../../language-server/src/lsp/looseManifest.ts';
import { Workspace } from '../../../../language-server/src/lsp/workspace.ts';
import { codeLenses } from '../../../../language-server/src/manifests/codeLenses.ts';
import { completion } from '../../../../language-server/src/manifests/completion.ts';
import { hover } from '../../../../language-server/src/manifests/hover.ts';
import { documentLinks } from '../../../../language-server/src/manifests/links.ts';
import { manifestContext } from '../../../../language-server/src/manifests/manifestContext.ts';
import { readApp } from '../../../../language-server/src/apps/readApp.ts';
import type { FrozenTree } from '../../../../language-server/src/apps/tree/frozenTree.ts';
import { newApp, readTemplate } from '../../../../scripts/newApp.mjs';
import { sampleAppsFolder } from '../../../support/sampleApps.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('manifests of apps', () => {
  const temporary = useTemporaryFolder();
  const folder = () => join(temporary(), 'notes');
  const appPath = () => join(folder(), 'app.json');
  const pluginPath = () => join(folder(), 'plugins/search/plugin.json');
  const write = (path: string, value: unknown) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  };
  const app = {
    version: 1,
    id: 'notes',
    name: 'Notes',
    appVersion: '1.0.0',
    entry: 'index.html',
    plugins: ['search'],
  };
  const plugin = { version: 1, id: 'search', entry: 'index.js', functions: {} };
  beforeEach(() => {
    write(appPath(), app);
    write(pluginPath(), plugin);
    write(join(folder(), 'index.html'), '');
    write(join(folder(), 'plugins/search/index.js'), '');
  });

  const codes = (path: string, value: unknown) =>
    looseProblems(path, typeof value === 'string' ? value : JSON.stringify(value)).problems.map(
      ({ code }) => code,
    );
  const at = (path: string, marked: string) => {
    const context = manifestContext(path, marked.replace('|', ''), undefined);
    assert.ok(context);
    return { context, offset: marked.indexOf('|') };
  };
  const labels = (path: string, marked: string) => {
    const { context, offset } = at(path, marked);
    return completion(context, offset).items.map(({ label }) => label);
  };
  const taken = (path: string, marked: string, label: string) => {
    const { context, offset } = at(path, marked);
    const item = completion(context, offset).items.find((each) => each.label === label);
    assert.ok(item?.textEdit && 'range' in item.textEdit, `no ${label}`);
    return TextDocument.applyEdits(TextDocument.create('file:///x', 'json', 1, context.text), [
      item.textEdit,
    ]);
  };
  const hovered = (path: string, marked: string) => {
    const { context, offset } = at(path, marked);
    return (hover(context, offset)?.contents as MarkupContent | undefined)?.value ?? '';
  };
  /** The text after the only fix that is offered. */
  const fixed = (path: string, value: object) => {
    const text = JSON.stringify(value);
    const [fix, ...more] = looseProblems(path, text).problems.flatMap((problem) => problem.fix ?? []);
    assert.ok(fix && more.length === 0);
    return JSON.parse(text.slice(0, fix.start) + fix.text + text.slice(fix.end)) as unknown;
  };

  const appTable: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['a sound one', app, []],
    ['an unknown key', { ...app, permision: {} }, ['unknown-key']],
    ['a version of another format', { ...app, version: 2 }, ['bad-version']],
    ['a version that is none', { ...app, appVersion: '1.0' }, ['bad-app-version']],
    ['a page above it', { ...app, entry: '../index.html' }, ['bad-page']],
    ['a page that is no page', { ...app, entry: 'main.js' }, ['bad-page']],
    ['a page that is not there', { ...app, entry: 'indx.html' }, ['missing-file']],
    ['a plugin that is not there', { ...app, plugins: ['serach'] }, ['missing-plugin']],
    ['a plugin twice', { ...app, plugins: ['search', 'search'] }, ['listed-twice']],
    ['too much storage', { ...app, permissions: { storageMB: 99_999 } }, ['out-of-range']],
    ['a kind that is none', { ...app, permissions: { generate: ['video'] } }, ['not-one-of']],
    ['a host, which only plugins reach', { ...app, permissions: { network: ['a.b'] } }, ['unknown-key']],
    ['a permission of the wrong type', { ...app, permissions: { models: 'yes' } }, ['wrong-type']],
    ['no JSON, which the editor says itself', '{ "appVersion": ', []],
    ['a comment, which the editor says itself', `// x\n${JSON.stringify(app)}`, []],
  ];
  for (const [what, value, expected] of appTable)
    it(`[MAN-18] says what is wrong with app.json: ${what}`, () => {
      assert.deepEqual(codes(appPath(), value), expected);
    });

  const network = (...hosts: unknown[]) => ({ ...plugin, permissions: { network: hosts } });
  const input = (schema: object) => ({ ...plugin, functions: { find: { input: schema, output: {} } } });
  const use = { type: 'header', hosts: ['api.example.org'], name: 'authorization', prefix: 'Bearer ' };
  const wishing = (wish: object, ...hosts: readonly string[]) => ({
    ...plugin,
    permissions: {
      network: ['api.example.org', ...hosts],
      vault: [{ item: 'example-notes', field: 'token', use, ...wish }],
    },
  });
  const pluginTable: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['a sound one', plugin, []],
    ['no functions', { ...plugin, functions: undefined }, ['missing-key']],
    ['TypeScript', { ...plugin, entry: 'index.ts' }, ['bad-module']],
    ['a module that is not there', { ...plugin, entry: 'main.js' }, ['missing-file']],
    ['the id of another folder', { ...plugin, id: 'find' }, ['plugin-folder']],
    ['a host', network('api.example.org'), []],
    ['a local host, which the review points out', network('localhost:8080'), []],
    ['every host', network('*'), ['any-host']],
    ['hosts of strangers', network('*.github.io'), ['broad-host']],
    ['a host with a path', network('https://api.example.org/x'), ['bad-host']],
    ['a host twice', network('a.example.org', 'a.example.org'), ['listed-twice']],
    [
      'a name that no export has',
      { ...plugin, functions: { 'find-it': { input: {}, output: {} } } },
      ['bad-function-name'],
    ],
    ['a function without an output', { ...plugin, functions: { find: { input: {} } } }, ['missing-key']],
    ['a keyword that is not checked', input({ type: 'string', pattern: 'a' }), ['unknown-key']],
    [
      'a misspelt type deep in a schema',
      input({ properties: { a: { items: { type: 'strin' } } } }),
      ['not-one-of'],
    ],
    ['a type of another kind', input({ type: 3 }), ['wrong-type']],
    ['null among the values', input({ enum: [null, 1, 'a', true] }), []],
    ['a schema that is too deep', input(deep(20)), ['does-not-fit']],
    ['a wish', wishing({}), []],
    [
      'a wish under a name of many hosts',
      wishing({ use: { ...use, hosts: ['a.example.net'] } }, '*.example.net'),
      [],
    ],
    [
      'a wish for a host that is not listed',
      wishing({ use: { ...use, hosts: ['b.example.org'] } }),
      ['vault-host-closed'],
    ],
    [
      'a wish for another port',
      wishing({ use: { ...use, hosts: ['api.example.org:1'] } }),
      ['vault-host-closed'],
    ],
    [
      'a wish for many hosts',
      wishing({ use: { ...use, hosts: ['*.example.net'] } }, '*.example.net'),
      ['vault-host'],
    ],
    [
      'a wish for a host that is none',
      wishing({ use: { ...use, hosts: ['API.example.org'] } }),
      ['bad-host', 'vault-host-closed'],
    ],
    ['a wish for no host', wishing({ use: { ...use, hosts: [] } }), ['too-short']],
    ['a wish to have the value itself', wishing({ use: { type: 'env', name: 'TOKEN' } }), ['not-one-of']],
    [
      'a wish in the short form of cards',
      wishing({ use: undefined, env: 'TOKEN' }),
      ['missing-key', 'unknown-key'],
    ],
    ['a wish without a use', wishing({ use: undefined }), ['missing-key']],
    ['a wish for a header that frames', wishing({ use: { ...use, name: 'Host' } }), ['vault-header']],
    ['a wish for an item that is no id', wishing({ item: 'Example Notes' }), ['bad-id']],
    ['a wish with words of its own', wishing({ reason: 'please' }), ['unknown-key']],
    [
      'more wishes than anyone answers',
      {
        ...plugin,
        permissions: {
          network: ['api.example.org'],
          vault: Array.from({ length: 9 }, (_, at) => ({ item: `a${at}`, field: 'b', use })),
        },
      },
      ['too-many-entries'],
    ],
    ['a wish that is no object', { ...plugin, permissions: { vault: ['token'] } }, ['wrong-type']],
  ];
  for (const [what, value, expected] of pluginTable)
    it(`[MAN-18] says what is wrong with plugin.json: ${what}`, () => {
      assert.deepEqual(codes(pluginPath(), value), expected);
    });

  it('[MAN-18] says that a plugin is no part of its app', () => {
    write(appPath(), { ...app, plugins: [] });
    const { problems } = looseProblems(pluginPath(), JSON.stringify(plugin));
    assert.deepEqual(
      problems.map(({ code, severity }) => [code, severity]),
      [['unlisted-plugin', 'warning']],
    );
  });

  it('[MAN-18] mends what is plain', () => {
    assert.deepEqual(fixed(appPath(), { ...app, appVersion: 'v1.2' }), { ...app, appVersion: '1.2.0' });
    assert.deepEqual(fixed(appPath(), { ...app, entry: 'indx.html' }), app);
    assert.deepEqual(fixed(appPath(), { ...app, plugins: ['serach'] }), app);
    assert.deepEqual(fixed(pluginPath(), { ...plugin, id: 'find' }), plugin);
    const named = (name: string) => ({ ...plugin, functions: { [name]: { input: {}, output: {} } } });
    assert.deepEqual(fixed(pluginPath(), named('find-it')), named('findIt'));
  });

  it('[MAN-18] refuses nothing that can be installed, and says of all that can’t be', () => {
    const judged = (value: object) => {
      const files: Record<string, string> = {
        'app.json': JSON.stringify(app),
        'index.html': '',
        'plugins/search/index.js': '',
        'plugins/search/plugin.json': JSON.stringify(value),
      };
      const tree = {
        has: (path: string) => Object.hasOwn(files, path),
        read: (path: string) => Buffer.from(files[path] ?? ''),
      } as unknown as FrozenTree;
      try {
        readApp(tree);
        return true;
      } catch {
        return false;
      }
    };
    for (const [what, value] of pluginTable) {
      if (typeof value !== 'object' || value === null) continue;
      const errors = looseProblems(pluginPath(), JSON.stringify(value)).problems.filter(
        ({ severity }) => severity === 'error',
      );
      assert.equal(judged(value), errors.length === 0, what);
    }
  });

  it('[MAN-16] proposes keys, usual values, files, plugins and kinds, and never a host', () => {
    assert.ok(labels(appPath(), '{ | }').includes('appVersion'));
    assert.equal(taken(appPath(), '{ | }', 'appVersion'), '{ "appVersion": "${1:0.1.0}" }');
    assert.equal(taken(appPath(), '{ | }', 'entry'), '{ "entry": "${1:index.html}" }');
    assert.equal(taken(pluginPath(), '{ | }', 'entry'), '{ "entry": "${1:index.js}" }');
    assert.deepEqual(labels(appPath(), '{ "permissions": { | } }'), [
      'generate',
      'storageMB',
      'models',
      'results',
    ]);
    assert.deepEqual(labels(pluginPath(), '{ "permissions": { "network": [ "|" ] } }'), []);
    assert.deepEqual(labels(appPath(), '{ "permissions": { "generate": [ "|" ] } }'), [
      'text',
      'image',
      'speech',
      'embedding',
    ]);
    assert.deepEqual(labels(appPath(), '{ "entry": "|" }'), ['index.html']);
    assert.deepEqual(labels(pluginPath(), '{ "entry": "|" }'), ['index.js']);
    assert.deepEqual(labels(appPath(), '{ "plugins": [ "|" ] }'), ['search']);
    assert.deepEqual(labels(appPath(), '{ "plugins": [ "search", "|" ] }'), []);
    assert.deepEqual(labels(pluginPath(), '{ "id": "|" }'), ['search']);
  });

  it('[MAN-16] knows the keywords of a function’s schema at any depth', () => {
    const inside = (schema: string) =>
      `{ "functions": { "find": { "input": { "properties": { "a": { "items": ${schema} } } } } } }`;
    assert.ok(labels(pluginPath(), inside('{ | }')).includes('maxLength'));
    assert.ok(!labels(pluginPath(), inside('{ | }')).includes('pattern'));
    assert.deepEqual(labels(pluginPath(), inside('{ "type": "|" }')), [
      'null',
      'boolean',
      'integer',
      'number',
      'string',
      'array',
      'object',
    ]);
    assert.match(hovered(pluginPath(), inside('{ "min|Items": 1 }')), /smallest number of entries/);
  });

  it('[MAN-16] tells at a permission what people will be asked', () => {
    const asking = (permissions: string) =>
      JSON.stringify(app).replace(/\}$/, `,"permissions":${permissions}}`);
    assert.match(hovered(appPath(), asking('{"storage|MB":16}')), /16 MB/);
    assert.match(
      hovered(appPath(), asking('{"generate":["te|xt"]}')),
      /as an answer to messages[^]*Ask a connected model for text/,
    );
    const local = JSON.stringify(network('localhost:8080', 'api.example.org')).replace(
      '"network"',
      '"net|work"',
    );
    const words = hovered(pluginPath(), local);
    assert.match(words, /localhost:8080 over the network \(on this machine or a local network/);
    assert.match(words, /api\\\.example\\\.org over the network$/m);
  });

  it('[MAN-16] helps to write a wish, and tells what people will be asked', () => {
    const inside = (text: string) =>
      `{ "permissions": { "network": ["api.example.org", "*.example.net"], "vault": [${text}] } }`;
    assert.deepEqual(labels(pluginPath(), '{ "permissions": { | } }'), [
      'network',
      'storage',
      'generate',
      'vault',
    ]);
    assert.deepEqual(labels(pluginPath(), inside('{ | }')), ['item', 'field', 'use']);
    assert.equal(taken(pluginPath(), inside('{ | }'), 'use'), inside('{ "use": {$0} }'));
    assert.equal(taken(pluginPath(), inside('{ | }'), 'field'), inside('{ "field": "${1:token}" }'));
    assert.deepEqual(labels(pluginPath(), inside('{ "use": { "type": "|" } }')), [
      'header',
      'basic',
      'query',
    ]);
    const header = (text: string) => inside(`{ "use": { "type": "header", ${text} } }`);
    assert.deepEqual(labels(pluginPath(), header('|')), ['hosts', 'name', 'prefix']);
    assert.equal(taken(pluginPath(), header('|'), 'name'), header('"name": "${1:authorization}"'));
    // Hosts that the plugin may reach and that are named whole, each once.
    assert.deepEqual(labels(pluginPath(), header('"hosts": ["|"]')), ['api.example.org']);
    assert.deepEqual(labels(pluginPath(), header('"hosts": ["api.example.org", "|"]')), []);
    const text = JSON.stringify(wishing({}));
    const words = hovered(pluginPath(), text.replace('"vault"', '"va|ult"'));
    assert.match(words, /chooses one of their vault or none/);
    assert.match(
      words,
      /^- Would like a vault value for api.*: token of example.*; you choose it, or none$/m,
    );
    assert.match(hovered(pluginPath(), text.replace('"use"', '"u|se"')), /never has it[^]*Would like/);
  });

  it('[MAN-16] shows what is asked for above the permissions, and links to pages and plugins', () => {
    const titles = (path: string, text: string) =>
      codeLenses(at(path, text).context, undefined).map(({ command }) => command?.title);
    assert.deepEqual(titles(appPath(), JSON.stringify(app)), ['Closed: no permissions']);
    assert.deepEqual(titles(pluginPath(), JSON.stringify(network('a.example.org'))), [
      'Asks for: Reach a.example.org over the network',
    ]);
    assert.deepEqual(titles(appPath(), '{ "appVersion": 3 }'), []);
    assert.deepEqual(
      documentLinks(at(appPath(), JSON.stringify(app)).context).map(({ target }) => target),
      [pathToFileURL(join(folder(), 'index.html')).href, pathToFileURL(pluginPath()).href],
    );
  });

  for (const [name, text, isOurs] of [
    ['app.json', JSON.stringify({ expo: { name: 'x', version: '1.0.0' } }), false],
    ['app.json', JSON.stringify({ name: 'x', env: {}, buildpacks: [] }), false],
    ['app.json', '{}', false],
    ['app.json', '{ "appVersion": "1.0.0" }', true],
    ['app.json', '{ "$schema": "../../schemas/app.schema.json" }', true],
    ['plugin.json', JSON.stringify({ type: 'panel', name: 'x', id: 'x', info: {} }), false],
    ['plugin.json', JSON.stringify({ name: 'x', version: '1.0.0', functions: [] }), false],
    ['plugin.json', '{ "entry": "index.js", "functions": {} }', true],
  ] as const)
    it(`[MAN-17] ${isOurs ? 'takes' : 'leaves'} ${name} that begins ${text.slice(0, 30)}`, () => {
      const workspace = new Workspace();
      const path = join(temporary(), 'elsewhere', name);
      const uri = pathToFileURL(path).href;
      workspace.setDocument(TextDocument.create(uri, 'json', 1, text));
      workspace.flush();
      assert.equal(workspace.kindOf(path) !== undefined, isOurs);
      assert.equal(workspace.contextOf(uri) !== undefined, isOurs);
    });

  it('[MAN-17] takes any text in a folder that the project names in “apps”', () => {
    write(join(temporary(), 'sallyport.json'), {
      version: 1,
      name: 'x',
      cards: ['cards/*'],
      apps: ['apps/*', './own'],
    });
    for (const [path, isOurs] of [
      ['apps/one/app.json', true],
      ['apps/one/plugins/two/plugin.json', true],
      ['own/app.json', true],
      ['apps/one/other/two/plugin.json', false],
      ['apps/app.json', false],
      ['apps/one/deep/app.json', false],
      ['elsewhere/one/app.json', false],
    ] as const) {
      const workspace = new Workspace();
      const whole = join(temporary(), path);
      const uri = pathToFileURL(whole).href;
      workspace.setDocument(TextDocument.create(uri, 'json', 1, '{}'));
      workspace.flush();
      workspace.edited.list();
      assert.equal(workspace.contextOf(uri) !== undefined, isOurs, path);
    }
  });

  it('[MAN-18] finds nothing wrong with the samples and the template', async () => {
    await readTemplate();
    await newApp('fresh', join(temporary(), 'fresh'));
    for (const path of [
      join(sampleAppsFolder, 'notes/app.json'),
      join(sampleAppsFolder, 'notes/plugins/search/plugin.json'),
      join(sampleAppsFolder, 'board/app.json'),
      join(temporary(), 'fresh/app.json'),
      join(temporary(), 'fresh/plugins/hello/plugin.json'),
    ])
      assert.deepEqual(codes(path, readFileSync(path, 'utf8')), [], path);
  });

  it('stays with a hostile text', () => {
    rmSync(folder(), { recursive: true });
    for (const text of [
      '{"appVersion":"1.0.0","plugins":'.padEnd(200_000, '['),
      `{"appVersion":"\u202e","entry":"${'a/'.repeat(50_000)}x.html"}`,
      `{"appVersion":"1.0.0","plugins":[${'"a",'.repeat(50_000)}"a"]}`,
      '{"__proto__":{"appVersion":"1.0.0"}}',
    ])
      for (const path of [appPath(), pluginPath()])
        assert.ok(looseProblems(path, text).problems.length <= 101);
  });
});

/** A schema with so many levels. */
function deep(levels: number): object {
  return levels === 0 ? {} : { items: deep(levels - 1) };
}
