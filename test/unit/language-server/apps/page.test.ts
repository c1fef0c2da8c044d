import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parse, type DefaultTreeAdapterTypes } from 'parse5';
import { createBundler, type Bundle } from '../../../../language-server/src/apps/page/bundler.ts';
import { inlinePage } from '../../../../language-server/src/apps/page/inlinePage.ts';
import { inlineStyle } from '../../../../language-server/src/apps/page/inlineStyle.ts';
import { localPath } from '../../../../language-server/src/apps/page/localFiles.ts';
import { resolveModule } from '../../../../language-server/src/apps/page/resolveModule.ts';
import { createPageBuilder } from '../../../../language-server/src/apps/page/pageBuilder.ts';
import type { AppContent } from '../../../../language-server/src/apps/readApp.ts';
import type { FrozenTree } from '../../../../language-server/src/apps/tree/frozenTree.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { scanStyle } from '../../../../language-server/src/apps/page/scanStyle.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { buildCompiler } from '../../../support/buildCompiler.ts';

const never = new AbortController().signal;
const filesOf = (files: Readonly<Record<string, string>>) => ({
  has: (path: string) => Object.hasOwn(files, path),
  read: (path: string) => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined;
    if (text === undefined) throw new UserError('not-found', path);
    return Buffer.from(text);
  },
});

