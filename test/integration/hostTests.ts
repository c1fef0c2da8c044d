import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium } from '../support/chromium.ts';
import { copyOfProject, hostBundle, stagedExtension, type HostBundle } from '../support/stagedExtension.ts';
import { startVscodeServer } from '../support/vscodeServer.ts';
import { VscodeWindow } from '../support/vscodeWindow.ts';

interface HostSuite {
  readonly bundle: HostBundle;
  /** A fixture project, or null for an empty folder. */
  readonly project: string | null;
}

/** The suites that run inside the extension host. Desktop VS Code runs the same (desktop.ts). */
export const hostSuites: readonly HostSuite[] = [
  { bundle: 'lazySuite', project: null },
  { bundle: 'projectSuite', project: 'tiny' },
];

type Results = readonly { title: string; error: string | null }[];

/** Runs the suites, and declares each of their tests as one here. */
export async function defineHostTests(): Promise<void> {
  const [extension, browser] = await Promise.all([stagedExtension(), launchChromium()]);
  const server = await startVscodeServer({ hasTrust: false, isTestDriver: true });
  try {
    for (const { bundle, project } of hostSuites) {
      const { folder, remove } = await openFolder(project);
      const options = { folder, extension, tests: await hostBundle(bundle) };
      const window = await VscodeWindow.open(browser, server, options);
      define(bundle, await window.suiteResults().catch((error: unknown) => String(error)));
      await window.close();
      await remove();
    }
  } finally {
    await browser.close();
    await server.stop();
  }
}

function define(name: string, results: Results | string): void {
  describe(`in the extension host: ${name}`, () => {
    it('reports', () => {
      if (typeof results === 'string') assert.fail(results);
      assert.ok(results.length > 0);
    });
    for (const { title, error } of typeof results === 'string' ? [] : results) {
      it(title, () => {
        if (error !== null) assert.fail(error);
      });
    }
  });
}

/** A copy of a fixture project, or an empty folder, with what removes it. */
export async function openFolder(
  project: string | null,
): Promise<{ folder: string; remove: () => Promise<void> }> {
  if (project !== null) return copyOfProject(project);
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-empty-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
