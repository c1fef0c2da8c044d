import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { BoundedMessageReader } from '../../../../language-server/src/lsp/messageReader.ts';

interface Heard {
  readonly messages: unknown[];
  readonly errors: string[];
  closed: number;
}

/** Writes pieces into a reader and returns what it made of them. */
async function read(pieces: readonly Uint8Array[], limitBytes = 1000): Promise<Heard> {
  const input = new PassThrough();
  const reader = new BoundedMessageReader(input, limitBytes);
  const heard: Heard = { messages: [], errors: [], closed: 0 };
  reader.onError((error) => heard.errors.push(error.message));
  reader.onClose(() => heard.closed++);
  reader.listen((message) => heard.messages.push(message));
  for (const piece of pieces) input.write(piece);
  await setImmediate();
  await setImmediate();
  return heard;
}

const frame = (body: string) => Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

describe('BoundedMessageReader', () => {
  it('puts messages together however they are cut', async () => {
    const message = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 4 }),
        fc.array(fc.nat(400), { maxLength: 8 }),
        async (messages, cuts) => {
          const bytes = Buffer.concat(messages.map((each) => frame(JSON.stringify(each))));
          const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
          const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
          assert.deepEqual((await read(pieces, 10_000)).messages, JSON.parse(JSON.stringify(messages)));
        },
      ),
    );
  });

  it('skips what is over the limit and goes on', async () => {
    const huge = JSON.stringify({ a: 'x'.repeat(5000) });
    const { messages, errors, closed } = await read([frame('{"a":1}'), frame(huge), frame('{"a":2}')]);
    assert.deepEqual(messages, [{ a: 1 }, { a: 2 }]);
    assert.equal(errors.length, 1);
    assert.equal(closed, 0);
  });

  it('drops what is no JSON object and goes on', async () => {
    const bad = ['', '{', '[]', 'null', '"x"', '1'].filter((body) => body !== '').map(frame);
    const bytes = Buffer.concat([Buffer.from('Content-Length: 2\r\n\r\n'), Buffer.from([0xff, 0xff])]);
    const { messages, errors } = await read([
      ...bad,
      bytes,
      Buffer.from('Content-Length: 0\r\n\r\n'),
      frame('{"a":2}'),
    ]);
    assert.deepEqual(messages, [{ a: 2 }]);
    assert.equal(errors.length, bad.length + 1);
  });

  it('reads other heads beside the length, in any case', async () => {
    const body = Buffer.from(
      'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: 7\r\n\r\n{"a":1}',
    );
    assert.deepEqual((await read([body])).messages, [{ a: 1 }]);
  });

  for (const head of [
    'Length: 3\r\n\r\n',
    'Content-Length: -1\r\n\r\n',
    'Content-Length: 1e3\r\n\r\n',
    'x'.repeat(5000),
    '\r\n\r\n',
  ]) {
    it(`ends at the head ${JSON.stringify(head.slice(0, 20))}, and hears nothing after it`, async () => {
      const { messages, closed, errors } = await read([Buffer.from(head), frame('{"a":1}')]);
      assert.deepEqual(messages, []);
      assert.equal(closed, 1);
      assert.equal(errors.length, 1);
    });
  }
});