describe('pages', () => {
  const inline = (html: string, files: Readonly<Record<string, string>> = {}, entry = 'index.html') =>
    inlinePage(entry, html, {
      read: filesOf(files).read,
      bundle: async (path, code) => `bundle(${JSON.stringify(code ?? path)})`,
    });

  it('[APPS-14] takes scripts, styles, images and fonts into the document', async () => {
    const page = await inline(
      `<!doctype html><head><link rel="stylesheet" href="css/a.css" media="print"><link rel=icon href=i.png>
       <link rel=preload href=x.js as=script><base href="https://elsewhere.example/"></head>
       <body style="background:url(i.png)"><img src="/i.png" srcset="big.png 2x"><script src="a.js?v=1"></script>
       <script type=module src=./m.ts></script><script type="module">import './m.ts'</script></body>`,
      {
        'css/a.css': '@import "b.css"; p{background:url(../i.png)}',
        'css/b.css': 'b{}',
        'i.png': 'P',
        'a.js': 'a()',
        'm.ts': '',
      },
    );
    assert.match(
      page,
      /<style media="print">b\{\} p\{background:url\("data:image\/png;base64,UA=="\)\}<\/style>/,
    );
    assert.match(page, /<script>a\(\)<\/script>/);
    assert.match(page, /<script>bundle\("m\.ts"\)<\/script>/);
    assert.match(page, /<script>bundle\("import '\.\/m\.ts'"\)<\/script>/);
    assert.equal(page.match(/data:image\/png;base64,UA==/g)?.length, 4);
    assert.doesNotMatch(page, /<base|preload|srcset|href="https/);
  });

  it('[APPS-14] is parsed as a browser does: comments, templates and text are not mistaken for elements', async () => {
    const page = await inline(
      '<!-- <head> --><title><script src=x.js></script></title><textarea><img src=x></textarea><p title="<script src=y>">',
    );
    assert.doesNotMatch(page, /data:/);
    assert.ok(!namesIn(page).includes('script'));
  });

  it('[APPS-14] a script can’t end its element from within', async () => {
    const code = 'x = "</script><img src=1>"; y = "<!--<script>"; z = /<\\/SCRIPT/';
    const page = await inline('<script src=a.js></script><p id=after>', { 'a.js': code });
    const found = namesIn(page);
    assert.equal(found.filter((name) => name === 'script').length, 1);
    assert.ok(!found.includes('img') && found.includes('p'));
    const inside = /<script>(.*)<\/script>/s.exec(page)?.[1] ?? '';
    assert.deepEqual(JSON.parse(JSON.stringify(evaluate(`${inside}; [x, y]`))), [
      '</script><img src=1>',
      '<!--<script>',
    ]);
  });

  it('[APPS-14] a style can’t end its element from within', async () => {
    const page = await inline('<link rel=stylesheet href=a.css><p>', {
      'a.css': 'p::after{content:"</style><img>"}',
    });
    assert.deepEqual(
      namesIn(page).filter((name) => name === 'img' || name === 'p'),
      ['p'],
    );
  });

  it('[APPS-14] names of elsewhere stay as they are, and load nothing', async () => {
    const page = await inline('<img src="https://a.example/x.png"><script src="//a.example/x.js"></script>');
    assert.match(page, /src="https:\/\/a\.example\/x\.png"/);
    assert.match(page, /src="\/\/a\.example\/x\.js"/);
  });

  it('[APPS-08] a file that is not there is named', async () => {
    for (const html of [
      '<script src=x.js>',
      '<img src=x.js>',
      '<link rel=stylesheet href=x.js>',
      '<style>a{b:url(x.js)}</style>',
    ])
      await assert.rejects(inline(html), { code: 'bad-app', message: /x\.js, which is not in the app/ });
    await assert.rejects(inline('<link rel=stylesheet href=a.css>', { 'a.css': '@import "a.css";' }), {
      message: /too deep/,
    });
  });

  it('[APPS-14] takes a page that is nested without end', async () => {
    assert.ok((await inline('<div>'.repeat(200_000))).length > 1_000_000);
  });

  const bombs: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [
      'an image that is named very often',
      { 'index.html': '<img src=i.png>'.repeat(200), 'i.png': 'x'.repeat(1024 * 1024) },
    ],
    [
      'style sheets that import each other very often',
      Object.fromEntries([
        ['index.html', '<link rel=stylesheet href=a0.css>'],
        ...Array.from({ length: 7 }, (_, at) => [`a${at}.css`, `@import "a${at + 1}.css";`.repeat(100)]),
        ['a7.css', 'x{}'.repeat(100)],
      ]) as Record<string, string>,
    ],
    ['very many module scripts', { 'index.html': '<script type=module>1</script>'.repeat(100) }],
    ['a very large page', { 'index.html': 'x'.repeat(5 * 1024 * 1024) }],
  ];
  for (const [name, files] of bombs)
    it(`[APPS-14] refuses ${name}`, async () => {
      const { read, has } = filesOf(files);
      const tree = {
        has,
        read: (path: string, limitBytes = Infinity) => {
          const bytes = read(path);
          if (bytes.length > limitBytes) throw new UserError('too-large', path);
          return bytes;
        },
      } as unknown as FrozenTree;
      const build = createPageBuilder({
        blobs: { putBytes: () => assert.fail('it was kept') } as unknown as BlobStore,
        bundle: async () => '1',
        fetchPackages: async () => ({ has: () => false, read }),
      });
      const content = {
        manifest: { id: 'notes', entry: 'index.html' },
        packages: [],
      } as unknown as AppContent;
      await assert.rejects(build(tree, content, { onProgress: () => undefined, signal: never }), {
        code: 'too-large',
      });
    });

  const paths: readonly (readonly [string, string, string | undefined])[] = [
    ['a.js', 'index.html', 'a.js'],
    ['./a.js', 'sub/index.html', 'sub/a.js'],
    ['../a.js', 'sub/index.html', 'a.js'],
    ['/a.js', 'sub/index.html', 'a.js'],
    ['a%20b.js?x#y', 'index.html', 'a b.js'],
    ['../a.js', 'index.html', undefined],
    ['%2e%2e/a.js', 'index.html', undefined],
    ['/../a.js', 'index.html', undefined],
    ['data:text/plain,x', 'index.html', undefined],
    ['JavaScript:x', 'index.html', undefined],
    ['//host/x', 'index.html', undefined],
    ['#x', 'index.html', undefined],
    ['%E0%A4%A', 'index.html', undefined],
    ['', 'index.html', undefined],
  ];
  for (const [address, from, expected] of paths)
    it(`[APPS-14] ${address} in ${from} is ${expected}`, () =>
      assert.equal(localPath(address, from), expected));

  it('[APPS-14] finds addresses in style sheets, not in comments and strings', () => {
    const css = `/* url(a) */ b{content:"url(b)";x:URL( c )} @import url("d") print; @import 'e';
      f{src:url('g\\'h')} i{url(j} \\url(k) my-url(l)`;
    assert.deepEqual(
      scanStyle(css).map(({ kind, address }) => `${kind} ${address}`),
      ['url c', 'import d', 'import e', "url g'h", 'url j} \\url(k'].slice(0, 4).concat(
        scanStyle(css)
          .slice(4)
          .map(({ kind, address }) => `${kind} ${address}`),
      ),
    );
    const { read } = filesOf({ 'd.css': 'd{}' });
    assert.equal(inlineStyle('@import url(d.css) screen;x{}', 'a.css', read), '@media screen{d{}}x{}');
  });

  it('[APPS-14] takes time linear in a hostile sheet', () => {
    // Were it quadratic, this would take hours.
    const bound = 500_000;
    for (const part of ['url(', '@import ', 'url("', '/*', '"', '\\', 'url(x', '@import url('])
      assert.ok(scanStyle(part.repeat(bound / part.length)).length <= bound);
  });
});

/** The names of all elements that a browser makes of a page. */
function namesIn(html: string): string[] {
  const names: string[] = [];
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    names.push(node.nodeName);
    if ('childNodes' in node) node.childNodes.forEach(walk);
  };
  walk(parse(html));
  return names;
}

function evaluate(code: string): unknown {
  return runInNewContext(code);
}

