import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { encodeFrame } from '../../../protocol/src/framing.ts';
import { StdioTransport } from '../../../remote-agent/src/stdioTransport.ts';
import { until } from '../../support/until.ts';

function open(output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const transport = new StdioTransport(input, output);
  const messages: unknown[] = [];
  const closed: string[] = [];
  transport.start(
    (message) => messages.push(message),
    (reason) => closed.push(reason),
  );
  return { input, transport, messages, closed };
}

describe('the transport of the runner', () => {
  it('carries messages however they are cut up', async () => {
    const { input, messages } = open();
    const frames = Buffer.concat([encodeFrame({ a: 'ü' }), encodeFrame([2])]);
    for (const byte of frames) input.write(Buffer.from([byte]));
    await until(() => messages.length === 2);
    assert.deepEqual(messages, [{ a: 'ü' }, [2]]);
  });

  for (const bad of [
    'Content-Length: 5\r\n\r\nnojsn',
    'hello\r\n\r\n',
    'Content-Length: 9999999999\r\n\r\n',
  ]) {
    it(`closes once and for good on ${JSON.stringify(bad)}`, async () => {
      const { input, closed, messages } = open();
      input.write(bad);
      input.write(encodeFrame('later'));
      await until(() => closed.length > 0);
      input.end();
      assert.deepEqual([closed.length, messages.length], [1, 0]);
    });
  }

  it('closes on the end of its input, and on a broken output', async () => {
    const ended = open();
    ended.input.end();
    await until(() => ended.closed.length === 1);
    const broken = open(new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) }));
    broken.transport.send({});
    await until(() => broken.closed.length === 1);
  });

  it('tells when the far side does not keep up, and when it does again', async () => {
    let take: (() => void) | undefined;
    const output = new Writable({ write: (_chunk, _encoding, done) => (take = () => done()) });
    const { transport } = open(output);
    assert.equal(transport.isCongested, false);
    await transport.whenClear();
    transport.send('x'.repeat(2 * 1024 * 1024));
    assert.equal(transport.isCongested, true);
    const clear = transport.whenClear();
    take?.();
    await clear;
    assert.equal(transport.isCongested, false);
  });

  it('does not keep anybody waiting for a far side that is gone', async () => {
    const output = new Writable({ write: () => undefined });
    const { transport } = open(output);
    transport.send('x'.repeat(2 * 1024 * 1024));
    const clear = transport.whenClear();
    output.destroy();
    await clear;
  });
});
