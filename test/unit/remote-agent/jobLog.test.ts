import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { limits } from '../../../protocol/src/limits.ts';
import { createDeferred } from '../../../remote-agent/src/deferred.ts';
import { JobLog, type Flow } from '../../../remote-agent/src/jobLog.ts';

const clear: Flow = { isCongested: false, whenClear: () => Promise.resolve() };

async function logOf(chunks: readonly Uint8Array[], limitBytes = 1e9) {
  const pieces: string[] = [];
  const log = new JobLog(limitBytes, (_, text) => pieces.push(text), clear);
  const source = new PassThrough();
  const done = log.follow('stdout', source);
  for (const chunk of chunks) source.write(chunk);
  source.end();
  await done;
  return { log, pieces, text: pieces.join('') };
}

describe('the log of a job', () => {
  it('[JOB-10] is the decoded bytes, however they were cut up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(9)), async (text, sizes) => {
        const bytes = Buffer.from(text);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of sizes) chunks.push(bytes.subarray(at, (at += size)));
        chunks.push(bytes.subarray(at));
        assert.equal((await logOf(chunks.filter((chunk) => chunk.length > 0))).text, text);
      }),
      { numRuns: 50 },
    );
  });

  it('[JOB-10] replaces what is no UTF-8, in pieces that fit a message', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256));
    const { pieces, log } = await logOf([bytes]);
    assert.equal(log.keptBytes, bytes.length);
    for (const piece of pieces) assert.ok(Buffer.byteLength(piece) <= limits.logChunkBytes);
  });

  it('[JOB-10] cuts a line of ten million characters between characters', async () => {
    const { pieces, text } = await logOf([Buffer.from('😀'.repeat(2_500_000))]);
    assert.equal(text.length, 5_000_000);
    for (const piece of pieces) {
      assert.ok(piece.isWellFormed());
      assert.ok(Buffer.byteLength(piece) <= limits.logChunkBytes);
    }
  });

  it('[JOB-06] keeps up to the limit and counts the rest', async () => {
    const { log, text } = await logOf([Buffer.alloc(70, 97), Buffer.alloc(70, 98)], 100);
    assert.deepEqual([log.keptBytes, log.cutBytes, text.length], [100, 40, 100]);
  });

  it('[JOB-10] waits for a reader that can’t follow', async () => {
    const room = createDeferred<undefined>();
    const flow = { isCongested: true, whenClear: () => room.promise };
    let told = 0;
    const log = new JobLog(1e9, (_, text) => (told += text.length), flow);
    const source = new PassThrough({ highWaterMark: 8 });
    const done = log.follow('stdout', source);
    source.write('first');
    await new Promise((resolve) => setImmediate(resolve));
    source.write('second');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(told, 5);
    flow.isCongested = false;
    room.resolve(undefined);
    source.end();
    await done;
    assert.equal(told, 11);
  });
});
