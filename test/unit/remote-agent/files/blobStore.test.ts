import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createBlobStore, type BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { mountSmallDisk } from '../../../support/smallDisk.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const absent = hash('sha256', 'never stored');

describe('blobStore', () => {
  const temporary = useTemporaryFolder();
  const open = (): BlobStore => createBlobStore(join(temporary(), 'blobs'));
  const incoming = (): string[] => readdirSync(join(temporary(), 'blobs/incoming'));
  const put = async (store: BlobStore, content: Uint8Array, limitBytes?: number) => {
    const path = join(temporary(), 'source');
    writeFileSync(path, content);
    const descriptor = openSync(path, 'r');
    try {
      return await store.putFile(descriptor, limitBytes === undefined ? {} : { limitBytes });
    } finally {
      closeSync(descriptor);
    }
  };

  it('names bytes by their SHA-256 and gives them back', () => {
    const store = open();
    const blob = store.putBytes(Buffer.from('hello'));
    assert.equal(blob.digest, hash('sha256', 'hello'));
    assert.equal(blob.sizeBytes, 5);
    assert.equal(store.readBytes(blob.digest).toString(), 'hello');
    assert.equal(store.has(blob.digest), true);
    assert.equal(store.has(absent), false);
  });

  for (const sizeBytes of [
    0,
    1,
    256 * 1024 - 1,
    256 * 1024,
    1024 * 1024,
    1024 * 1024 + 1,
    3 * 1024 * 1024 + 7,
  ]) {
    it(`stores a file of ${sizeBytes} bytes as it stores bytes`, async () => {
      const store = open();
      const content = Buffer.alloc(sizeBytes, 'sallyport ');
      const blob = await put(store, content);
      assert.deepEqual(blob, { digest: hash('sha256', content), sizeBytes });
      assert.deepEqual(store.putBytes(content), blob);
      assert.equal(await store.verify(blob.digest), true);
      assert.deepEqual(incoming(), []);
    });
  }

  it('reads on from where the descriptor stands', async () => {
    const path = join(temporary(), 'source');
    writeFileSync(path, 'skipped, kept');
    const descriptor = openSync(path, 'r+');
    writeSync(descriptor, 'SKIPPED, ');
    const blob = await open().putFile(descriptor);
    closeSync(descriptor);
    assert.equal(blob.digest, hash('sha256', 'kept'));
  });

  it('keeps everything from other users', () => {
    const store = open();
    const { digest } = store.putBytes(Buffer.from('secret'));
    const modes = [store.folder, join(store.pathOf(digest), '..'), store.pathOf(digest)].map(
      (path) => statSync(path).mode & 0o777,
    );
    assert.deepEqual(modes, [0o700, 0o700, 0o600]);
  });

  it('takes nothing but a digest for a name', () => {
    const store = open();
    for (const name of ['', '../../etc/passwd', absent.toUpperCase(), `${absent}0`, `${absent.slice(1)}/`]) {
      assert.throws(() => store.pathOf(name), { code: 'bad-message' }, name);
      assert.throws(() => store.readBytes(name), { code: 'bad-message' }, name);
    }
  });

  it('says what is missing or too large', async () => {
    const store = open();
    assert.throws(() => store.readBytes(absent), { code: 'not-found' });
    assert.equal(await store.verify(absent), false);
    const { digest } = store.putBytes(Buffer.alloc(100));
    assert.throws(() => store.readBytes(digest, { limitBytes: 99 }), { code: 'too-large' });
    await assert.rejects(put(store, Buffer.alloc(2_000_000, 1), 1_999_999), { code: 'too-large' });
    await assert.rejects(put(store, Buffer.alloc(11, 1), 10), { code: 'too-large' });
    assert.equal([...store.list()].length, 1);
    assert.deepEqual(incoming(), []);
  });

  it('notices that a file grows beyond the limit while it is read', async () => {
    const path = join(temporary(), 'growing');
    writeFileSync(path, Buffer.alloc(1_500_000, 1));
    const descriptor = openSync(path, 'r+');
    const growing = createBlobStore(join(temporary(), 'blobs'), {
      write: (target, bytes) => {
        ftruncateSync(descriptor, 9_000_000);
        return writeSync(target, bytes);
      },
    });
    await assert.rejects(growing.putFile(descriptor, { limitBytes: 2_000_000 }), { code: 'too-large' });
    closeSync(descriptor);
    assert.deepEqual(incoming(), []);
  });

  describe('damage', () => {
    it('[FILES-02] is noticed on reading', async () => {
      const store = open();
      const { digest } = store.putBytes(Buffer.from('original'));
      writeFileSync(store.pathOf(digest), 'altered!');
      assert.throws(() => store.readBytes(digest), { code: 'store-damaged' });
      assert.equal(await store.verify(digest), false);
      assert.equal(store.readBytes(digest, { verify: false }).toString(), 'altered!', 'the control');
    });

    it('[FILES-02] by a power cut is mended by storing the same again', () => {
      const store = open();
      const { digest } = store.putBytes(Buffer.from('original'));
      truncateSync(store.pathOf(digest), 0);
      assert.throws(() => store.readBytes(digest), { code: 'store-damaged' });
      store.putBytes(Buffer.from('original'));
      assert.equal(store.readBytes(digest).toString(), 'original');
    });
  });

  describe('a full disk', () => {
    const fullAfter = (room: number): BlobStore => {
      let written = 0;
      return createBlobStore(join(temporary(), 'blobs'), {
        write: (descriptor, bytes) => {
          if (written >= room) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
          const count = writeSync(descriptor, bytes.subarray(0, room - written));
          written += count;
          return count;
        },
      });
    };

    it('[FILES-01] leaves nothing half written', async () => {
      const store = fullAfter(1_200_000);
      await assert.rejects(put(store, Buffer.alloc(3_000_000, 7)), { code: 'disk-full' });
      assert.throws(() => store.putBytes(Buffer.from('x')), { code: 'disk-full' });
      assert.deepEqual([...store.list()], []);
      assert.deepEqual(incoming(), []);
    });

    it('[FILES-01] is told from a real one', async function () {
      const mount = join(temporary(), 'small');
      const unmount = mountSmallDisk(mount);
      if (!unmount) this.skip();
      try {
        const store = createBlobStore(join(mount, 'blobs'));
        const kept = store.putBytes(Buffer.from('fits'));
        await assert.rejects(put(store, Buffer.alloc(3_000_000, 7)), { code: 'disk-full' });
        assert.deepEqual(
          [...store.list()].map((blob) => blob.digest),
          [kept.digest],
        );
        assert.deepEqual(readdirSync(join(mount, 'blobs/incoming')), []);
        assert.ok(store.putBytes(Buffer.alloc(500_000, 1)).digest, 'there is room again');
      } finally {
        unmount();
      }
    });
  });

  it('[FILES-01] lets several processes store and read the same blobs at once', async () => {
    const store = open();
    const writer = join(import.meta.dirname, '../../../support/blobWriter.ts');
    const children = [1, 2, 3].map(() => fork(writer, [store.folder, '200'], { stdio: 'inherit' }));
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as unknown));
    assert.deepEqual(codes, [0, 0, 0]);
    const listed = [...store.list()];
    assert.equal(listed.length, 200);
    for (const { digest } of listed) assert.equal(await store.verify(digest), true);
    assert.deepEqual(incoming(), []);
  });

  it('lists blobs with their sizes and frees what is removed', () => {
    const store = open();
    const blobs = ['a', 'bb', 'ccc'].map((text) => store.putBytes(Buffer.from(text)));
    writeFileSync(join(store.folder, 'note.txt'), 'not a blob');
    const listed = [...store.list()];
    assert.deepEqual(
      listed.map(({ digest, sizeBytes }) => ({ digest, sizeBytes })),
      blobs.sort((a, b) => (a.digest < b.digest ? -1 : 1)),
    );
    const [first] = listed;
    assert.equal(store.remove(first!.digest), first!.sizeBytes);
    assert.equal(store.remove(first!.digest), 0);
    assert.equal(store.has(first!.digest), false);
    assert.equal([...store.list()].length, 2);
  });

  it('sweeps what killed writers left, and only that', () => {
    const store = open();
    const { digest } = store.putBytes(Buffer.from('kept'));
    const [old, young] = ['old', 'young'].map((name) => join(store.folder, 'incoming', name));
    writeFileSync(old!, 'half');
    writeFileSync(young!, 'half');
    utimesSync(old!, 1000, 1000);
    assert.equal(store.sweep(60_000), 1);
    assert.deepEqual([existsSync(old!), existsSync(young!)], [false, true]);
    assert.equal(readFileSync(store.pathOf(digest), 'utf8'), 'kept');
  });
});
