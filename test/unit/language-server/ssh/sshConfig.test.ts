import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assertDestination,
  resolveRoute,
  type SshRoute,
} from '../../../../language-server/src/runners/ssh/sshConfig.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('the SSH configuration', () => {
  const folder = useTemporaryFolder();
  const asked: string[][] = [];

  const resolve = (name: string, config: string): Promise<SshRoute> => {
    const file = join(folder(), 'config');
    writeFileSync(file, config);
    return resolveRoute(name, {
      home: '/home/who',
      agent: '/run/agent',
      runSsh: async (words) => {
        asked.push([...words]);
        return execFileSync('ssh', ['-F', file, ...words], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        });
      },
    });
  };
  beforeEach(() => void asked.splice(0));

  it('is read by ssh itself, with what it includes and expands [SSH-06]', async () => {
    writeFileSync(join(folder(), 'more'), 'Host lab\n  HostName %h.example.org\n  Port 2200\n  User who\n');
    const [target, ...more] = await resolve(
      'lab',
      `Include ${join(folder(), 'more')}\nHost *\n  IdentityFile ~/.ssh/one\n`,
    );
    assert.deepEqual(more, []);
    assert.equal(target?.host, 'lab.example.org');
    assert.equal(target.port, 2200);
    assert.equal(target.user, 'who');
    assert.equal(target.agent, '/run/agent');
    assert.ok(target.identityFiles.some((file) => file.endsWith('/.ssh/one')));
  });

  it('gives the way through other hosts, theirs included [SSH-06]', async () => {
    const config = [
      'Host lab\n  ProxyJump two\n',
      'Host two\n  HostName two.test\n  ProxyJump who@one:2022\n',
      'Host one\n  HostName one.test\n',
    ].join('');
    const route = await resolve('lab', config);
    assert.deepEqual(
      route.map(({ host, port }) => `${host}:${port}`),
      ['one.test:2022', 'two.test:22', 'lab:22'],
    );
    assert.equal(route[0]?.user, 'who');
  });

  it('ends where hosts lead through each other for ever [SSH-06]', async () => {
    await assert.rejects(resolve('one', 'Host one\n  ProxyJump two\nHost two\n  ProxyJump one\n'), {
      code: 'incompatible',
    });
  });

  it('says that a ProxyCommand is not supported [SSH-06]', async () => {
    await assert.rejects(resolve('lab', 'Host lab\n  ProxyCommand nc %h %p\n'), {
      code: 'incompatible',
      message: /ProxyCommand/,
    });
  });

  it('says what ssh says of a configuration that it can’t read [SSH-06]', async () => {
    await assert.rejects(resolve('lab', 'Host lab\n  NoSuchOption yes\n'), {
      code: 'incompatible',
      message: /nosuchoption/i,
    });
  });

  for (const name of [
    '-oProxyCommand=touch /tmp/x',
    '-F/tmp/evil',
    '--',
    '',
    'a b',
    'a;id',
    '$(id)',
    'who@-oProxyCommand=x',
    '-who@host',
    'host\n-oProxyCommand=x',
    'ssh://host',
    'who@@host',
    'a'.repeat(300),
  ]) {
    it(`refuses the name ${JSON.stringify(name.slice(0, 40))}, and starts no ssh for it [K18]`, async () => {
      await assert.rejects(resolve(name, ''), { code: 'bad-project' });
      assert.deepEqual(asked, []);
    });
  }

  it('refuses such a name among the hosts on the way [K18]', async () => {
    await assert.rejects(
      resolve('lab', 'Host lab\n  ProxyJump "-oProxyCommand=x"\n'),
      (error: Error & { code?: string }) => {
        assert.ok(error.code === 'bad-project' || error.code === 'incompatible', error.message);
        return true;
      },
    );
    for (const words of asked) assert.ok(words.indexOf('--') === words.length - 2);
  });

  it('control: ssh takes such a name for an option where nothing keeps it from it [K18]', () => {
    const file = join(folder(), 'config');
    writeFileSync(file, '');
    const said = execFileSync('ssh', ['-F', file, '-G', '-oProxyCommand=touch-x', 'host'], {
      encoding: 'utf8',
    });
    assert.match(said, /^proxycommand touch-x$/m);
  });

  it('takes the names that people give hosts [SSH-06]', () => {
    for (const name of ['lab', 'who@lab', 'a.b-c_d', 'node01', '10.0.0.1', 'w.h-o@x.y'])
      assertDestination(name);
  });
});
