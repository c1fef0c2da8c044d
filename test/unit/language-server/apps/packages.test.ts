import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readPackages, type LockedPackage } from '../../../../language-server/src/apps/packages/lockFile.ts';
import { createPackageCache } from '../../../../language-server/src/apps/packages/packageCache.ts';
import { createRegistry } from '../../../../language-server/src/apps/packages/registry.ts';
import { readTar } from '../../../../language-server/src/apps/packages/tarFiles.ts';
import { openLoopback } from '../../../support/loopbackServer.ts';
import { tarOf, type TarEntry } from '../../../support/tar.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const sha512 = (bytes: Uint8Array) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
const sound = sha512(Buffer.from('x'));
const entry = (more: Record<string, unknown> = {}) => ({
  version: '1.0.0',
  resolved: 'https://registry.example/a/-/a-1.0.0.tgz',
  integrity: sound,
  ...more,
});
const lock = (packages: Record<string, unknown>, version = 3) =>
  JSON.stringify({ lockfileVersion: version, packages: { '': {}, ...packages } });
const needs = (dependencies: Record<string, string> = { a: '^1.0.0' }) => JSON.stringify({ dependencies });

describe('the lock file of an app', () => {
  it('[APPS-12] names each package of a registry with its digest; development is left out', () => {
    const packages = readPackages(
      JSON.stringify({
        dependencies: { a: '^1.0.0' },
        devDependencies: { d: '1' },
        scripts: { postinstall: 'evil' },
      }),
      lock({
        'node_modules/a': entry(),
        'node_modules/@s/b': entry({ resolved: 'https://registry.example/@s/b/-/b-1.0.0.tgz' }),
        'node_modules/a/node_modules/c': entry({ resolved: 'https://registry.example/c/-/c-1.0.0.tgz' }),
        'node_modules/d': entry({ dev: true, resolved: 'git+ssh://x' }),
        'node_modules/n': entry({
          optional: true,
          os: ['darwin'],
          resolved: 'https://registry.example/n/-/n-1.0.0.tgz',
        }),
      }),
    );
    assert.deepEqual(
      packages.map(({ name, place }) => `${name} ${place}`),
      ['@s/b node_modules/@s/b', 'a node_modules/a', 'c node_modules/a/node_modules/c'],
    );
    assert.deepEqual(readPackages(null, null), []);
    assert.deepEqual(readPackages('{}', null), []);
    assert.deepEqual(readPackages('{"devDependencies":{"d":"1"}}', null), []);
  });

  const bad: readonly (readonly [string, string, string | null])[] = [
    ['a git dependency', needs({ a: 'git+https://host.example/a.git' }), lock({ 'node_modules/a': entry() })],
    ['a short git dependency', needs({ a: 'someone/a' }), lock({ 'node_modules/a': entry() })],
    ['a web address', needs({ a: 'https://host.example/a.tgz' }), lock({ 'node_modules/a': entry() })],
    ['a folder', needs({ a: 'file:../a' }), lock({ 'node_modules/a': entry() })],
    ['a link', needs({ a: 'link:../a' }), lock({ 'node_modules/a': entry() })],
    ['workspaces', '{"workspaces":["x"],"dependencies":{"a":"1"}}', lock({ 'node_modules/a': entry() })],
    ['no lock file', needs(), null],
    ['an old lock file', needs(), lock({ 'node_modules/a': entry() }, 1)],
    ['a lock file without it', needs(), lock({})],
    ['a linked package', needs(), lock({ 'node_modules/a': entry({ link: true }) })],
    ['a place upwards', needs(), lock({ 'node_modules/a': entry(), 'node_modules/../x': entry() })],
    ['a place elsewhere', needs(), lock({ 'node_modules/a': entry(), 'packages/x': entry() })],
    ['a bundled package', needs(), lock({ 'node_modules/a': entry({ inBundle: true }) })],
    ['no digest', needs(), lock({ 'node_modules/a': entry({ integrity: undefined }) })],
    [
      'a weak digest',
      needs(),
      lock({ 'node_modules/a': entry({ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }) }),
    ],
    ['two digests', needs(), lock({ 'node_modules/a': entry({ integrity: `${sound} ${sound}` }) })],
    [
      'a git place',
      needs(),
      lock({ 'node_modules/a': entry({ resolved: 'git+ssh://git@host.example/a.git#1' }) }),
    ],
    [
      'the archive of another package',
      needs(),
      lock({ 'node_modules/a': entry({ resolved: 'https://registry.example/b/-/b-1.0.0.tgz' }) }),
    ],
    [
      'a password',
      needs(),
      lock({ 'node_modules/a': entry({ resolved: 'https://u:p@registry.example/a/-/a-1.0.0.tgz' }) }),
    ],
    ['a bad version', needs(), lock({ 'node_modules/a': entry({ version: '1/../..' }) })],
    ['a bad name', needs(), lock({ 'node_modules/a': entry({ name: '../a' }) })],
    [
      'one package with two digests',
      needs(),
      lock({
        'node_modules/a': entry(),
        'node_modules/b/node_modules/a': entry({ integrity: sha512(Buffer.from('y')) }),
      }),
    ],
    [
      'too many packages',
      needs(),
      lock(
        Object.fromEntries(
          Array.from({ length: 600 }, (_, at) => [
            `node_modules/p${at}`,
            entry({ resolved: `https://registry.example/p${at}/-/p${at}-1.0.0.tgz` }),
          ]),
        ),
      ),
    ],
    ['no JSON', '{', null],
    ['another form', '{"dependencies":[]}', null],
  ];
  for (const [name, packageText, lockText] of bad)
    it(`[APPS-12] refuses ${name}`, () =>
      assert.throws(() => readPackages(packageText, lockText), { code: 'bad-app' }));
});

