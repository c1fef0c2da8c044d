import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../../../protocol/src/errors.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { appFiles } from '../../support/appFolder.ts';
import { useApps } from '../../support/appsHarness.ts';
import { rawZip, type RawEntry } from '../../support/rawZip.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

const app: readonly RawEntry[] = Object.entries(appFiles()).map(([name, content]) => ({ name, content }));
const zeros = Buffer.alloc(2 * 1024 * 1024);

/** Each is an app that would be sound without its last entries. */
const attacks: readonly (readonly [string, readonly RawEntry[], ErrorCode?])[] = [
  ['a path upwards', [{ name: '../evil', content: 'x' }]],
  ['a path upwards in the middle', [{ name: 'a/../../evil', content: 'x' }]],
  ['an absolute path', [{ name: '/tmp/evil', content: 'x' }]],
  ['a drive', [{ name: 'C:evil', content: 'x' }]],
  ['a drive and upwards', [{ name: 'C:..\\evil', content: 'x' }]],
  ['backslashes', [{ name: '..\\..\\evil', content: 'x' }]],
  ['a symbolic link', [{ name: 'l', content: '/etc', mode: 0o120777 }]],
  [
    'a file through a link',
    [
      { name: 'l', content: '/tmp', mode: 0o120777 },
      { name: 'l/evil', content: 'x' },
    ],
  ],
  ['a device', [{ name: 'd', mode: 0o020666 }]],
  ['a block device', [{ name: 'd', mode: 0o060666 }]],
  ['a pipe', [{ name: 'p', mode: 0o010666 }]],
  ['a socket', [{ name: 's', mode: 0o140666 }]],
  [
    'a name twice',
    [
      { name: 'x', content: '1' },
      { name: 'x', content: '2' },
    ],
  ],
  ['a second manifest', [{ name: 'app.json', content: '{}' }]],
  ['names that differ in case', [{ name: 'APP.JSON', content: '{}' }]],
  [
    'names that differ in form',
    [
      { name: 'é', content: '1' },
      { name: 'e\u0301', content: '2' },
    ],
  ],
  ['a reserved name', [{ name: 'a/aux.js', content: 'x' }]],
  ['a trailing dot', [{ name: 'index.html.', content: 'x' }]],
  ['a stream', [{ name: 'index.html:evil', content: 'x' }]],
  ['a .git folder', [{ name: '.git/config', content: '[core]\n\tfsmonitor = x' }]],
  ['a file that is a folder', [{ name: 'index.html/x', content: 'x' }]],
  ['hidden characters', [{ name: 'a\u202Etxt.js', content: 'x' }]],
  ['an encrypted entry', [{ name: 'x', content: 'x', flags: 0x801 }]],
  ['another way of packing', [{ name: 'x', content: 'x', method: 12 }]],
  ['a ratio bomb', [{ name: 'x', content: zeros, stored: false }]],
  ['a bomb that hides its size', [{ name: 'x', content: zeros, stored: false, uncompressedSize: 10 }]],
  [
    'entries that share their bytes',
    [
      { name: 'x', content: 'xxxx' },
      { name: 'y', content: 'xxxx', at: 2 },
    ],
  ],
  [
    'a size above all bounds',
    [{ name: 'x', uncompressedSize: 0xffff_fffe, compressedSize: 0xffff_fffe }],
    'too-large',
  ],
  ['a wrong checksum', [{ name: 'x', content: 'x', crc: 1 }]],
  ['a folder with content', [{ name: 'x/', content: 'x' }]],
];

