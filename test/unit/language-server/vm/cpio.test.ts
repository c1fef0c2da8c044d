import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packCpio } from '../../../../language-server/src/runners/vm/cpio.ts';

describe('packCpio', () => {
  const entries = [
    { path: 'bin', mode: 0o755 },
    { path: 'bin/tool', mode: 0o755, content: Buffer.from('#!/bin/sh\n') },
    { path: 'empty', mode: 0o600, content: new Uint8Array() },
  ];

  it('is an archive of whole words that ends with its trailer', () => {
    const packed = packCpio(entries);
    assert.equal(packed.length % 4, 0);
    assert.equal(packed.toString('latin1', 0, 6), '070701');
    assert.ok(packed.includes('TRAILER!!!\0'));
  });

  it('is unpacked by cpio as it was packed', function () {
    if (spawnSync('cpio', ['--version']).error) {
      console.log('      skipped: there is no cpio here');
      this.skip();
    }
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-cpio-'));
    try {
      const done = spawnSync('cpio', ['-i', '--quiet', '--no-absolute-filenames'], {
        cwd: folder,
        input: packCpio(entries),
      });
      assert.equal(done.status, 0, done.stderr.toString());
      assert.equal(readFileSync(join(folder, 'bin/tool'), 'utf8'), '#!/bin/sh\n');
      assert.equal(statSync(join(folder, 'bin/tool')).mode & 0o777, 0o755);
      assert.equal(statSync(join(folder, 'empty')).size, 0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
