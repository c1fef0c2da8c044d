import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { resultMark } from '../integration/host/resultMark.ts';
import type { Steps } from '../integration/host/steps.ts';
import type { VscodeServer } from './vscodeServer.ts';
import { placeWebviewsApart } from './webviewsApart.ts';

export const artifacts = join(import.meta.dirname, '../artifacts/vscode');

/** How long a person would wait; generous, since tests share a machine. */
const actionTimeoutMs = 45_000;

export interface WindowOptions {
  readonly folder?: string;
  /** A staged extension that is loaded from its folder; left out where one is installed. */
  readonly extension?: string;
  /** A bundle of test/integration/host whose `run` the extension host calls. */
  readonly tests?: string;
  /** The file in which a bridge leaves its address. */
  readonly bridgeFile?: string;
  /**
   * Gives each webview an origin and a renderer of its own, as desktop VS Code does. It needs `apartArguments` and a
   * server that is addressed by `apartUrl`. Policies of the page are not applied then.
   */
  readonly webviewsApart?: boolean;
}

type StepArgs<S extends keyof Steps> = Parameters<Steps[S]> extends [infer A] ? [A] : [];

/** A VS Code window in a page: what a person does there, and the bridge to its extension host. */
export class VscodeWindow {
  readonly page: Page;
  readonly server: VscodeServer;
  readonly #options: WindowOptions;
  readonly #log: string[] = [];
  readonly #results: { title: string; error: string | null }[] = [];
  #exit: ((code: number) => void) | undefined;
  readonly #exited = new Promise<number>((resolve) => (this.#exit = resolve));
  #bridge: { port: number; token: string } | undefined;

  private constructor(page: Page, server: VscodeServer, options: WindowOptions) {
    this.page = page;
    this.server = server;
    this.#options = options;
  }

