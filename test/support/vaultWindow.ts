import type { Locator } from 'playwright-core';
import type { VscodeWindow } from './vscodeWindow.ts';

/** What a person does with the vault in a window. */
export class VaultWindow {
  readonly window: VscodeWindow;

  constructor(window: VscodeWindow) {
    this.window = window;
  }

  /** The native list or box that is open. */
  get quick(): Locator {
    return this.window.page.locator('.quick-input-widget');
  }

  /** Opens the view, which is collapsed at first, and gives it room. */
  async show(): Promise<void> {
    await this.window.pane('Vault').locator('.pane-header').waitFor();
    await this.window.until('the Vault view', async () => {
      for (const [name, isWanted] of [
        // In this order it gets the room of the others.
        ['Vault', true],
        ['Workbench', false],
        ['Runs', false],
      ] as const) {
        const header = this.window.pane(name).locator('.pane-header');
        if (((await header.getAttribute('aria-expanded')) === 'true') !== isWanted) await header.click();
      }
      return this.row(/^Personal vault/).isVisible();
    });
  }

  /** Answers VS Code's box for a file's path. */
  async path(path: string): Promise<void> {
    const input = this.quick.locator('input.input').first();
    await this.window.until('the box for a path', async () => (await input.inputValue()).startsWith('/'));
    // The list of what is there comes a moment later, and an answer before it counts for nothing.
    await this.window.until('the path to be taken', async () => {
      const shown = await input.inputValue();
      if (!shown.startsWith('/')) return true;
      if (shown !== path) await input.fill(path);
      else await this.quick.getByRole('button', { name: 'OK' }).click({ timeout: 2000 });
      return false;
    });
  }

  /** What the terminal shows: it is drawn, so its text is taken as a person takes it, by copying. */
  async terminalText(): Promise<string> {
    const { page } = this.window;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await this.window.palette('Terminal: Select All');
    await this.window.palette('Terminal: Copy Selection');
    await this.quick.waitFor({ state: 'hidden' });
    return page.evaluate(() => navigator.clipboard.readText());
  }

  /** Chooses a colour theme by its name. */
  async theme(name: string): Promise<void> {
    await this.window.page.keyboard.press('F1');
    await this.quick.locator('input.input').first().fill('>Preferences: Color Theme');
    await this.line(/^Preferences: Color Theme/).click();
    await this.line('Light Modern').waitFor();
    await this.quick.locator('input.input').first().fill(name);
    await this.line(name).click();
    await this.quick.waitFor({ state: 'hidden' });
  }

  async clearNotifications(): Promise<void> {
    await this.window.palette('Notifications: Clear All Notifications');
    await this.quick.waitFor({ state: 'hidden' });
  }

  row(spoken: RegExp): Locator {
    return this.window.row('Vault', spoken).first();
  }

  line(text: string | RegExp): Locator {
    return this.quick.locator('.monaco-list-row').filter({ hasText: text }).first();
  }

  /** Types into the box with this prompt and takes it. */
  async enter(prompt: string | RegExp, text: string): Promise<void> {
    await this.quick.getByText(prompt).first().waitFor();
    await this.quick.locator('input.input').first().fill(text);
    await this.window.page.keyboard.press('Enter');
  }

  /** The question that stops everything else. */
  async dialog(text: RegExp): Promise<Locator> {
    const found = this.window.page.locator('.monaco-dialog-box').filter({ hasText: text });
    await found.waitFor();
    return found;
  }

  async press(button: string): Promise<void> {
    await this.window.page.locator('.monaco-dialog-box').getByRole('button', { name: button }).click();
  }

  /** How often a text stands in the page: its markup, its texts and the values of its fields, frames included. */
  async occurrences(text: string): Promise<number> {
    let count = 0;
    for (const frame of this.window.page.frames()) {
      const all = await frame
        .evaluate(() => [
          document.documentElement.outerHTML,
          document.documentElement.innerText,
          ...[...document.querySelectorAll('input, textarea')].map(
            (each) => (each as HTMLInputElement).value,
          ),
        ])
        .catch(() => []);
      count += all.filter((each) => each.includes(text)).length;
    }
    return count;
  }
}
