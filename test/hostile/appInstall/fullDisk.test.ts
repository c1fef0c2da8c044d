import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeApp } from '../../support/appFolder.ts';
import { openApps } from '../../support/appsHarness.ts';
import { rawZip } from '../../support/rawZip.ts';
import { mountSmallDisk } from '../../support/smallDisk.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('taking an app in on a full disk', () => {
  const folder = useTemporaryFolder();

  it('[APPS-08] says so, and keeps the version that is there', async function () {
    mkdirSync(join(folder(), 'home', 'apps'), { recursive: true });
    const unmount = mountSmallDisk(join(folder(), 'home', 'apps', 'blobs'));
    if (!unmount) return this.skip();
    try {
      const apps = openApps(folder());
      try {
        const source = { kind: 'folder' as const, path: writeApp(join(folder(), 'app')) };
        await apps.add(source);
        writeFileSync(join(source.path, 'large.bin'), randomBytes(2 * 1024 * 1024));
        await assert.rejects(apps.stage(source), { code: 'disk-full' });
        const path = join(folder(), 'large.zip');
        writeFileSync(
          path,
          rawZip([
            { name: 'app.json', content: '{}' },
            { name: 'large.bin', content: randomBytes(2 * 1024 * 1024) },
          ]),
        );
        await assert.rejects(apps.stage({ kind: 'zip', path }), { code: 'disk-full' });
        assert.deepEqual(apps.records.stages(), []);
        const { tree } = apps.apps.library.open('notes');
        await tree.verify();
      } finally {
        await apps.close();
      }
    } finally {
      unmount();
    }
  });
});
