import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildPrograms } from '../../../support/builtPrograms.ts';
import { removeHost, SshHost } from '../../../support/sshHost.ts';
import { hasSshd } from '../../../support/sshPlace.ts';

describe('the built engine', function () {
  this.timeout(240_000);
  let root = '';
  before(async () => {
    root = await buildPrograms();
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('has SSH in a file of its own, which works as it is built [SSH-09]', () => {
    const folder = join(root, 'dist');
    const [file = '', ...more] = readdirSync(folder).filter((name) =>
      name.startsWith('engine-openSshTransport'),
    );
    assert.deepEqual(more, []);
    // Nothing listens on port 9: that the connection is refused shows that ssh2 got as far as making one.
    const script = `
      const { openSshTransport } = await import(${JSON.stringify(join(folder, file))});
      const runSsh = async () => 'hostname 127.0.0.1\\nport 9\\nuser who\\n';
      const around = { home: '/', agent: undefined, runSsh };
      const trustFile = ${JSON.stringify(join(dirname(root), 'no-such-file'))};
      const transport = openSshTransport({ place: 'ssh:x', host: 'x', person: {}, trustFile, around, program: '' });
      const options = { signal: new AbortController().signal, mayAsk: false, onStep() {} };
      await transport.open(options).catch((error) => process.stdout.write(error.code + ' ' + error.message));
      process.exit(0);`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.match(said, /^unreachable .*ECONNREFUSED/);
  });

  it('encrypts packets itself, with keys that are made ready once for each connection and direction [PLACE-15]', async function () {
    if (!hasSshd) {
      process.stderr.write('skipped: there is no sshd\n');
      this.skip();
    }
    assert.deepEqual(await copy([]), { isSame: true, keys: 2 });
  });

  it('goes on where the host changes the keys of a connection [PLACE-15]', async function () {
    if (!hasSshd) {
      process.stderr.write('skipped: there is no sshd\n');
      this.skip();
    }
    const { isSame, keys } = await copy(['RekeyLimit 128K']);
    assert.ok(isSame);
    assert.ok(keys >= 8, `${keys} keys`);
  });

  /** Sends a million bytes to a host and back, and counts the keys that were made ready for it. */
  async function copy(settings: readonly string[]): Promise<{ isSame: boolean; keys: number }> {
    const host = new SshHost({ folder: join(root, 'host'), settings });
    await host.start();
    try {
      writeFileSync(join(root, 'known'), host.knownLine());
      const folder = join(root, 'dist');
      const file = readdirSync(folder).find((name) => name.startsWith('engine-openSshTransport')) ?? '';
      const target = {
        hostname: host.address,
        port: host.port,
        user: userInfo().username,
        identityfile: host.userKey,
        identityagent: 'none',
      };
      const said = Object.entries(target).map(([name, value]) => `${name} ${value}\n`);
      const script = `
        import crypto from 'node:crypto';
        import { syncBuiltinESMExports } from 'node:module';
        const { createSecretKey } = crypto;
        let made = 0;
        crypto.createSecretKey = (...given) => (made++, createSecretKey(...given));
        syncBuiltinESMExports();
        const { openSshSessions } = await import(${JSON.stringify(join(folder, file))});
        const around = { home: '/', agent: undefined, runSsh: async () => ${JSON.stringify(said.join(''))} };
        const person = { vaultKeys: async () => [] };
        const sessions = openSshSessions({ around, trustFile: ${JSON.stringify(join(root, 'known'))}, person });
        const session = await sessions.open('x', { signal: new AbortController().signal, mayAsk: true });
        const text = crypto.randomBytes(500_000).toString('hex');
        const { stdout } = await session.connection.run('cat', text);
        process.stdout.write(JSON.stringify({ isSame: stdout === text, keys: made }));
        process.exit(0);`;
      const words = ['--input-type=module', '-e', script];
      // Not synchronously: the server's words are read here.
      const { stdout } = await promisify(execFile)(process.execPath, words);
      return JSON.parse(stdout) as { isSame: boolean; keys: number };
    } finally {
      await removeHost(host);
    }
  }
});
