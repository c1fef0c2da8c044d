import type { BrowserContext, Page } from 'playwright-core';
import { VirtualAuthenticator, type VirtualCredential } from './virtualAuthenticator.ts';

/** The tabs that Sallyport opens for presence, and the one authenticator of their person. */
export class PersonBrowser {
  readonly #context: BrowserContext;
  #credentials: readonly VirtualCredential[] = [];

  constructor(context: BrowserContext) {
    this.#context = context;
  }

  /** Waits for the page that `start` makes VS Code open. */
  async opened(start: () => Promise<unknown>): Promise<Page> {
    const opening = this.#context.waitForEvent('page', { timeout: 60_000 });
    await start();
    const page = await opening;
    await page.waitForLoadState();
    await page.getByRole('button').waitFor();
    return page;
  }

  /** Presses the page's button with the authenticator at hand. What the page said is the answer. */
  async confirm(page: Page): Promise<string> {
    const authenticator = await VirtualAuthenticator.of(page, this.#credentials);
    const said = await page.locator('main').innerText();
    // The page closes itself, and its authenticator goes with it: what it made and counted is needed afterwards.
    await page.evaluate(() => (window.close = () => undefined));
    await page.getByRole('button').click();
    await page.getByText('Done.').waitFor();
    this.#credentials = await authenticator.credentials();
    await page.close();
    return said;
  }
}
