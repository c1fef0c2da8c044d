import type { FrameLocator, Locator } from 'playwright-core';
import type { VscodeWindow } from './vscodeWindow.ts';

/** What a person does with the agent in a window: the workbench and VS Code's own lists. */
export class WorkbenchWindow {
  readonly window: VscodeWindow;

  constructor(window: VscodeWindow) {
    this.window = window;
  }

  /** The native list or box that is open. */
  get quick(): Locator {
    return this.window.page.locator('.quick-input-widget');
  }

  /** A line of the native list, as it is spoken. */
  line(text: string | RegExp): Locator {
    return this.quick.locator('.monaco-list-row').filter({ hasText: text }).first();
  }

  /**
   * Runs a command of the palette and takes one line after the other of the lists that come. VS Code closes a list that
   * loses the focus, as to a window that is still coming back after it was loaded again: then from the beginning.
   */
  async choose(command: string, lines: readonly string[]): Promise<void> {
    await this.window.until(`${command}: ${lines.join(', ')}`, async () => {
      await this.window.palette(command);
      for (const each of lines) {
        const isTaken = await this.line(each)
          .click({ timeout: 10_000 })
          .then(() => true)
          .catch(() => false);
        if (!isTaken) return false;
      }
      return true;
    });
  }

  /** Types into the native box and takes it. */
  async enter(prompt: string | RegExp, text: string): Promise<void> {
    await this.quick.getByText(prompt).first().waitFor();
    await this.quick.locator('input.input').first().fill(text);
    await this.window.page.keyboard.press('Enter');
  }

  /** The page of the workbench, wherever it is shown. */
  page(selector = '.composer textarea'): Promise<FrameLocator> {
    return this.window.webview(selector);
  }

  /** Writes a message and sends it with Enter. */
  async send(text: string): Promise<void> {
    const area = (await this.page()).locator('.composer textarea');
    await area.click();
    await area.fill(text);
    await area.press('Enter');
  }

  /** Waits until the conversation is idle again, and answers with its rows as text. */
  async idle(): Promise<string[]> {
    const page = await this.page();
    await page.locator('.head-state', { hasText: /^$/ }).waitFor({ state: 'attached' });
    return page.locator('.row').allInnerTexts();
  }

  /** The row of a tool call by its title. */
  async tool(title: string | RegExp): Promise<Locator> {
    return (await this.page()).locator('.tool').filter({ hasText: title }).last();
  }

  /** Opens what waits from its notification, where it is not open already, and waits for the act with this title. */
  async review(title: string | RegExp): Promise<void> {
    const { page } = this.window;
    const center = page.locator('.notifications-center');
    const button = center
      .locator('.notification-list-item')
      .filter({ hasText: /waits? for your decision/ })
      .getByRole('button', { name: 'Review' })
      .first();
    await this.window.until(`an act that waits: ${String(title)}`, async () => {
      if (await this.line(title).isVisible()) return true;
      // A review that goes on with what came meanwhile announces nothing.
      if (await this.quick.isVisible()) return false;
      if (!(await center.isVisible())) await page.locator('[id="status.notifications"] a').click();
      await page.mouse.move(700, 500);
      if (await button.isVisible()) await button.click({ timeout: 2000 });
      return false;
    });
  }

  /** The answers that the open act offers, from its end. */
  async answers(): Promise<string[]> {
    const input = this.quick.locator('input.input').first();
    await input.fill('Decline');
    await this.line('Decline').waitFor();
    const offered = await this.quick.locator('.monaco-list-row').allInnerTexts();
    await input.fill('');
    return offered;
  }

  /** Answers the act that is open; reads its whole text first where that is needed. */
  async answer(label: string): Promise<void> {
    const input = this.quick.locator('input.input').first();
    // The list shows only the lines that fit; typing brings the answers into view.
    await input.fill('Decline');
    await this.line('Decline').waitFor();
    if ((await this.line('needed before you can allow').count()) > 0) {
      await this.line('Open whole text').click();
      await this.line('Allow once').waitFor();
    }
    await this.line(label).click();
    await this.quick.waitFor({ state: 'hidden' });
  }
}
