import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { chromium, type Browser, type FrameLocator, type Page } from 'playwright-core';

/**
 * Webviews with a renderer of their own in VS Code's server. They come from hosts below the workbench's own, so that they
 * are of its site and may have a service worker, and Chromium keeps origins apart when it is told to. A host below
 * `localhost` is this machine (RFC 6761).
 */
export const apartArguments = (debugPort: number): readonly string[] => [
  '--enable-features=OriginKeyedProcessesByDefault',
  `--remote-debugging-port=${debugPort}`,
];

export function apartUrl(port: number): string {
  return `http://w.localhost:${port}`;
}

/** Runs in every page before anything else: changes where VS Code takes webviews from, before it reads that. */
export function placeWebviewsApart(): void {
  if (window !== window.top) return;
  new MutationObserver((_, observer) => {
    const meta = document.getElementById('vscode-workbench-web-configuration');
    const settings = meta?.getAttribute('data-settings');
    if (!meta || !settings) return;
    observer.disconnect();
    const endpoint = `"webviewEndpoint":"${location.protocol}//{{uuid}}.${location.host}/`;
    meta.setAttribute('data-settings', settings.replace('"webviewEndpoint":"', endpoint));
  }).observe(document, { childList: true, subtree: true });
}

/**
 * The window as one client of the browser sees it. A client gives a page up when the renderer of one of its frames ends,
 * so that after each `crash` another one looks.
 */
export class Sight {
  readonly browser: Browser;
  readonly page: Page;

  private constructor(browser: Browser, page: Page) {
    this.browser = browser;
    this.page = page;
  }

  static async open(debugPort: number): Promise<Sight> {
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${debugPort}`);
    const pages = browser.contexts().flatMap((context) => context.pages());
    const page = pages.find((each) => each.url().includes('payload='));
    assert.ok(page, 'the window of VS Code');
    return new Sight(browser, page);
  }

  /** Waits for a webview whose content has this selector. */
  async webview(selector: string): Promise<FrameLocator> {
    let found: FrameLocator | undefined;
    await this.waitFor(`a webview with ${selector}`, async () => {
      const frames = this.page.locator('iframe.webview');
      for (let at = (await frames.count()) - 1; at >= 0; at--) {
        found = frames.nth(at).contentFrame().frameLocator('iframe#active-frame');
        if ((await found.locator(selector).count()) > 0) return 1;
      }
      return 0;
    });
    assert.ok(found);
    return found;
  }

  /** Waits until the workbench, whichever page it is on, shows this text. */
  async reads(text: string | RegExp): Promise<void> {
    await this.waitFor(`the text ${String(text)}`, async () =>
      (await this.webview('.workbench')).getByText(text).count(),
    );
  }

  /** Asks until the answer is more than nothing. */
  async waitFor(what: string, count: () => Promise<number>): Promise<void> {
    const end = performance.now() + 60_000;
    while (performance.now() < end) {
      if ((await count().catch(() => 0)) > 0) return;
      await wait(50);
    }
    assert.fail(`Waited in vain for ${what}`);
  }

  /** Ends the renderer of the only webview, and answers with the pids of those that are gone. */
  async crash(): Promise<number[]> {
    const before = await this.#renderers();
    const own = () => this.page.frames().find((each) => /\/\/[0-9a-z]+\.w\.localhost:/.test(each.url()));
    // On a busy machine the page may just be on its way back from a death that was taken for one.
    await this.waitFor('a webview of its own origin', () => Promise.resolve(own() ? 1 : 0));
    const frame = own();
    assert.ok(frame);
    const session = await this.page.context().newCDPSession(frame);
    // The session ends with the renderer, and so does this call.
    await session.send('Page.crash').catch(() => undefined);
    const after = await this.#renderers();
    return before.filter((pid) => !after.includes(pid));
  }

  close(): Promise<void> {
    return this.browser.close();
  }

  async #renderers(): Promise<number[]> {
    const session = await this.browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    await session.detach();
    return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  }
}
