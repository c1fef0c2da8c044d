import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { writeApp } from '../../support/appFolder.ts';
import { openApps } from '../../support/appsHarness.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

const script = join(import.meta.dirname, '../../support/crashInstall.ts');
const mostChanges = 200;

describe('installing, killed at each change', () => {
  const folder = useTemporaryFolder();

  it('[APPS-10] leaves the old version with its data or the new one with its own', async function () {
    this.timeout(180_000);
    const backup = join(folder(), 'new.backup');
    const origin = join(folder(), 'origin');
    await prepare(origin, backup);
    const seen = new Set<string>();
    let isOver = false;
    // Two at a time: each is a process of its own.
    for (let number = 1; !isOver; number += 2) {
      assert.ok(number < mostChanges, 'it never ended');
      const both = await Promise.all([number, number + 1].map((each) => crashAt(each, origin, backup)));
      for (const { version, ended } of both) {
        seen.add(version);
        isOver ||= ended;
      }
    }
    assert.deepEqual([...seen].sort(), ['1.0.0', '2.0.0'], 'both ends were seen');
  });

  async function crashAt(
    number: number,
    origin: string,
    backup: string,
  ): Promise<{ version: string; ended: boolean }> {
    const at = join(folder(), `run-${number}`);
    cpSync(origin, at, { recursive: true });
    const ended = await run([script, at, backup, String(number)]);
    const after = openApps(at);
    try {
      const { app, tree, rights } = after.apps.library.open('notes');
      const data = Buffer.from(after.storage.get('notes', 'data')?.bytes ?? []).toString();
      assert.equal(data, app.appVersion, `change ${number}: the data is that of the version`);
      assert.equal(tree.read('index.html').toString(), app.appVersion);
      await tree.verify();
      assert.equal(rights.app.length, app.appVersion === '1.0.0' ? 1 : 2);
      assert.ok(after.blobs.has(app.page.digest), `change ${number}: the page is there`);
      assert.deepEqual(after.records.restores(), []);
      return { version: app.appVersion, ended };
    } finally {
      await after.close();
    }
  }
});

async function prepare(origin: string, backup: string): Promise<void> {
  const apps = openApps(origin);
  const source = { kind: 'folder' as const, path: join(origin, 'app') };
  const never = new AbortController().signal;
  const put = (text: string) => apps.storage.put('notes', 'data', Buffer.from(text), 1000);
  writeApp(
    source.path,
    { appVersion: '2.0.0', permissions: { storageMB: 1, generate: ['text'] } },
    { 'index.html': '2.0.0' },
  );
  await apps.add(source);
  put('2.0.0');
  await apps.apps.handlers['app/export']({ app: 'notes', path: backup, progressId: 'p' }, never);
  writeApp(source.path, { appVersion: '1.0.0', permissions: { storageMB: 1 } }, { 'index.html': '1.0.0' });
  await apps.add(source);
  put('1.0.0');
  await apps.close();
}

/** True where the program came to its end. */
function run(args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let problems = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (problems += chunk.toString()));
    child.once('error', reject);
    child.once('close', (_, signal) => {
      if (signal === 'SIGKILL') resolve(false);
      else if (out === 'done') resolve(true);
      else reject(new Error(problems));
    });
  });
}
