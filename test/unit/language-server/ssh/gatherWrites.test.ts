import assert from 'node:assert/strict';
import { createHash, hash, randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { gatherWrites } from '../../../../language-server/src/runners/ssh/gatherWrites.ts';

describe('the socket below SSH', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function open(onSocket: (socket: Socket) => void): Promise<Socket> {
    server = createServer(onSocket);
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const socket = gatherWrites(connect({ host: '127.0.0.1', port }));
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  }

  it('writes what came in one turn at once, in its order, and calls everyone back [PLACE-15]', async () => {
    const heard = Promise.withResolvers<string>();
    const socket = await open((socket) => {
      let text = '';
      socket.setEncoding('latin1').on('data', (data: string) => (text += data));
      socket.once('end', () => heard.resolve(text));
    });
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

  it('sends large pieces whole to who reads late, and holds none that was sent [PLACE-15]', async () => {
    const accepted = Promise.withResolvers<Socket>();
    const socket = await open((far) => accepted.resolve(far));
    const far = await accepted.promise;
    // More than both ends hold: most of it is written by the kernel's leave, later.
    const content = randomBytes(16 * 1024 * 1024);
    const pieces = Array.from({ length: 512 }, (_, at) => {
      const piece = Buffer.allocUnsafeSlow(32 * 1024);
      content.copy(piece, 0, at * piece.length);
      return piece;
    });
    const sent = Promise.all(pieces.map((piece) => new Promise((resolve) => socket.write(piece, resolve))));
    const got = createHash('sha256');
    far.on('data', (data: Buffer) => got.update(data));
    const ended = new Promise((resolve) => far.once('end', resolve));
    assert.ok((await sent).every((error) => !error));
    socket.end();
    await ended;
    assert.equal(got.digest('hex'), hash('sha256', content));
    assert.deepEqual(new Set(pieces.map(({ length }) => length)), new Set([0]));
  });

  it('leaves alone what was not sent because the connection ended', async () => {
    const socket = await open((far) => far.pause());
    const pieces = Array.from({ length: 512 }, () => Buffer.allocUnsafeSlow(32 * 1024));
    const errors = Promise.all(
      pieces.map((piece) => new Promise<unknown>((resolve) => socket.write(piece, resolve))),
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    for (const [at, error] of (await errors).entries())
      assert.equal(pieces[at]?.length, error ? 32 * 1024 : 0);
  });
});
