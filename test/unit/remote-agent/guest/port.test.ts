import assert from 'node:assert/strict';
import { Port, type PortStream } from '../../../../remote-agent/src/guest/portStream.ts';

/** A port whose other end the test plays. An empty chunk: nobody is connected. */
class FakePort {
  readonly written: string[] = [];
  readonly #waiting: ((chunk: Buffer) => void)[] = [];
  readonly #chunks: Buffer[] = [];

  send(text: string): void {
    const chunk = Buffer.from(text, 'latin1');
    const next = this.#waiting.shift();
    if (next) next(chunk);
    else this.#chunks.push(chunk);
  }

  async read(buffer: Buffer): Promise<number> {
    const chunk =
      this.#chunks.shift() ?? (await new Promise<Buffer>((resolve) => this.#waiting.push(resolve)));
    return chunk.copy(buffer);
  }

  write(chunk: Buffer): Promise<void> {
    this.written.push(chunk.toString('latin1'));
    return Promise.resolve();
  }
}

function open() {
  const file = new FakePort();
  const streams: PortStream[] = [];
  const heard: string[] = [];
  const port = new Port({
    file,
    openingBytes: 16,
    accept: (line) => Promise.resolve(line.startsWith('open') ? `opened ${line.slice(5)}\n` : undefined),
    wait: () => Promise.resolve(),
    onStream: (stream) => {
      const at = streams.push(stream) - 1;
      heard.push('');
      stream
        .on('data', (chunk: Buffer) => (heard[at] = (heard[at] ?? '') + chunk.toString('latin1')))
        .on('error', () => undefined);
    },
  });
  void port.serve();
  return { file, streams, heard };
}

const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a port of a VM', () => {
  it('begins with an opening, and gives what follows to a stream', async () => {
    const { file, heard } = open();
    file.send('open a\nhello');
    file.send(' there');
    await settle();
    assert.deepEqual(file.written, ['opened a\n']);
    assert.deepEqual(heard, ['hello there']);
  });

  it('takes an opening in pieces, and nothing that is none', async () => {
    const { file, streams } = open();
    file.send('rubbish that is much too long for an opening of any kind');
    file.send('no opening\n');
    file.send('ope');
    file.send('n b\n');
    await settle();
    assert.equal(streams.length, 1);
    assert.deepEqual(file.written, ['opened b\n']);
  });

  it('ends the stream when the other end lets go, and what it still wrote does not reach the next one', async () => {
    const { file, streams, heard } = open();
    file.send('open a\none');
    await settle();
    file.send('');
    await settle();
    assert.equal(streams[0]?.destroyed, true);
    streams[0].write('late');
    file.send('open b\ntwo');
    await settle();
    assert.deepEqual(heard, ['one', 'two']);
    assert.deepEqual(file.written, ['opened a\n', 'opened b\n']);
  });

  it('reads no further than its stream is read', async () => {
    const { file, streams } = open();
    file.send('open a\n');
    await settle();
    const stream = streams[0] ?? assert.fail();
    stream.pause();
    stream.removeAllListeners('data');
    for (let at = 0; at < 64; at += 1) file.send('x'.repeat(64 * 1024));
    await settle();
    assert.ok(stream.readableLength <= 128 * 1024);
  });
});
