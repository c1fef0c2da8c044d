import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { lendSocket } from '../../../../language-server/src/runners/vm/lendSocket.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('a socket that another program answers on', () => {
  const folder = useTemporaryFolder();

  it('is that program’s once it is in its place', async function () {
    if (process.platform !== 'linux') {
      console.log('      skipped: VMs with folders run on Linux');
      this.skip();
    }
    const file = (name: string) => join(folder(), name);
    const socket = await lendSocket('share0', file, file);
    const answer =
      'const { Server } = require("net"); const s = new Server((c) => c.end("from the child")); s.listen({ fd: 0 });';
    const child = spawn(process.execPath, ['-e', answer], {
      stdio: [socket.descriptor, 'inherit', 'inherit'],
    });
    try {
      assert.ok(!existsSync(file('share0')));
      socket.publish();
      assert.ok(existsSync(file('share0')));
      assert.ok(!existsSync(file('share0.new')));
      const client = connect(file('share0'));
      let said = '';
      client.on('data', (chunk: Buffer) => (said += chunk.toString()));
      await once(client, 'close');
      assert.equal(said, 'from the child');
    } finally {
      child.kill('SIGKILL');
    }
  });
});