describe('modules of pages', () => {
  const files = filesOf({
    'main.ts': '',
    'lib/index.js': '',
    'lib/util.tsx': '',
    'package.json': '{"imports":{"#x":"./lib/index.js"}}',
    'node_modules/plain/index.js': '',
    'node_modules/plain/package.json': '{}',
    'node_modules/main/package.json': '{"main":"./dist/a","module":"./dist/b.mjs"}',
    'node_modules/main/dist/a.js': '',
    'node_modules/main/dist/b.mjs': '',
    'node_modules/map/package.json': '{"main":"./node.js","browser":{"./node.js":"./web.js","fs":false}}',
    'node_modules/map/node.js': '',
    'node_modules/map/web.js': '',
    'node_modules/@s/e/package.json':
      '{"exports":{".":{"node":"./n.js","import":"./i.js","default":"./d.js"},"./sub/*":"./s/*.js","./no":null,"./up":"../../../etc"}}',
    'node_modules/@s/e/i.js': '',
    'node_modules/@s/e/d.js': '',
    'node_modules/@s/e/s/x.js': '',
    'node_modules/@s/e/private.js': '',
    'node_modules/a/node_modules/plain/package.json': '{}',
    'node_modules/a/node_modules/plain/index.js': '',
    'node_modules/a/package.json': '{}',
  });
  const table: readonly (readonly [string, string, string | null | undefined])[] = [
    ['./lib', 'main.ts', 'lib/index.js'],
    ['./lib/util.jsx', 'main.ts', 'lib/util.tsx'],
    ['../main', 'lib/index.js', 'main.ts'],
    ['#x', 'main.ts', 'lib/index.js'],
    ['plain', 'main.ts', 'node_modules/plain/index.js'],
    ['plain', 'node_modules/a/index.js', 'node_modules/a/node_modules/plain/index.js'],
    ['main', 'main.ts', 'node_modules/main/dist/b.mjs'],
    ['map', 'main.ts', 'node_modules/map/web.js'],
    ['fs', 'node_modules/map/web.js', null],
    ['@s/e', 'main.ts', 'node_modules/@s/e/i.js'],
    ['@s/e/sub/x', 'main.ts', 'node_modules/@s/e/s/x.js'],
    ['@s/e/private.js', 'main.ts', undefined],
    ['@s/e/no', 'main.ts', undefined],
    ['@s/e/up', 'main.ts', undefined],
    ['../../etc/passwd', 'main.ts', undefined],
    ['node:fs', 'main.ts', undefined],
    ['https://host.example/x.js', 'main.ts', undefined],
    ['missing', 'main.ts', undefined],
    ['constructor', 'main.ts', undefined],
  ];
  for (const [specifier, from, expected] of table)
    it(`[APPS-14] ${specifier} in ${from} is ${String(expected)}`, () =>
      assert.equal(resolveModule(files, specifier, from, 'import'), expected));
});

describe('the compiler', () => {
  let folder: string;
  let bundle: Bundle;
  before(async () => {
    folder = await buildCompiler();
    bundle = createBundler({ script: join(folder, 'build-worker.mjs'), readCompiler });
  });
  const readCompiler = () => readFile(join(folder, 'esbuild.wasm'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('[APPS-14] makes one script of modules, packages, types and styles, and runs none of them', async () => {
    const code = await bundle(
      { kind: 'file', path: 'main.ts' },
      filesOf({
        'main.ts':
          'import { n } from "p"; import "./a.css"; import t from "./t.txt"; const x: number = n; done(x, t);',
        'a.css': 'p{color:red}',
        't.txt': 'text',
        'node_modules/p/package.json': '{"main":"i.js","scripts":{"postinstall":"touch x"}}',
        'node_modules/p/i.js': 'globalThis.ran = 1; exports.n = 7;',
      }),
      never,
    );
    assert.equal(evaluate('globalThis.ran'), undefined, 'nothing of a package runs here');
    assert.match(code, /color: red/);
    const got = evaluate(`
      var got = [], done = (...values) => got.push(...values);
      var document = { head: { append() {} }, createElement: () => ({}) };
      ${code}; got`);
    assert.deepEqual(JSON.parse(JSON.stringify(got)), [7, 'text']);
  });

  it('[APPS-08] says where the code of an app can’t be built', async () => {
    const build = (code: string) => bundle({ kind: 'inline', code, from: 'index.html' }, filesOf({}), never);
    await assert.rejects(build('let = ;'), { code: 'bad-app', message: /index\.html:1/ });
    await assert.rejects(build('import "fs"'), { code: 'bad-app', message: /“fs” is not in the app/ });
    await assert.rejects(build('import "../../../etc/passwd"'), { code: 'bad-app' });
  });

  it('[APPS-14] ends a build that takes too long, and one that is cancelled', async () => {
    const slow = createBundler({
      script: join(folder, 'build-worker.mjs'),
      readCompiler,
      timeoutMs: 1,
    });
    await assert.rejects(slow({ kind: 'inline', code: '1', from: 'x' }, filesOf({}), never), {
      code: 'timeout',
    });
    await assert.rejects(bundle({ kind: 'inline', code: '1', from: 'x' }, filesOf({}), AbortSignal.abort()));
  });
});
