import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildPrograms } from '../../../support/builtPrograms.ts';

describe('the built engine', function () {
  this.timeout(120_000);
  let root = '';
  after(() => rmSync(root, { recursive: true, force: true }));

  it('has SSH in a file of its own, which works as it is built [SSH-09]', async () => {
    root = await buildPrograms();
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
});
