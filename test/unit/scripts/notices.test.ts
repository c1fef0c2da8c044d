import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notices, packagesOf } from '../../../scripts/notices.mjs';

describe('packagesOf', () => {
  it('finds the innermost package of each file, once, and nothing of our own', () => {
    assert.deepEqual(
      packagesOf([
        'webviews/src/run/main.tsx',
        'node_modules/react/index.js',
        'node_modules/react/cjs/react.production.js',
        'node_modules/@vscode/codicons/dist/codicon.ttf',
        'node_modules/markdown-it/node_modules/entities/lib/index.js',
        'left-out:undici',
      ]),
      [
        'node_modules/@vscode/codicons',
        'node_modules/markdown-it/node_modules/entities',
        'node_modules/react',
      ],
    );
  });
});

describe('notices', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sallyport-notices-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function put(folder: string, license: string | undefined, files: Readonly<Record<string, string>>): string {
    mkdirSync(join(root, folder), { recursive: true });
    const manifest = JSON.stringify({ name: folder, version: '1.0.0', license });
    for (const [name, text] of Object.entries({ ...files, 'package.json': manifest }))
      writeFileSync(join(root, folder, name), text);
    return folder;
  }

  it('[PACK-04] names each package and gives its texts, the same text once', async () => {
    const text = await notices(root, [
      put('one', 'MIT', { LICENSE: 'Copyright One\r\nAs is.\r\n', 'index.js': '' }),
      put('two', 'MIT', { 'licence.md': 'Copyright One\nAs is.\n' }),
      put('three', 'Apache-2.0', { 'LICENSE-2.0.txt': 'Apache', NOTICE: 'Three, by many' }),
      put('four', 'MIT', {}),
      put('five', undefined, { COPYING: 'Do as you like' }),
    ]);
    const parts = text.split(/\n-{80}\n\n/);
    assert.deepEqual(parts, [
      'one 1.0.0 (MIT)\ntwo 1.0.0 (MIT)\n\nCopyright One\nAs is.\n',
      'three 1.0.0 (Apache-2.0)\n\nApache\n\nThree, by many\n',
      'four 1.0.0 (MIT)\n',
      'five 1.0.0 (as below)\n\nDo as you like\n',
    ]);
  });

  it('[PACK-04] refuses a package that names no licence', async () => {
    await assert.rejects(
      notices(root, [put('none', undefined, { 'index.js': '' })]),
      /none names no licence/,
    );
  });
});
