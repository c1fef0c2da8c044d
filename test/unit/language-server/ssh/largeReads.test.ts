import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { connectLargeReads } from '../../../../language-server/src/runners/ssh/largeReads.ts';
import { until } from '../../../support/until.ts';

describe('the reads of the socket below SSH', () => {
  let server: Server | undefined;
  let far: Socket | undefined;
  afterEach(() => {
    far?.destroy();
    server?.close();
  });

  async function connected() {
    const came = Promise.withResolvers<Socket>();
    server = createServer((socket) => came.resolve(socket));
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const reads = connectLargeReads({
      host: '127.0.0.1',
      port: typeof address === 'object' && address ? address.port : 0,
    });
    far = await came.promise;
    return { ...reads, far };
  }

  it('leave every piece alone until pieces are lent [PLACE-15]', async () => {
    const { socket, far } = await connected();
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    for (const letter of 'abc') {
      far.write(letter);
      await until(() => Buffer.concat(pieces).includes(letter));
    }
    assert.equal(Buffer.concat(pieces).toString(), 'abc');
    assert.equal(new Set(pieces.map(({ buffer }) => buffer)).size, pieces.length);
  });

  it('use one piece of memory once pieces are lent, and lose nothing where the reader rests [PLACE-15]', async () => {
    const { socket, far, lend } = await connected();
    const memory = new Set<ArrayBufferLike>();
    let text = '';
    socket.on('data', (piece: Buffer) => {
      memory.add(piece.buffer);
      text += piece.toString('latin1');
    });
    lend();
    const sent = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(20_000));
    // What is read into is chosen after the read before: the first is from before the loan.
    far.write('.');
    await until(() => text === '.');
    memory.clear();
    for (const [index, part] of sent.entries()) {
      if (index === 10) socket.pause();
      if (index === 20) setImmediate(() => socket.resume());
      far.write(part, 'latin1');
      if (index === 9) await until(() => text.length === 1 + sent.slice(0, 10).join('').length);
      if (index === 9) assert.equal(memory.size, 1);
    }
    far.end();
    await once(socket, 'end');
    assert.ok(text === `.${sent.join('')}`);
  });
});
