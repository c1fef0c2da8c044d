import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { duplexPair, type Duplex } from 'node:stream';
import fc from 'fast-check';
import { getBlobs, putBlobs } from '../../../../language-server/src/runners/places/bulkClient.ts';
import { bulkCodes } from '../../../../protocol/src/bulkTransfer.ts';
import { createBlobStore, type StoredBlob } from '../../../../remote-agent/src/files/blobStore.ts';
import { ByteReader } from '../../../../remote-agent/src/files/byteReader.ts';
import { serveBulk } from '../../../../remote-agent/src/served/serveBulk.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('blobs on their way', () => {
  const folder = useTemporaryFolder();
  let stores = 0;
  const newStore = () => createBlobStore(join(folder(), `store-${++stores}`));
  const leftIn = (store: { folder: string }) => readdirSync(join(store.folder, 'incoming'));

  /** A served store at the other end of a stream; `writes` counts what this side writes. */
  function serve(store = newStore()): { near: Duplex; served: Promise<unknown>; writes: () => number } {
    const [near, far] = duplexPair();
    near.on('error', () => undefined);
    far.on('error', () => undefined);
    let writes = 0;
    // A connection copies what it is given, which is what the writer may count on; a pair hands it over.
    for (const end of [near, far]) {
      const write = end._write.bind(end);
      end._write = (bytes: Buffer, encoding, done) => {
        if (end === near) writes++;
        write(Buffer.from(bytes), encoding, done);
      };
    }
    const served = serveBulk(far, new ByteReader(far), store).catch((error: unknown) => error);
    return { near, served, writes: () => writes };
  }

  it('are the same over there and back, whatever their sizes [PLACE-15]', async () => {
    const edges = [0, 1, 64 * 1024, 64 * 1024 + 1, 1024 * 1024, 2 * 1024 * 1024 + 3];
    const size = fc.oneof(fc.constantFrom(...edges), fc.nat(200_000));
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 6 }), async (sizes) => {
        const [here, there, back] = [newStore(), newStore(), newStore()];
        const blobs = sizes.map((each) => here.putBytes(randomBytes(each)));
        const [put, get] = [serve(there), serve(there)];
        const total = blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        assert.equal(await putBlobs(put.near, here, blobs), total);
        // What is let go is stored by then: whatever becomes of its memory changes nothing.
        await getBlobs(get.near, back, blobs, (piece) => piece.fill(0));
        for (const { digest } of blobs)
          assert.ok((await there.verify(digest)) && (await back.verify(digest)));
        for (const { near } of [put, get]) near.end();
      }),
      { numRuns: 12 },
    );
  });

  it('that are small travel together: thousands take few writes and no waiting for answers [PLACE-15]', async () => {
    const [here, there, back] = [newStore(), newStore(), newStore()];
    const blobs = Array.from({ length: 1500 }, () => here.putBytes(randomBytes(100)));
    const put = serve(there);
    await putBlobs(put.near, here, blobs);
    assert.ok(put.writes() <= 4, `${put.writes()} writes`);
    const get = serve(there);
    await getBlobs(get.near, back, blobs);
    assert.ok(get.writes() <= 10, `${get.writes()} writes`);
    assert.equal([...back.list()].length, 1500);
  });

  it('come whole in single bytes, and are then still written in bounded pieces [PLACE-15]', async () => {
    const here = newStore();
    const content = randomBytes(5000);
    const [near, far] = duplexPair();
    const head = Buffer.alloc(9);
    head[0] = bulkCodes.data;
    head.writeBigUInt64BE(BigInt(content.length), 1);
    const digest = createHash('sha256').update(content).digest('hex');
    const got = getBlobs(near, here, [{ digest, sizeBytes: content.length }]);
    for (const byte of Buffer.concat([head, content])) far.write(Buffer.of(byte));
    await got;
    assert.deepEqual(here.readBytes(digest), content);
  });

  for (const [title, changed, code] of [
    ['other bytes', (content: Buffer) => content.fill(1, 70_000, 70_001), 'store-damaged'],
    ['fewer bytes', (content: Buffer) => content.subarray(0, 99_999), 'closed'],
  ] as const) {
    it(`leave nothing here where ${title} come [PLACE-15]`, async () => {
      const here = newStore();
      const content = Buffer.alloc(100_000);
      const digest = createHash('sha256').update(content).digest('hex');
      const [near, far] = duplexPair();
      const head = Buffer.alloc(9);
      head[0] = bulkCodes.data;
      head.writeBigUInt64BE(100_000n, 1);
      far.write(head);
      far.end(changed(Buffer.from(content)));
      await assert.rejects(getBlobs(near, here, [{ digest, sizeBytes: 100_000 }]), { code });
      assert.equal(here.has(digest), false);
      assert.deepEqual(leftIn(here), []);
    });
  }

  it('leave nothing there where the stream is cut in the middle, and say so here [PLACE-15]', async () => {
    const [here, there] = [newStore(), newStore()];
    const blob = here.putBytes(randomBytes(3 * 1024 * 1024));
    const { near, served } = serve(there);
    const put = putBlobs(near, here, [blob], (bytes) => bytes > 0 && near.destroy());
    await assert.rejects(put, { code: 'closed' });
    await served;
    await until(() => leftIn(there).length === 0);
    assert.equal(there.has(blob.digest), false);
  });

  it('that are gone here are named at once, though the other end says nothing [PLACE-15]', async () => {
    const here = newStore();
    const gone: StoredBlob = { digest: 'ab'.repeat(32), sizeBytes: 3 };
    const [near] = duplexPair();
    await assert.rejects(putBlobs(near, here, [gone]), { code: 'not-found' });
  });

  it('that the other end refuses stop the copy with its words [PLACE-15]', async () => {
    const [here, there] = [newStore(), newStore()];
    const blob = here.putBytes(randomBytes(4 * 1024 * 1024));
    const { near } = serve({
      ...there,
      pathOf: () => join(folder(), 'is', 'no', 'folder', '\0'),
    });
    await assert.rejects(putBlobs(near, here, [blob]), /over there: /);
  });
});