describe('hostile archives', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  const stage = async (bytes: Buffer) => {
    const path = join(folder(), 'app.zip');
    writeFileSync(path, bytes);
    return apps().stage({ kind: 'zip', path });
  };
  const assertNothingLeft = () => {
    assert.deepEqual([...apps().blobs.list()], [], 'no blob');
    assert.deepEqual(apps().records.stages(), [], 'no stage');
    assert.deepEqual(readdirSync(folder()).sort(), ['app.zip', 'home']);
    assert.equal(existsSync('/tmp/evil'), false);
  };

  it('[APPS-02] control: the archive without an attack is taken', async () => {
    assert.equal((await stage(rawZip(app))).files, 2);
    const below = app.map((entry) => ({ ...entry, name: `notes-main/${entry.name.toString()}` }));
    assert.equal((await stage(rawZip([{ name: 'notes-main/', mode: 0o040755 }, ...below]))).files, 2);
  });

  for (const [name, entries, code = 'unsafe-path'] of attacks)
    it(`[APPS-02] refuses all of an archive with ${name}, before anything is written`, async () => {
      await assert.rejects(stage(rawZip([...app, ...entries])), (error) => {
        assert.ok(error instanceof UserError, String(error));
        assert.ok([code, 'unreadable'].includes(error.code), `${error.code}: ${error.message}`);
        return true;
      });
      assertNothingLeft();
    });

  it('[APPS-02] refuses more entries than an app has', async () => {
    const many = Array.from({ length: 41_000 }, (_, at) => ({ name: `f${at}` }));
    await assert.rejects(stage(rawZip([...app, ...many])), { code: 'too-large' });
    assertNothingLeft();
  });

  it('[APPS-08] says in words what is cut off, no archive, no file or a link', async () => {
    await assert.rejects(stage(rawZip(app, { cut: 40 })), { code: 'unreadable', message: /cut off/ });
    await assert.rejects(stage(Buffer.from('no zip at all')), { code: 'unreadable' });
    await assert.rejects(stage(Buffer.alloc(0)), { code: 'unreadable' });
    assertNothingLeft();
    symlinkSync(join(folder(), 'app.zip'), join(folder(), 'link.zip'));
    for (const [path, code] of [
      [join(folder(), 'missing.zip'), 'unreadable'],
      [join(folder(), 'link.zip'), 'unsafe-path'],
      [folder(), 'unreadable'],
    ] as const)
      await assert.rejects(apps().stage({ kind: 'zip', path }), { code });
  });

  it('[APPS-02] control: the names that are refused do escape an archiver without these rules', function () {
    const target = join(folder(), 'target', 'inside');
    mkdirSync(target, { recursive: true });
    writeFileSync(join(folder(), 'app.zip'), rawZip([{ name: '../evil', content: 'x' }]));
    const script = `
import zipfile, os, sys
with zipfile.ZipFile(sys.argv[1]) as archive:
    for name in archive.namelist():
        with open(os.path.join(sys.argv[2], name), 'wb') as file: file.write(archive.read(name))
`;
    try {
      execFileSync('python3', ['-c', script, join(folder(), 'app.zip'), target]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      console.log('      skipped: there is no python3');
      this.skip();
    }
    assert.equal(existsSync(join(folder(), 'target', 'evil')), true);
  });
});

describe('hostile folders', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  const source = () => ({ kind: 'folder' as const, path: join(folder(), 'app') });
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(folder(), 'app', name, '..'), { recursive: true });
      writeFileSync(join(folder(), 'app', name), content);
    }
  };

  const links: readonly (readonly [string, () => void])[] = [
    ['a link to a file', () => symlinkSync('/etc/passwd', join(folder(), 'app', 'x'))],
    ['a link to a folder', () => symlinkSync('/etc', join(folder(), 'app', 'x'))],
    ['a dangling link', () => symlinkSync('nowhere', join(folder(), 'app', 'x'))],
    ['a pipe', () => execFileSync('mkfifo', [join(folder(), 'app', 'x')])],
  ];
  for (const [name, make] of links)
    it(`[APPS-02] refuses a folder with ${name}`, async () => {
      write(appFiles());
      make();
      await assert.rejects(apps().stage(source()), { code: 'unsafe-path' });
      assert.deepEqual(apps().records.stages(), []);
    });

  it('[APPS-02] refuses names that are the same elsewhere, and leaves out .git and node_modules', async () => {
    write(appFiles({}, { '.git/config': 'x', 'node_modules/x/index.js': 'x' }));
    assert.equal((await apps().stage(source())).files, 2);
    write({ 'A.js': '1', 'a.js': '2' });
    await assert.rejects(apps().stage(source()), { code: 'unsafe-path' });
  });

  it('[APPS-08] says in words that the folder is missing or a link', async () => {
    await assert.rejects(apps().stage(source()), { code: 'not-found' });
    write(appFiles());
    symlinkSync(join(folder(), 'app'), join(folder(), 'link'));
    await assert.rejects(apps().stage({ kind: 'folder', path: join(folder(), 'link') }), {
      code: 'unsafe-path',
    });
    await assert.rejects(apps().stage({ kind: 'folder', path: 'app' }), { code: 'bad-message' });
  });
});
