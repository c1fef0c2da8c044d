import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { openMonitor } from '../../../../language-server/src/runners/vm/qmp.ts';
import { systemCode } from '../../../../remote-agent/src/files/fileError.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** Listens, takes up nothing until it is told to, and answers as QEMU does. */
const lateServer = `
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(0)
print('listens', flush=True)
sys.stdin.readline()
while True:
    client = server.accept()[0]
    try:
        client.sendall(b'{"QMP": {}}\\n')
        if client.recv(100): client.sendall(b'{"return": {}}\\n')
    except OSError: pass
    client.close()
`;

describe('QEMU’s monitor', () => {
  const folder = useTemporaryFolder();

  before(function () {
    if (process.platform === 'linux') return;
    console.log('      needs Linux');
    this.skip();
  });

  it('is waited for where a busy QEMU has not taken up the connections before', async () => {
    const path = join(folder(), 'monitor');
    const server = spawn('python3', ['-I', '-c', lateServer, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    const held: Socket[] = [];
    try {
      await once(server.stdout, 'data');
      // What connects once too often is refused: that is how it is without waiting.
      let code = '';
      while (code === '') {
        assert.ok(held.length < 100);
        const socket = connect(path);
        held.push(socket);
        code = await fault(socket);
      }
      assert.equal(code, 'EAGAIN');
      const opening = openMonitor(path);
      for (const socket of held) socket.destroy();
      server.stdin.write('go\n');
      (await opening).close();
    } finally {
      for (const socket of held) socket.destroy();
      server.kill('SIGKILL');
      await once(server, 'close');
    }
  });

  it('is not waited for where QEMU has ended', async () => {
    await assert.rejects(openMonitor(join(folder(), 'gone')), { code: 'ENOENT' });
  });
});

/** The code with which a connection was refused; empty where it was made. */
function fault(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve('')).once('error', (error) => resolve(systemCode(error)));
  });
}