  /** Opens a window and waits until the workbench is there. */
  static async open(browser: Browser, server: VscodeServer, options: WindowOptions): Promise<VscodeWindow> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      bypassCSP: options.webviewsApart ?? false,
    });
    if (options.webviewsApart) await context.addInitScript(placeWebviewsApart);
    const page = await context.newPage();
    page.setDefaultTimeout(actionTimeoutMs);
    const window = new VscodeWindow(page, server, options);
    await window.#listen();
    if (options.bridgeFile !== undefined) rmSync(options.bridgeFile, { force: true });
    await page.goto(window.#address());
    await page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
    return window;
  }

  /** Loads the page again, as a person does, and finds the new extension host. */
  async reload(): Promise<void> {
    this.#bridge = undefined;
    if (this.#options.bridgeFile !== undefined) rmSync(this.#options.bridgeFile, { force: true });
    await this.page.reload();
    await this.page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** Waits for the suite inside the extension host; its results in order. */
  async suiteResults(): Promise<readonly { title: string; error: string | null }[]> {
    const timeout = AbortSignal.timeout(120_000);
    await Promise.race([
      this.#exited,
      new Promise((_resolve, reject) =>
        timeout.addEventListener('abort', () => reject(new Error(`The suite did not end.\n${this.log()}`))),
      ),
    ]);
    return this.#results;
  }

  /** Does a named step in the extension host. */
  async host<S extends keyof Steps>(step: S, ...args: StepArgs<S>): Promise<Awaited<ReturnType<Steps[S]>>> {
    const { port, token } = await this.#findBridge();
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ step, args: args[0] }),
    });
    const answer = (await response.json()) as { value?: unknown; error?: string };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value as Awaited<ReturnType<Steps[S]>>;
  }

  /**
   * Runs a command of the palette by its title, with the keyboard. VS Code closes the palette where something else takes
   * the focus just then: it is opened again.
   */
  async palette(title: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input.input').first();
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    await this.until(`${title} in the palette`, async () => {
      await this.page.keyboard.press('F1');
      try {
        await input.waitFor({ timeout: 10_000 });
        await input.fill(`>${title}`, { timeout: 10_000 });
        await row.waitFor({ timeout: 10_000 });
        return true;
      } catch {
        return false;
      }
    });
    await this.page.keyboard.press('Enter');
  }

  /** Shows the Sallyport side bar. */
  async openSideBar(): Promise<void> {
    const tab = this.page.getByRole('tab', { name: /^Sallyport/ }).first();
    await tab.waitFor({ timeout: 60_000 });
    const cards = this.pane('Cards');
    await this.until('the side bar', async () => {
      if (await cards.isVisible()) return true;
      // A window that comes back may open it by itself just now, and the press would close it: hence the loop.
      await tab.click();
      await cards.waitFor({ timeout: 5000 }).catch(() => undefined);
      return cards.isVisible();
    });
  }

  pane(name: string): Locator {
    return this.page
      .locator('.pane')
      .filter({ has: this.page.locator(`.pane-header[aria-label^="${name}"]`) });
  }

  /** A line of a tree, found by what a screen reader says of it. */
  row(pane: string, spoken: RegExp): Locator {
    return this.pane(pane).getByRole('treeitem', { name: spoken });
  }

  /** Presses a button of a view's title. */
  async titleAction(pane: string, name: string): Promise<void> {
    await this.pane(pane).locator('.pane-header').hover();
    await this.pane(pane).locator('.pane-header').getByRole('button', { name }).click();
  }

  /** A notification in the opened list of them; toasts are not shown to a page that is driven. */
  async notification(text: RegExp | string): Promise<Locator> {
    const center = this.page.locator('.notifications-center');
    const bell = this.page.locator('[id="status.notifications"] a');
    await bell.waitFor();
    if (!(await center.isVisible())) await bell.click();
    await center.waitFor();
    // The bell's own hover would lie over the buttons.
    await this.page.mouse.move(700, 500);
    const found = center.locator('.notification-list-item').filter({ hasText: text }).first();
    await found.waitFor();
    return found;
  }

  /** Leaves no notification and closes their list. */
  async clearNotifications(): Promise<void> {
    await this.host('command', { command: 'notifications.clearAll' });
    await this.host('command', { command: 'notifications.hideList' });
  }

  statusBar(): Locator {
    return this.page.locator('.statusbar-item[id^="sallyport.sallyport"]');
  }

  /** The content of the newest webview whose page has this selector. */
  async webview(selector: string): Promise<FrameLocator> {
    return this.until(`a webview with ${selector}`, async () => {
      const frames = this.page.locator('iframe.webview');
      for (let at = (await frames.count()) - 1; at >= 0; at--) {
        const frame = frames.nth(at).contentFrame().frameLocator('iframe#active-frame');
        if (
          (await frame
            .locator(selector)
            .count()
            .catch(() => 0)) > 0
        )
          return frame;
      }
      return undefined;
    });
  }

  /** Waits until `find` gives a value; fails with the log after `timeoutMs`. */
  async until<T>(
    what: string,
    find: () => Promise<T | undefined | false | null>,
    timeoutMs = actionTimeoutMs,
  ): Promise<T> {
    const end = performance.now() + timeoutMs;
    let last: unknown;
    while (performance.now() < end) {
      try {
        const found = await find();
        if (found !== undefined && found !== false && found !== null) return found;
      } catch (error) {
        last = error;
      }
      await this.page.waitForTimeout(50);
    }
    assert.fail(`Waited in vain for ${what}${last instanceof Error ? `: ${last.message}` : ''}`);
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(artifacts, { recursive: true });
    await this.page.screenshot({ path: join(artifacts, `${name}.png`) });
  }

  /** Leaves what helps to understand a failure under test/artifacts/. */
  async keepEvidence(name: string): Promise<void> {
    await this.screenshot(name).catch(() => undefined);
    writeFileSync(join(artifacts, `${name}.page.log`), this.log());
    writeFileSync(join(artifacts, `${name}.server.log`), this.server.log());
  }

  /** What the window shows, in a few lines of text. */
  async shown(): Promise<readonly string[]> {
    const parts = {
      rows: '.pane [role=treeitem]',
      dialogs: '.monaco-dialog-box, .quick-input-widget:visible',
      notifications: '.notification-list-item',
    };
    const lines = Object.entries(parts).map(async ([what, selector]) => {
      const texts = await this.page
        .locator(selector)
        .evaluateAll((found) =>
          found.map((each) => each.getAttribute('aria-label') ?? (each as HTMLElement).innerText),
        );
      return `${what}: ${texts.map((text) => text.replace(/\s+/g, ' ').slice(0, 120)).join(' | ')}`.slice(
        0,
        1200,
      );
    });
    return Promise.all(lines).catch((error: unknown) => [String(error)]);
  }

  log(): string {
    return this.#log.join('\n');
  }

  async #listen(): Promise<void> {
    const { page } = this;
    page.on('console', (message) => this.#log.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.#log.push(`page error: ${error.message}`));
    page.on('crash', () => this.#log.push('the page crashed'));
    await page.exposeFunction('codeAutomationLog', (type: string, args: unknown[]) => {
      const text = args.map(String).join(' ');
      this.#log.push(`host ${type}: ${text}`);
      const at = text.indexOf(resultMark);
      if (at >= 0)
        this.#results.push(
          JSON.parse(text.slice(at + resultMark.length)) as { title: string; error: string | null },
        );
    });
    await page.exposeFunction('codeAutomationExit', (code: number) => this.#exit?.(code));
  }

  #address(): string {
    const { folder, extension, tests } = this.#options;
    const { host } = new URL(this.server.url);
    const remote = (path: string) => `vscode-remote://${host}${path}`;
    const payload = [
      ['skipWelcome', 'true'],
      ...(extension === undefined ? [] : [['extensionDevelopmentPath', remote(extension)]]),
      ...(tests === undefined ? [] : [['extensionTestsPath', remote(tests)]]),
    ];
    const query = new URLSearchParams({ payload: JSON.stringify(payload) });
    if (folder !== undefined) query.set('folder', folder);
    else query.set('ew', 'true');
    return `${this.server.url}/?${query.toString()}`;
  }

  async #findBridge(): Promise<{ port: number; token: string }> {
    const file = this.#options.bridgeFile;
    assert.ok(file, 'this window has no bridge');
    this.#bridge ??= await this.until(
      'the bridge',
      async () =>
        existsSync(file)
          ? (JSON.parse(readFileSync(file, 'utf8')) as { port: number; token: string })
          : undefined,
      60_000,
    );
    return this.#bridge;
  }
}