describe('archives of packages', () => {
  const read = (entries: readonly TarEntry[]) => [...readTar(tarOf(entries), 'a 1.0.0').keys()];

  it('[APPS-12] gives the regular files below their first folder', () => {
    const long = `package/${'d'.repeat(60)}/${'f'.repeat(80)}.js`;
    assert.deepEqual(
      read([
        { path: 'package/package.json', content: '{}' },
        { path: 'package/', type: '5' },
        { path: 'other/x.js' },
        { path: long },
      ]),
      ['package.json', 'x.js', long.slice('package/'.length)],
    );
  });

  const attacks: readonly (readonly [string, readonly TarEntry[]])[] = [
    ['a path upwards', [{ path: 'package/../../evil' }]],
    ['an absolute path', [{ path: '/evil' }]],
    ['a drive', [{ path: 'package/C:evil' }]],
    ['a symbolic link', [{ path: 'package/l', type: '2', link: '/etc' }]],
    ['a hard link', [{ path: 'package/l', type: '1', link: 'package/x' }]],
    ['a drive-relative link', [{ path: 'package/l', type: '2', link: 'C:../x' }]],
    ['a device', [{ path: 'package/d', type: '3' }]],
    ['a pipe', [{ path: 'package/p', type: '6' }]],
    ['a name twice', [{ path: 'package/x' }, { path: 'other/x' }]],
    ['names that differ in case', [{ path: 'package/x' }, { path: 'package/X' }]],
    [
      'a pax path upwards',
      [{ path: 'PaxHeader', type: 'x', content: '23 path=package/../../x\n' }, { path: 'package/x' }],
    ],
    ['a pax link', [{ path: 'PaxHeader', type: 'x', content: '17 linkpath=/etc\n' }, { path: 'package/x' }]],
    ['a pax size', [{ path: 'PaxHeader', type: 'x', content: '10 size=1\n' }, { path: 'package/x' }]],
    [
      'a GNU name upwards',
      [{ path: '././@LongLink', type: 'L', content: 'package/../../x\0' }, { path: 'package/x' }],
    ],
    ['a file outside of the folder', [{ path: 'x' }]],
    ['a wrong checksum', [{ path: 'package/x', checksum: 1 }]],
    ['a size beyond the end', [{ path: 'package/x', size: 100_000 }]],
    ['a negative size', [{ path: 'package/x', sizeText: '-0000000001' }]],
  ];
  for (const [name, entries] of attacks)
    it(`[APPS-12] refuses ${name}`, () => assert.throws(() => read(entries), /./));

  it('[APPS-12] refuses an archive that is cut off', () => {
    const whole = tarOf([{ path: 'package/x', content: 'x'.repeat(2000) }]);
    for (const length of [10, 600, 1500])
      assert.throws(() => readTar(whole.subarray(0, length), 'a'), /cut off/);
  });
});

