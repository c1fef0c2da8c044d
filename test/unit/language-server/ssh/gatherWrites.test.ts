import assert from 'node:assert/strict';
import { connect, createServer, type Server } from 'node:net';
import { gatherWrites } from '../../../../language-server/src/runners/ssh/gatherWrites.ts';

describe('the socket below SSH', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  it('writes what came in one turn at once, in its order, and calls everyone back [PLACE-15]', async () => {
    const heard = Promise.withResolvers<string>();
    server = createServer((socket) => {
      let text = '';
      socket.setEncoding('latin1').on('data', (data: string) => (text += data));
      socket.once('end', () => heard.resolve(text));
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const socket = gatherWrites(connect({ host: '127.0.0.1', port }));
    await new Promise((resolve) => socket.once('connect', resolve));
    const written: string[] = [];
    let calls = 0;
    const writev = socket._writev?.bind(socket);
    socket._writev = (chunks, done) => (calls++, writev?.(chunks, done));
    for (const piece of ['len', 'ciphertext', 'tag']) {
      socket.write(Buffer.from(piece), () => written.push(piece));
      assert.equal(socket.writableCorked, 1);
    }
    await new Promise((resolve) => socket.write('é', 'latin1', resolve));
    assert.deepEqual(written, ['len', 'ciphertext', 'tag']);
    assert.equal(calls, 1);
    assert.equal(socket.writableCorked, 0);
    socket.end('.');
    assert.equal(await heard.promise, 'lenciphertexttagé.');
  });
});
