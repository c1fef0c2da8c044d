import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnvironment } from '../../../language-server/src/apps/environment.ts';
import { createTakeRepository } from '../../../language-server/src/apps/sources/takeRepository.ts';
import { FrozenTree } from '../../../language-server/src/apps/tree/frozenTree.ts';
import { createBlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { appFiles } from '../../support/appFolder.ts';
import { makeRawRepository, makeRepository } from '../../support/gitServer.ts';
import { makeKey } from '../../support/sshHost.ts';
import { openSshRepositories, type SshRepositories } from '../../support/sshRepositories.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const app = Object.entries(appFiles()).map(([path, content]) => ({ path, content }));

/** Against a real sshd with git-shell(1), an agent of its own, and OpenSSH's client. */
describe('repositories over ssh', () => {
  const folder = useTemporaryFolder();
  let server: SshRepositories;
  const start = async (command?: string): Promise<void> => {
    server = await openSshRepositories({ folder: folder(), ...(command === undefined ? {} : { command }) });
    mkdirSync(join(folder(), 'scratch'), { recursive: true });
  };
  afterEach(() => server.close());

  const take = async (url: string, signal = new AbortController().signal) => {
    const blobs = createBlobStore(join(folder(), 'blobs'));
    const taken = await createTakeRepository({
      blobs,
      scratch: join(folder(), 'scratch'),
      environment: (protocol) => gitEnvironment(protocol, server.environment),
      sealedFetch: () => assert.fail('no sandbox gets the agent'),
    })({ kind: 'git', url }, { onProgress: () => undefined, signal });
    return { ...taken, tree: new FrozenTree(blobs, taken.code) };
  };
  /** The same repository by the plain client, which takes a host that is new and forwards the agent. */
  const plainly = (args: readonly string[]) =>
    run('git', [...args], { env: { ...server.environment, HOME: folder(), GIT_TERMINAL_PROMPT: '0' } });
  const assertNothingLeft = () => assert.deepEqual(readdirSync(join(folder(), 'scratch')), []);

  it('[APPS-16] takes one commit, let in by a key of the agent', async () => {
    await start();
    const commit = makeRepository(folder(), 'app', app);
    const taken = await take(`${server.base}/app`);
    assert.equal(taken.commit, commit);
    assert.ok(taken.tree.has('app.json'));
    assertNothingLeft();
    assert.deepEqual(server.clients(), []);
  });

  it('[APPS-16] shows the agent to no server, whatever the person’s configuration says', async () => {
    await start();
    makeRepository(folder(), 'app', app);
    await take(`${server.base}/app`);
    assert.match(server.sessionEnvironment(), /^SSH_CONNECTION=/m);
    assert.doesNotMatch(server.sessionEnvironment(), /SSH_AUTH_SOCK|DISPLAY/);
    await plainly(['ls-remote', `${server.base}/app`]);
    assert.match(server.sessionEnvironment(), /^SSH_AUTH_SOCK=/m, 'control: else it is forwarded');
  });

  it('[APPS-16] asks no server whose key is not known, and learns none', async () => {
    await start();
    makeRepository(folder(), 'app', app);
    server.know('');
    await assert.rejects(take(`${server.base}/app`), {
      code: 'unreachable',
      message: /its host key is not known\. Connect to it once with ssh yourself/,
    });
    assert.equal(server.sessionEnvironment(), '');
    await plainly(['ls-remote', `${server.base}/app`]);
    assert.notEqual(server.sessionEnvironment(), '', 'control: else it is taken');
  });

  it('[APPS-16] asks no server whose key is another one', async () => {
    await start();
    makeRepository(folder(), 'app', app);
    const other = await makeKey(join(folder(), 'other_ed25519'), 'ed25519');
    const { stdout } = await run('ssh-keygen', ['-y', '-f', other]);
    server.know(`[127.0.0.1]:${server.host.port} ${stdout}`);
    await assert.rejects(take(`${server.base}/app`), { code: 'unreachable', message: /host key/ });
    assert.equal(server.sessionEnvironment(), '');
    assertNothingLeft();
  });

  it('[APPS-16] runs nothing of a repository: no hook, filter, submodule or link', async () => {
    await start();
    const mark = join(folder(), 'ran');
    makeRepository(folder(), 'app', [
      ...app,
      { path: '.gitattributes', content: '* filter=evil text eol=crlf\n' },
      {
        path: '.gitmodules',
        content: `[submodule "s"]\n path = s\n url = ext::sh -c touch% ${mark}\n`,
      },
      { path: 's', content: '1'.repeat(40), mode: '160000' },
      { path: 'link', content: '/etc/passwd', mode: '120000' },
      { path: 'text.txt', content: 'a\n' },
    ]);
    const repository = join(folder(), 'repositories/app');
    for (const hook of ['post-checkout', 'post-merge', 'reference-transaction', 'pre-auto-gc']) {
      mkdirSync(join(repository, 'hooks'), { recursive: true });
      writeFileSync(join(repository, 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`);
      chmodSync(join(repository, 'hooks', hook), 0o755);
    }
    const { tree } = await take(`${server.base}/app`);
    assert.equal(existsSync(mark), false);
    assert.equal(tree.has('s'), false);
    assert.equal(tree.read('link').toString(), '/etc/passwd');
    assert.equal(tree.read('text.txt').toString(), 'a\n');
  });

  it('[APPS-16] refuses a tree that would write beside its folder', async () => {
    await start();
    makeRawRepository(folder(), 'app', [{ name: '..', mode: '100644', content: 'x' }]);
    await assert.rejects(take(`${server.base}/app`), (error: { code?: string }) =>
      ['unsafe-path', 'unreachable'].includes(error.code ?? ''),
    );
    assertNothingLeft();
  });

  it('[APPS-16] gives a path to the server as one word, also where a shell reads it', async () => {
    await start('exec sh -c "$SSH_ORIGINAL_COMMAND"');
    const mark = join(folder(), 'ran');
    for (const path of [`/x';touch ${mark};'`, `/$(touch ${mark})`, `/;touch\${IFS}${mark}`])
      await assert.rejects(take(`ssh://127.0.0.1:${server.host.port}${encodeURI(path)}`));
    assert.match(server.sessionEnvironment(), /git-upload-pack/, 'it was asked');
    assert.equal(existsSync(mark), false);
  });

  it('[APPS-16] says what is wrong where the agent has no key for it', async () => {
    await start();
    makeRepository(folder(), 'app', app);
    await run('ssh-add', ['-q', '-D'], { env: { ...process.env, ...server.environment } });
    await assert.rejects(take(`${server.base}/app`), {
      code: 'unreachable',
      message: /not public, or not there/,
    });
  });

  it('[APPS-16] leaves no process behind where a person stops it while the server says nothing', async () => {
    const sleeper = join(folder(), 'sleeper');
    await start(`echo $$ > ${sleeper}; exec sleep 600`);
    const stop = new AbortController();
    const taken = take(`${server.base}/app`, stop.signal);
    await until(() => server.sessionEnvironment() !== '');
    assert.equal(server.clients().length, 1);
    stop.abort();
    await assert.rejects(taken);
    await until(() => server.clients().length === 0);
    assertNothingLeft();
    process.kill(Number(readFileSync(sleeper, 'utf8')));
  });
});
