import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { UserError } from '../../../../protocol/src/errors.ts';
import { makeKey, removeHost, SshHost, type SshHostOptions } from '../../../support/sshHost.ts';
import { FakePerson, hasSshd, sshParts, type SshParts } from '../../../support/sshPlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;
/** What sshd logs when somebody tries to sign in. */
const signInLine = /Accepted|Failed|Postponed|Invalid user|authenticating user/;

describe('the key of a host', () => {
  const folder = useTemporaryFolder();
  const hosts: SshHost[] = [];

  before(function () {
    if (hasSshd) return;
    console.log('No sshd here: install openssh-server to run these.');
    this.skip();
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await removeHost(host);
  });

  const start = async (more: Partial<SshHostOptions> = {}): Promise<SshHost> => {
    const host = new SshHost({ folder: join(folder(), `host${hosts.length}`), ...more });
    hosts.push(host);
    await host.start();
    return host;
  };
  const connect = async (parts: SshParts, mayAsk = true): Promise<string> => {
    const session = await parts.sessions.open('lab', { signal: never, mayAsk });
    const { stdout } = await session.connection.run('echo in');
    session.close();
    return stdout;
  };
  const refusal = async (work: Promise<unknown>): Promise<UserError> => {
    try {
      await work;
    } catch (error) {
      assert.ok(error instanceof UserError, String(error));
      return error;
    }
    return assert.fail('It connected');
  };
  const here = () => join(folder(), 'here');
  const printOf = (path: string) =>
    execFileSync('ssh-keygen', ['-l', '-f', `${path}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';

  it('is asked about at the first use, with the fingerprint that ssh-keygen shows, and kept in our own file [SSH-05]', async () => {
    const host = await start();
    const person = new FakePerson();
    const parts = sshParts({ folder: here(), config: host.configBlock('lab'), person });
    const refused = await refusal(connect(parts));
    assert.equal(refused.code, 'host-key');
    assert.doesNotMatch(host.said, signInLine);
    assert.deepEqual(person.confirmed, [
      {
        host: '127.0.0.1',
        port: host.port,
        via: [],
        keyType: 'ssh-ed25519',
        fingerprint: printOf(host.hostKey('ed25519')),
      },
    ]);
    person.accepts = true;
    assert.equal(await connect(parts), 'in\n');
    assert.equal(readFileSync(parts.ownKnownHosts, 'utf8'), host.knownLine());
    assert.equal(await connect(parts), 'in\n');
    assert.equal(person.confirmed.length, 2);
  });

  it('is not asked about where nobody may be: an unknown host is refused [SSH-05]', async () => {
    const host = await start();
    const person = new FakePerson();
    person.accepts = true;
    const parts = sshParts({ folder: here(), config: host.configBlock('lab'), person });
    assert.equal((await refusal(connect(parts, false))).code, 'host-key');
    assert.deepEqual(person.confirmed, []);
  });

  it('that changed is refused with both fingerprints, before anything is sent that could identify anyone [K02]', async () => {
    const host = await start();
    const person = new FakePerson();
    person.accepts = true;
    const parts = sshParts({
      folder: here(),
      config: host.configBlock('lab'),
      known: host.knownLine(),
      person,
    });
    assert.equal(await connect(parts), 'in\n');
    const before = printOf(host.hostKey('ed25519'));
    await host.stop();
    rmSync(host.hostKey('ed25519'));
    rmSync(`${host.hostKey('ed25519')}.pub`);
    await host.start();
    const error = await refusal(connect(parts));
    const after = printOf(host.hostKey('ed25519'));
    assert.notEqual(before, after);
    assert.equal(error.code, 'host-key');
    assert.ok(error.message.includes(before) && error.message.includes(after), error.message);
    assert.doesNotMatch(host.said, signInLine);
    assert.deepEqual(person.confirmed, []);
    assert.deepEqual(
      person.changed.map(({ fingerprint, known }) => [fingerprint, known.map((each) => each.fingerprint)]),
      [[after, [before]]],
    );
  });

  it('that is revoked is refused though a good line names it too [K03]', async () => {
    const host = await start();
    const line = host.knownLine();
    const known = `${line}@revoked * ${line.split(' ').slice(1).join(' ')}`;
    const parts = sshParts({ folder: here(), config: host.configBlock('lab'), known });
    const error = await refusal(connect(parts));
    assert.equal(error.code, 'host-key');
    assert.match(error.message, /revoked/);
    assert.doesNotMatch(host.said, signInLine);
    // Control: without that line it is let in.
    rmSync(here(), { recursive: true });
    assert.equal(
      await connect(sshParts({ folder: here(), config: host.configBlock('lab'), known: line })),
      'in\n',
    );
  });

  it('of which only the RSA one is known is asked for as that, and nobody is asked [K04]', async () => {
    const host = await start({ hostKeys: ['ed25519', 'ecdsa', 'rsa'] });
    const person = new FakePerson();
    const parts = sshParts({
      folder: here(),
      config: host.configBlock('lab'),
      known: host.knownLine('rsa'),
      person,
    });
    assert.equal(await connect(parts), 'in\n');
    assert.deepEqual(person.confirmed, []);
  });

  it('of a host on the way is judged before anything is sent to it or through it [K05]', async () => {
    const jump = await start();
    const target = await start();
    const other = await makeKey(join(folder(), 'other'), 'ed25519');
    const wrong = readFileSync(`${other}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
    const config = jump.configBlock('jump') + target.configBlock('lab', ['ProxyJump jump']);
    const known = `[127.0.0.1]:${jump.port} ${wrong}\n${target.knownLine()}`;
    const error = await refusal(connect(sshParts({ folder: here(), config, known })));
    assert.equal(error.code, 'host-key');
    assert.ok(error.message.includes(String(jump.port)));
    assert.doesNotMatch(jump.said, signInLine);
    assert.doesNotMatch(target.said, /Connection from/);
    // Control: with the right key of the host on the way it goes through.
    rmSync(here(), { recursive: true });
    const good = sshParts({ folder: here(), config, known: jump.knownLine() + target.knownLine() });
    assert.equal(await connect(good), 'in\n');
    assert.match(target.said, /Accepted publickey/);
  });

  it('of the host on the way is not taken for the target’s [K06]', async () => {
    const jump = await start();
    const target = await start();
    // The target's name leads back to the host on the way, which answers with its own key.
    const config =
      jump.configBlock('jump') +
      jump.configBlock('lab', ['ProxyJump jump', 'HostKeyAlias target']).replace('Host lab', 'Host lab');
    const known = jump.knownLine() + target.knownLine('ed25519', 'target');
    const error = await refusal(connect(sshParts({ folder: here(), config, known })));
    assert.equal(error.code, 'host-key');
    assert.match(error.message, /^target shows another key/);
    // Control: under the name of the target that key would do.
    rmSync(here(), { recursive: true });
    const taken = jump.knownLine() + jump.knownLine('ed25519', 'target');
    assert.equal(await connect(sshParts({ folder: here(), config, known: taken })), 'in\n');
  });

  it('that is only a certificate is said to be not supported, in words [K07]', async () => {
    const authority = await makeKey(join(folder(), 'authority'), 'ed25519');
    const host = new SshHost({
      folder: join(folder(), 'certified'),
      settings: [
        `HostCertificate ${join(folder(), 'certified/host_ed25519-cert.pub')}`,
        'HostKeyAlgorithms ssh-ed25519-cert-v01@openssh.com',
      ],
    });
    hosts.push(host);
    await makeKey(host.hostKey('ed25519'), 'ed25519');
    execFileSync('ssh-keygen', [
      '-q',
      '-s',
      authority,
      '-h',
      '-I',
      'host',
      '-n',
      '127.0.0.1',
      `${host.hostKey('ed25519')}.pub`,
    ]);
    await host.start();
    const [type = '', key = ''] = readFileSync(`${authority}.pub`, 'utf8').split(' ');
    const known = `@cert-authority * ${type} ${key}\n`;
    const error = await refusal(
      connect(sshParts({ folder: here(), config: host.configBlock('lab'), known })),
    );
    assert.equal(error.code, 'incompatible');
    assert.match(error.message, /host certificates only, which are not supported/);
    // Control: a host that shows its plain key too is judged by that one.
    const plain = await start();
    rmSync(here(), { recursive: true });
    const both = known + plain.knownLine();
    assert.equal(
      await connect(sshParts({ folder: here(), config: plain.configBlock('lab'), known: both })),
      'in\n',
    );
  });

  it('can’t be judged where known_hosts can’t be read: nothing is trusted [K17]', async () => {
    const host = await start();
    const person = new FakePerson();
    person.accepts = true;
    const parts = sshParts({ folder: here(), config: host.configBlock('lab'), person });
    mkdirSync(parts.knownHosts);
    const error = await refusal(connect(parts));
    assert.equal(error.code, 'unreadable');
    assert.ok(error.message.includes(parts.knownHosts));
    assert.doesNotMatch(host.said, signInLine);
    rmSync(parts.knownHosts, { recursive: true });
    assert.equal(await connect(parts), 'in\n');
  });

  it('a host that lets nothing through is named, in words [K16]', async () => {
    const jump = await start({ settings: ['AllowTcpForwarding no'] });
    const target = await start();
    const config = jump.configBlock('jump') + target.configBlock('lab', ['ProxyJump jump']);
    const error = await refusal(
      connect(sshParts({ folder: here(), config, known: jump.knownLine() + target.knownLine() })),
    );
    assert.equal(error.code, 'incompatible');
    assert.match(error.message, /does not let connections through/);
  });

  it('control: ssh2 itself connects for every answer but a literal false [K01]', async () => {
    const host = await start();
    const connects = (hostVerifier: unknown) =>
      new Promise<boolean>((resolve) => {
        const client = new ssh2.Client();
        client.once('ready', () => {
          client.end();
          resolve(true);
        });
        client.once('error', () => resolve(false));
        const privateKey = readFileSync(host.userKey);
        client.connect({
          host: '127.0.0.1',
          port: host.port,
          username: 'root',
          privateKey,
          hostVerifier: hostVerifier as never,
        });
      });
    const answers: readonly unknown[] = [
      () => null,
      () => 0,
      () => new Error('no'),
      () => Promise.resolve(false),
      (_key: Buffer, verify: (answer?: unknown) => void) => verify(),
      (_key: Buffer, verify: (answer?: unknown) => void) => verify(new Error('no')),
      'yes',
      undefined,
    ];
    const isRoot = process.getuid?.() === 0;
    for (const answer of answers) assert.equal(await connects(answer), isRoot, String(answer));
    assert.equal(await connects(() => false), false);
  });

  it('is remembered in a file that is ours alone, whatever its end [SSH-05]', async () => {
    const host = await start();
    const person = new FakePerson();
    person.accepts = true;
    const parts = sshParts({ folder: here(), config: host.configBlock('lab'), person });
    writeFileSync(parts.ownKnownHosts, '# by hand');
    await connect(parts);
    assert.equal(readFileSync(parts.ownKnownHosts, 'utf8'), `# by hand\n${host.knownLine()}`);
  });
});
