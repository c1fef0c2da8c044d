import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { judgeListing } from '../../../language-server/src/apps/sources/fetchRepository.ts';
import { gitAddressFault } from '../../../language-server/src/apps/sources/gitAddress.ts';
import { createTakeRepository } from '../../../language-server/src/apps/sources/takeRepository.ts';
import { FrozenTree } from '../../../language-server/src/apps/tree/frozenTree.ts';
import { createBlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { appFiles } from '../../support/appFolder.ts';
import {
  makeRawRepository,
  makeRepository,
  openGitServer,
  type GitServer,
  type RepositoryEntry,
} from '../../support/gitServer.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

const entries = (more: readonly RepositoryEntry[] = []): RepositoryEntry[] => [
  ...Object.entries(appFiles()).map(([path, content]) => ({ path, content })),
  ...more,
];

describe('hostile repositories', () => {
  const folder = useTemporaryFolder();
  let server: GitServer;
  beforeEach(async () => {
    server = await openGitServer(folder());
    mkdirSync(join(folder(), 'scratch'));
  });
  afterEach(() => server.close());

  const take = async (url: string, ref?: string, environment: Record<string, string> = {}) => {
    const blobs = createBlobStore(join(folder(), 'blobs'));
    const taken = await createTakeRepository({
      blobs,
      scratch: join(folder(), 'scratch'),
      environment: () => ({ PATH: process.env['PATH'] ?? '', ...server.environment, ...environment }),
    })(
      { kind: 'git', url, ...(ref !== undefined && { ref }) },
      { onProgress: () => undefined, signal: new AbortController().signal },
    );
    return { ...taken, tree: new FrozenTree(blobs, taken.code) };
  };
  const assertNothingLeft = () => assert.deepEqual(readdirSync(join(folder(), 'scratch')), []);

  it('[APPS-02] takes the bytes of one commit as they are in git: no link, filter, line ending, submodule or hook', async () => {
    const text = 'a\nb $Id$\n';
    const commit = makeRepository(
      folder(),
      'app',
      entries([
        { path: '.gitattributes', content: '* text eol=crlf ident filter=lfs\n' },
        { path: '.gitmodules', content: '[submodule "s"]\n path = s\n url = https://127.0.0.1/evil\n' },
        { path: 'passwd', content: '/etc/passwd', mode: '120000' },
        { path: 's', content: '1'.repeat(40), mode: '160000' },
        { path: 'text.txt', content: text },
        { path: 'run.sh', content: '#!/bin/sh\n', mode: '100755' },
      ]),
    );
    const taken = await take(`${server.base}/app`);
    assert.equal(taken.commit, commit);
    assert.equal(taken.tree.read('text.txt').toString(), text);
    assert.equal(taken.tree.read('passwd').toString(), '/etc/passwd', 'a link is a plain file');
    assert.equal(taken.tree.has('s'), false);
    assert.ok([...taken.tree.files.values()].every(({ executable }) => !executable));
    assertNothingLeft();
    assert.deepEqual((await take(`${server.base}/app`, commit)).code, taken.code, 'by commit');
    assert.deepEqual((await take(`${server.base}/app`, 'main')).code, taken.code, 'by branch');
  });

  it('[APPS-02] control: a plain clone does follow what is left out here', async () => {
    makeRepository(
      folder(),
      'app',
      entries([
        { path: '.gitattributes', content: '*.txt text eol=crlf\n' },
        { path: 'passwd', content: '/etc/passwd', mode: '120000' },
        { path: 'text.txt', content: 'a\n' },
      ]),
    );
    const target = join(folder(), 'clone');
    await promisify(execFile)('git', ['clone', '--quiet', `${server.base}/app`, target], {
      env: { PATH: process.env['PATH'], HOME: folder(), ...server.environment },
    });
    assert.equal(lstatSync(join(target, 'passwd')).isSymbolicLink(), true);
    assert.equal(readFileSync(join(target, 'text.txt'), 'utf8'), 'a\r\n');
  });

  const raw: readonly (readonly [string, string, string])[] = [
    ['a path upwards', '..', '100644'],
    ['a .git folder', '.git', '100644'],
    ['a path with a slash', 'a/../../x', '100644'],
    ['a reserved name', 'con', '100644'],
    ['a backslash', 'a\\..\\x', '100644'],
    ['a hidden character', 'a\u202Ex', '100644'],
  ];
  for (const [name, path, mode] of raw)
    it(`[APPS-02] refuses a repository with ${name}`, async () => {
      makeRawRepository(folder(), 'app', [{ name: path, mode, content: 'x' }]);
      await assert.rejects(take(`${server.base}/app`), (error: { code?: string }) =>
        ['unsafe-path', 'unreachable'].includes(error.code ?? ''),
      );
      assertNothingLeft();
    });

  it('[APPS-02] refuses a listing with other kinds and too large ones', () => {
    const id = 'a'.repeat(40);
    for (const [line, code] of [
      [`100644 blob ${id} 999999999999\tx`, 'too-large'],
      [`060000 blob ${id} 1\tx`, 'unsafe-path'],
      [`100644 blob ${id} 1\t/x`, 'unsafe-path'],
      [`100644 blob ${id} 1\tx\x00100644 blob ${id} 1\tX`, 'unsafe-path'],
      [`100644 blob ${id} 1\tx\uFFFD`, 'unsafe-path'],
    ] as const)
      assert.throws(() => judgeListing(`${line}\0`), { code });
    assert.throws(() => judgeListing('nonsense\0'));
    assert.deepEqual(judgeListing(`160000 commit ${id} -\ts\0`), []);
  });

  it('[APPS-02] nothing of the person’s own git is used: no configuration, helper or hook', async () => {
    const commit = makeRepository(folder(), 'app', entries());
    const home = join(folder(), 'person');
    mkdirSync(home);
    const mark = join(folder(), 'ran');
    execFileSync('git', ['config', '--file', join(home, '.gitconfig'), 'core.fsmonitor', `touch ${mark}`]);
    execFileSync('git', [
      'config',
      '--file',
      join(home, '.gitconfig'),
      `url.https://127.0.0.1:1/.insteadOf`,
      `${server.base}/`,
    ]);
    const taken = await take(`${server.base}/app`, undefined, { HOME: home, XDG_CONFIG_HOME: home });
    assert.equal(taken.commit, commit);
    assert.equal(existsSync(mark), false);
  });

  const addresses: readonly string[] = [
    'file:///etc',
    '/etc',
    '.',
    'git://127.0.0.1/x',
    'http://127.0.0.1/x',
    'ftp://127.0.0.1/x',
    'ext::sh -c touch% /tmp/evil',
    'fd::3',
    'https://user@127.0.0.1/x',
    'https://user:secret@127.0.0.1/x',
    'ssh://user:secret@127.0.0.1/x',
    'ssh://-oProxyCommand=touch/x',
    'ssh://host/-oProxyCommand=touch',
    'ssh://-x@host/x;touch',
    'https://127.0.0.1/x?a=b',
    'https://127.0.0.1/x#b',
    'https://127.0.0.1',
    'https://127.0.0.1/\nx',
    '--upload-pack=touch',
  ];
  for (const url of addresses)
    it(`[APPS-02] refuses the address ${JSON.stringify(url)}`, async () => {
      await assert.rejects(take(url), { code: 'bad-message' });
      assert.deepEqual(server.seen, []);
    });

  it('[APPS-02] refuses references that are options, ranges or expressions', () => {
    const url = 'https://host.example/app';
    for (const ref of [
      '--upload-pack=x',
      '-x',
      'a..b',
      'a:b',
      'a b',
      'HEAD^',
      '@{1}',
      'a.lock',
      'x/',
      '',
      '*',
    ])
      assert.notEqual(gitAddressFault(url, ref), undefined, ref);
    for (const ref of ['main', 'v1.2.3', 'feature/x-y', 'a'.repeat(40), '1.0+b'])
      assert.equal(gitAddressFault(url, ref), undefined, ref);
  });

  const failures: readonly (readonly [string, GitServer['intercept'], RegExp])[] = [
    [
      'a redirect',
      (_, response) => !!response.writeHead(302, { location: 'https://127.0.0.1:1/x' }).end(),
      /moved/,
    ],
    [
      'a sign-in',
      (_, response) => !!response.writeHead(401, { 'www-authenticate': 'Basic' }).end(),
      /not public/,
    ],
    ['a missing repository', (_, response) => !!response.writeHead(404).end(), /no such repository/],
    [
      'a cut download',
      (request, response) => {
        if (request.method !== 'POST') return false;
        response.writeHead(200, {
          'content-type': 'application/x-git-upload-pack-result',
          'content-length': '1000',
        });
        response.write('0');
        setImmediate(() => response.destroy());
        return true;
      },
      /cut off/,
    ],
  ];
  for (const [name, intercept, why] of failures)
    it(`[APPS-08] says in words what ${name} means`, async () => {
      makeRepository(folder(), 'app', entries());
      server.intercept = intercept;
      await assert.rejects(take(`${server.base}/app`), { code: 'unreachable', message: why });
      assertNothingLeft();
    });

  it('[APPS-08] says that there is no such branch, no server and no trust', async () => {
    makeRepository(folder(), 'app', entries());
    await assert.rejects(take(`${server.base}/app`, 'nope'), { message: /no such branch/ });
    await assert.rejects(take('https://127.0.0.1:1/app'), { message: /does not answer/ });
    await assert.rejects(take(`${server.base}/app`, undefined, { GIT_SSL_CAINFO: '/dev/null' }), {
      message: /certificate/,
    });
  });
});
