import { createBlobStore } from '../../remote-agent/src/files/blobStore.ts';

/** Run as a process of its own: stores the blobs `0` … `count - 1` of 100 KB and reads each one back at once. */
const [folder = '', count = '0'] = process.argv.slice(2);
const store = createBlobStore(folder);
for (let index = 0; index < Number(count); index += 1) {
  const { digest } = store.putBytes(Buffer.alloc(100_000, `blob ${index} `));
  store.readBytes(digest);
}
