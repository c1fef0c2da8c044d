import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { openRemoteLink } from '../../../support/openRemoteLink.ts';
import { sshParts } from '../../../support/sshPlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { useSshHosts } from '../../../support/useSshHost.ts';

describe('memory of packets that brought a copy from a host', function () {
  this.timeout(240_000);
  const folder = useTemporaryFolder();
  const start = useSshHosts(folder);

  for (const [title, settings] of [
    ['a stream to the runner’s socket', []],
    ['a program that joins the two', ['AllowStreamLocalForwarding no']],
    ['packets of AES-CTR', ['Ciphers aes256-ctr']],
    ['keys that the host changes on the way', ['RekeyLimit 1M']],
  ] as const)
    it(`is given back once they are stored, and what is stored is right: ${title} [PLACE-15]`, async () => {
      const host = await start({ settings });
      const [blobs, back] = [newStore('blobs'), newStore('back')];
      const parts = sshParts({
        folder: join(folder(), 'here'),
        config: host.configBlock('lab'),
        known: host.knownLine(),
      });
      const signal = new AbortController().signal;
      const link = await parts.transport('lab').open({ signal, mayAsk: false, onStep: () => undefined });
      let freedBytes = 0;
      const letGo = (piece: Uint8Array) => {
        const { length } = piece;
        link.letGo?.(piece);
        freedBytes += length - piece.length;
      };
      const open = (store: typeof blobs) => openRemoteLink({ ...link, letGo }, store);
      try {
        const copied = [5_000_003, 100, 1_300_000, 40_000].map((size) => blobs.putBytes(randomBytes(size)));
        const here = await open(blobs);
        await here.put(copied);
        const there = await open(back);
        const total = copied.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        await there.fetch(
          copied.map((blob) => ({ ...blob, kind: 'file', files: 1 })),
          total,
        );
        for (const { digest } of copied) assert.ok(await back.verify(digest));
        assert.ok(freedBytes > total / 2, `${freedBytes} of ${total} bytes`);
      } finally {
        link.close();
      }
    });

  function newStore(name: string) {
    return createBlobStore(join(folder(), name));
  }
});
