import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseInvitation } from '../../../../remote-agent/src/worker/invitation.ts';
import { runnerProgram } from '../../../support/runnerClient.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('the commands of who keeps a worker', () => {
  const folder = useTemporaryFolder();

  /** Runs one to its end. */
  async function keep(...words: readonly string[]) {
    const child = spawn(process.execPath, [runnerProgram(), 'worker', ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: folder(),
      env: { PATH: process.env['PATH'], HOME: folder() },
    });
    let [out, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const [code] = (await once(child, 'close')) as [number];
    return { code, out, errors };
  }

  it('invite, list and name the identity without a worker that runs, in the home folder by default', async () => {
    const { code, out, errors } = await keep('invite', '--address', '[2001:db8::1]:7400');
    assert.equal(code, 0, errors);
    const invitation = parseInvitation(out);
    assert.deepEqual([invitation?.host, invitation?.port], ['2001:db8::1', 7400]);
    assert.match(errors, /Good once, for an hour/);
    assert.equal((await keep('identity')).out.trim(), invitation?.fingerprint);
    assert.match((await keep('list')).errors, /Nobody is enrolled/);
    // Without an address it says which one it took.
    assert.match((await keep('invite')).errors, /must reach this host as .*:7337; if not, say --address/);
  });

  const refusals: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['no address', ['serve', '--listen', 'nonsense'], /“nonsense” is not HOST:PORT, such as/],
    ['a port that is none', ['serve', '--listen', '127.0.0.1:99999'], /is not HOST:PORT/],
    ['an address of another machine', ['serve', '--listen', '203.0.113.9:0'], /no address of this machine/],
    ['an invitation without a port', ['invite', '--address', 'lab.example.org:0'], /needs the port/],
    ['nobody to remove', ['remove'], /Which one\?/],
    ['somebody who is not there', ['remove', 'SHA256:x'], /No identity SHA256:x is in the list/],
    ['a word that is none', ['frobnicate'], /how it is used:\nsallyport worker serve/],
    ['a home too deep for sockets', ['serve', '--home', 'deep/'.repeat(30)], /too long a path for a socket/],
  ];
  it('say in words what is wrong', async () => {
    await Promise.all(
      refusals.map(async ([title, words, expected], index) => {
        const home = words.includes('--home') ? [] : ['--home', String(index)];
        const { code, errors } = await keep(...words, ...home);
        assert.equal(code, 1, title);
        assert.match(errors, expected, title);
      }),
    );
  });

  it('say who listens at the port, and that a folder is kept already', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const taken = await keep('serve', '--listen', `127.0.0.1:${port}`);
      assert.match(
        taken.errors,
        new RegExp(`another program listens at port ${port}; choose one with --listen`),
      );
    } finally {
      server.close();
    }
    const words = [
      runnerProgram(),
      'worker',
      'serve',
      '--listen',
      '127.0.0.1:0',
      '--home',
      join(folder(), 'w'),
    ];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      const second = await keep('serve', '--listen', '127.0.0.1:0', '--home', 'w');
      assert.match(second.errors, /A worker is kept in .*w already; --home DIR/);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });
});
