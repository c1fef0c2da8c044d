import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostBundle, stagedExtension } from '../support/stagedExtension.ts';
import { startVscodeServer } from '../support/vscodeServer.ts';
import { launchChromium, VscodeWindow } from '../support/vscodeWindow.ts';

/** Each test of the suite inside the extension host is a test here. */
export async function defineLazyTests(): Promise<void> {
  const results = await runLazySuite();
  describe('in the extension host', () => {
    it('the suite reported', () => assert.ok(results.length > 0));
    for (const { title, error } of results) {
      it(title, () => {
        if (error !== null) assert.fail(error);
      });
    }
  });
}

async function runLazySuite(): Promise<readonly { title: string; error: string | null }[]> {
  const [extension, tests, browser, folder] = await Promise.all([
    stagedExtension(),
    hostBundle('lazySuite'),
    launchChromium(),
    mkdtemp(join(tmpdir(), 'sallyport-empty-')),
  ]);
  const server = await startVscodeServer({ hasTrust: false, isTestDriver: true });
  try {
    const window = await VscodeWindow.open(browser, server, { folder, extension, tests });
    return await window.suiteResults();
  } finally {
    await browser.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
