import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { FrameLocator, Locator } from 'playwright-core';
import type { RepositoryEntry } from './gitServer.ts';
import type { VscodeWindow } from './vscodeWindow.ts';
import { WorkbenchWindow } from './workbenchWindow.ts';

/** What a person does with apps in a window. */
export class AppsWindow {
  readonly window: VscodeWindow;
  readonly bench: WorkbenchWindow;

  constructor(window: VscodeWindow) {
    this.window = window;
    this.bench = new WorkbenchWindow(window);
  }

  /** Opens the Apps view, and waits until the project is there. */
  async open(): Promise<void> {
    const { window } = this;
    await window.openSideBar();
    await window
      .row('Cards', /not run|blocked/)
      .first()
      .waitFor({ timeout: 60_000 });
    await window.host('command', { command: 'workbench.action.closeAuxiliaryBar' });
    await window.host('command', { command: 'sallyport.apps.focus' });
  }

  /** A line of the Apps view. */
  row(spoken: RegExp): Locator {
    return this.window.row('Apps', spoken);
  }

  /** Presses a button at a line. */
  async press(spoken: RegExp, button: string): Promise<void> {
    const row = this.row(spoken);
    await row.hover();
    await row.getByRole('button', { name: button }).click();
  }

  /** Runs a command of the palette, from the side bar: keys that are pressed in an app stay there. */
  async palette(title: string): Promise<void> {
    const { window } = this;
    const { keyboard } = window.page;
    const input = this.bench.quick.locator('input.input').first();
    const line = this.bench.line(title);
    await window.until('the palette', async () => {
      // A tab that has just been opened takes the focus when it is ready, and that closes the palette.
      await window.host('command', { command: 'sallyport.apps.focus' });
      await keyboard.press('F1');
      await input.fill(`>${title}`, { timeout: 5000 });
      await line.waitFor({ timeout: 5000 });
      return true;
    });
    await keyboard.press('Enter');
  }

  /** Install App up to the review: a kind of source, then its address or path. */
  async stage(
    kind: 'Git repository' | 'Folder' | 'Zip archive' | 'Backup of an app',
    where: string,
  ): Promise<void> {
    await this.palette('Sallyport: Install App');
    await this.bench.line(new RegExp(`^${kind}`)).click();
    if (kind === 'Git repository') await this.bench.enter(/Address of the git repository/, where);
    else await this.chooseFile(where, kind === 'Folder' ? 'Review This Folder' : 'Review This File');
  }

  /** Fills VS Code's own dialog for files in and takes it. */
  async chooseFile(path: string, button: string): Promise<void> {
    const { quick } = this.bench;
    const take = quick.getByRole('button', { name: button, exact: true });
    const input = quick.locator('input.input').first();
    await take.waitFor();
    await this.window.until('the dialog to take the path', async () => {
      if (!(await take.isVisible())) return true;
      // The dialog puts a path of its own in when it has read its first folder, and takes nothing before it has read ours.
      if ((await input.inputValue()) === path) await take.click({ timeout: 1000 }).catch(() => undefined);
      else await input.fill(path);
      return false;
    });
  }

  /** The lines of the review that is open, once it has this one. */
  async review(line: string | RegExp): Promise<string[]> {
    await this.bench.line(line).waitFor();
    return this.bench.quick.locator('.monaco-list-row').allInnerTexts();
  }

  /** Gives one of the answers at the end of the review. */
  async answer(label: string): Promise<void> {
    await this.bench.quick.locator('input.input').first().fill(label);
    await this.bench.line(label).click();
    await this.bench.quick.waitFor({ state: 'hidden' });
  }

  /** Reads a notification, and presses a button of it, which may lead to the next one; else clears them all. */
  async notice(text: RegExp, button?: string): Promise<string> {
    const { window } = this;
    const center = window.page.locator('.notifications-center');
    const item = center.locator('.notification-list-item').filter({ hasText: text }).first();
    const said = await window.until(`a notification ${text.source}`, async () => {
      // The list may still be closing after the one before.
      if (!(await center.isVisible())) await window.host('command', { command: 'notifications.showList' });
      await item.waitFor({ timeout: 2000 }).catch(() => undefined);
      return (await item.isVisible()) && (await item.innerText());
    });
    await window.page.mouse.move(700, 500);
    if (button === undefined) await window.clearNotifications();
    else await item.getByRole('button', { name: button }).click();
    return said;
  }

  /** The shell around the app whose tab is in front. */
  shell(): Promise<FrameLocator> {
    return this.window.webview('.app-bar');
  }

  /** The app's own page. */
  async app(): Promise<FrameLocator> {
    return (await this.shell()).frameLocator('iframe');
  }
}

/**
 * A copy of the staged extension that trusts one more certificate when it fetches repositories, and beside whose engine
 * the compiler of apps lies, as after the first app that needed it. Nothing in what is shipped can do that.
 */
export async function withAppTools(staged: string, folder: string, certificate: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await cp(staged, folder, { recursive: true });
  const dist = join(folder, 'dist');
  await copyFile(
    createRequire(import.meta.url).resolve('esbuild-wasm/esbuild.wasm'),
    join(dist, 'esbuild.wasm'),
  );
  const job = join(dist, 'git-job.cjs');
  const trust = `{ const { env } = process; env.SALLYPORT_PARAMS = JSON.stringify({ ...JSON.parse(env.SALLYPORT_PARAMS), ca: ${JSON.stringify(certificate)} }); }\n`;
  await writeFile(job, trust + (await readFile(job, 'utf8')));
  return folder;
}

/** The files of a folder as entries of a repository. */
export function entriesOf(folder: string): RepositoryEntry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path: path.slice(folder.length + 1), content: readFileSync(path, 'utf8') }));
}

/** The same app in a higher version whose plugin asks for one more host. */
export function withOneMoreHost(
  entries: readonly RepositoryEntry[],
  { plugin, host, version }: { readonly plugin: string; readonly host: string; readonly version: string },
): RepositoryEntry[] {
  return entries.map((entry) => {
    if (entry.path === 'app.json') {
      const manifest = JSON.parse(entry.content) as object;
      return { ...entry, content: JSON.stringify({ ...manifest, appVersion: version }) };
    }
    if (entry.path !== `plugins/${plugin}/plugin.json`) return entry;
    const manifest = JSON.parse(entry.content) as { permissions?: { network?: string[] } };
    const network = [...(manifest.permissions?.network ?? []), host];
    return {
      ...entry,
      content: JSON.stringify({ ...manifest, permissions: { ...manifest.permissions, network } }),
    };
  });
}