describe('packages from a registry', () => {
  const folder = useTemporaryFolder();
  const archive = gzipSync(tarOf([{ path: 'package/index.js', content: 'export default 1' }]));
  const wanted: LockedPackage = {
    name: '@s/a',
    version: '1.0.0',
    integrity: sha512(archive),
    place: 'node_modules/@s/a',
  };
  const never = new AbortController().signal;
  const fetchFrom = (base: string, packages: readonly LockedPackage[] = [wanted]) =>
    createRegistry({
      registry: () => `${base}/`,
      cache: createPackageCache(join(folder(), 'packages')),
      fetch: globalThis.fetch,
    })(packages, () => undefined, never);

  it('[APPS-12] checks the digest of what comes, and fetches nothing twice', async () => {
    const server = await openLoopback((_, response) => response.end(archive));
    try {
      const files = await fetchFrom(server.base);
      assert.equal(Buffer.from(files.read('node_modules/@s/a/index.js')).toString(), 'export default 1');
      assert.throws(() => files.read('node_modules/b/index.js'), { code: 'not-found' });
      assert.equal(server.seen[0]?.url, '/@s/a/-/a-1.0.0.tgz');
      assert.equal(server.seen[0].headers.authorization, undefined);
      await fetchFrom(server.base);
      assert.equal(server.seen.length, 1, 'kept');
      const [name = ''] = readdirSync(join(folder(), 'packages'));
      writeFileSync(join(folder(), 'packages', name), 'evil');
      await fetchFrom(server.base);
      assert.equal(server.seen.length, 2, 'a changed copy is not used');
    } finally {
      await server.close();
    }
  });

  const answers: readonly (readonly [string, Parameters<typeof openLoopback>[0], string])[] = [
    [
      'other bytes',
      (_, response) => response.end(gzipSync(tarOf([{ path: 'package/index.js', content: 'evil' }]))),
      'conflict',
    ],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'unreachable',
    ],
    ['an error', (_, response) => response.writeHead(500).end(), 'unreachable'],
    [
      'a cut download',
      (_, response) => {
        response.writeHead(200, { 'content-length': String(archive.length + 10) });
        response.write(archive);
        setImmediate(() => response.destroy());
      },
      'unreachable',
    ],
  ];
  for (const [name, answer, code] of answers)
    it(`[APPS-12] refuses ${name}, and keeps nothing`, async () => {
      const server = await openLoopback(answer);
      try {
        await assert.rejects(fetchFrom(server.base), { code });
        assert.throws(() => readdirSync(join(folder(), 'packages')), { code: 'ENOENT' });
      } finally {
        await server.close();
      }
    });

  it('[APPS-12] asks no registry in the clear but one of this machine', async () => {
    for (const base of [
      'http://registry.example',
      'ftp://registry.example',
      'https://u:p@registry.example',
      'x',
      '',
    ])
      await assert.rejects(fetchFrom(base), { code: 'unreachable', message: /packageRegistry/ });
  });

  it('[APPS-12] refuses a bomb and what is not packed', async () => {
    for (const bytes of [gzipSync(Buffer.alloc(200 * 1024 * 1024)), Buffer.from('x')]) {
      const server = await openLoopback((_, response) => response.end(bytes));
      try {
        await assert.rejects(fetchFrom(server.base, [{ ...wanted, integrity: sha512(bytes) }]), {
          code: 'unreadable',
        });
      } finally {
        await server.close();
      }
    }
  });
});
