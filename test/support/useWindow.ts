import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { freePort } from './freePort.ts';
import { packExtension } from '../../scripts/package.mjs';
import { copyOfProject, hostBundle, packedExtension, stagedExtension } from './stagedExtension.ts';
import { startVscodeServer, type VscodeServer } from './vscodeServer.ts';
import { VscodeWindow } from './vscodeWindow.ts';
import { apartArguments, apartUrl } from './webviewsApart.ts';

export interface UsedWindow {
  readonly window: VscodeWindow;
  /** The copy of the project that is open. */
  readonly folder: string;
  /** With `webviewsApart`: where the browser takes a second client. */
  readonly debugPort: number;
}

/**
 * One window for all tests of a suite: a server with a fresh data folder, a copy of the project, the staged extension
 * with a bridge, or the installed VSIX without one. Evidence is kept for every test that fails.
 */
export function useWindow(
  project: string,
  options: {
    readonly hasTrust?: boolean;
    readonly isInstalled?: boolean;
    /** Each webview in a renderer of its own (webviewsApart.ts). */
    readonly webviewsApart?: boolean;
    /** Makes of the staged extension the one that is loaded or installed. */
    readonly prepare?: (staged: string) => Promise<string>;
  } = {},
): () => UsedWindow {
  let used: UsedWindow | undefined;
  let server: VscodeServer | undefined;
  let browser: Browser | undefined;
  let removeProject: (() => Promise<void>) | undefined;
  const bridgeFile = join(tmpdir(), `sallyport-bridge-${randomUUID()}.json`);

  before(async function () {
    this.timeout(240_000);
    const copy = await copyOfProject(project);
    removeProject = copy.remove;
    const webviewsApart = options.webviewsApart ?? false;
    const debugPort = webviewsApart ? await freePort() : 0;
    browser = await launchChromium(webviewsApart ? apartArguments(debugPort) : []);
    if (options.isInstalled) {
      const prepared = await options.prepare?.(await stagedExtension());
      const { vsixPath } = await (prepared === undefined
        ? packedExtension()
        : packExtension(prepared, `${prepared}.vsix`));
      server = await startVscodeServer(
        { hasTrust: options.hasTrust ?? false, isTestDriver: false },
        vsixPath,
      );
      used = {
        window: await VscodeWindow.open(browser, server, { folder: copy.folder }),
        folder: copy.folder,
        debugPort,
      };
      return;
    }
    const [staged, tests] = await Promise.all([stagedExtension(), hostBundle('bridge')]);
    const extension = (await options.prepare?.(staged)) ?? staged;
    server = await startVscodeServer({
      hasTrust: options.hasTrust ?? false,
      isTestDriver: true,
      env: { SALLYPORT_TEST_BRIDGE: bridgeFile },
    });
    const seen = webviewsApart ? { ...server, url: apartUrl(server.port) } : server;
    const window = await VscodeWindow.open(browser, seen, {
      webviewsApart,
      folder: copy.folder,
      extension,
      tests,
      bridgeFile,
    });
    used = { window, folder: copy.folder, debugPort };
  });

  afterEach(async function () {
    const { currentTest } = this;
    if (currentTest?.state !== 'failed' || !used) return;
    const { window } = used;
    await window.keepEvidence(currentTest.fullTitle().replace(/[^A-Za-z0-9]+/g, '-'));
    Object.assign(currentTest, { evidence: await window.shown() });
  });

  after(async function () {
    this.timeout(60_000);
    await browser?.close();
    await server?.stop();
    await removeProject?.();
    rmSync(bridgeFile, { force: true });
  });

  return () => {
    if (!used) throw new Error('the window is not open yet');
    return used;
  };
}
