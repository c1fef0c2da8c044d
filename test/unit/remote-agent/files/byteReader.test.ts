import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { ByteReader } from '../../../../remote-agent/src/files/byteReader.ts';
import { until } from '../../../support/until.ts';

describe('a stream that is read in exact pieces', () => {
  it('gives its bytes in their order, however it came in pieces and is asked for', async () => {
    const counts = fc.array(fc.nat(50), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), counts, counts, async (bytes, came, asked) => {
        const stream = new PassThrough();
        const reader = new ByteReader(stream);
        let at = 0;
        for (const count of came) stream.write(bytes.subarray(at, (at += count)));
        stream.end(bytes.subarray(at));
        const got: Uint8Array[] = [];
        let left = bytes.length;
        for (const [index, count] of asked.entries()) {
          if (count > left) break;
          left -= count;
          if (index % 2 === 0) for await (const piece of reader.pieces(count)) got.push(piece);
          else got.push((await reader.read(count)) ?? Buffer.alloc(0));
        }
        if (left > 0) await assert.rejects(reader.read(left + 1), /ended 1 bytes early/);
        for await (const piece of reader.pieces(left)) got.push(piece);
        assert.deepEqual(Buffer.concat(got), Buffer.from(bytes));
        assert.equal(await reader.read(1), undefined);
        await assert.rejects(reader.pieces(1).next(), /ended 1 bytes early/);
      }),
      { numRuns: 100 },
    );
  });

  it('copies nothing but the start of what it must cut', async () => {
    const chunk = Buffer.allocUnsafeSlow(13).fill('head and body');
    const reader = new ByteReader(Readable.from([chunk], { objectMode: true }));
    assert.ok((await reader.read(4))?.buffer !== chunk.buffer);
    for await (const piece of reader.pieces(9)) assert.ok(piece.buffer === chunk.buffer);
  });

  it('gives pieces whose memory may be freed: nothing else that it has or has given is in there', async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(lengths, lengths, async (came, asked) => {
        const chunks = came.map((length, index) => Buffer.allocUnsafeSlow(length).fill(index + 1));
        const all = Buffer.concat(chunks);
        const reader = new ByteReader(Readable.from(chunks, { objectMode: true }));
        const kept: Buffer[] = [];
        let at = 0;
        for (const [index, count] of asked.entries()) {
          if (at + count > all.length) break;
          const expected = all.subarray(at, (at += count));
          if (index % 2 === 0) {
            kept.push((await reader.read(count)) ?? Buffer.alloc(0));
            assert.deepEqual(kept.at(-1), expected);
            continue;
          }
          const got: Buffer[] = [];
          for await (const piece of reader.pieces(count)) {
            got.push(Buffer.from(piece));
            // What is cut is copied, maybe to memory that Node.js shares out.
            if (chunks.some(({ buffer }) => buffer === piece.buffer))
              (piece.buffer as ArrayBuffer).transfer(0);
          }
          assert.deepEqual(Buffer.concat(got), expected);
        }
        assert.ok(kept.every(({ length }) => length > 0));
      }),
      { numRuns: 200 },
    );
  });

  for (const [title, piece, most] of [
    ['large pieces', Buffer.alloc(64 * 1024), 32],
    ['single bytes', Buffer.alloc(1), 2048],
  ] as const) {
    it(`holds back a sender of ${title} while nobody reads, and lets it go on`, async () => {
      let sent = 0;
      const stream = new Readable({
        highWaterMark: 1,
        read() {
          this.push(sent < 5000 ? piece : null);
          sent++;
        },
      });
      const reader = new ByteReader(stream);
      await until(() => stream.isPaused());
      assert.ok(sent <= most, `${sent} pieces were taken`);
      let read = 0;
      for await (const each of reader.pieces(5000 * piece.length)) read += each.length;
      assert.equal(read, 5000 * piece.length);
      assert.equal(await reader.read(1), undefined);
    });
  }

  it('throws what ended the stream, once what came before is read', async () => {
    for (const fault of [new Error('the line was cut'), undefined]) {
      const stream = new PassThrough();
      const reader = new ByteReader(stream);
      stream.write('abc');
      await until(() => reader.heldBytes === 3);
      stream.destroy(fault);
      await until(() => stream.closed);
      assert.equal((await reader.read(2))?.toString(), 'ab');
      await assert.rejects(reader.read(2), fault ?? /closed/);
      await assert.rejects(new ByteReader(stream).read(1), fault ?? /closed/);
    }
  });
});
