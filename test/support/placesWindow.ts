import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { copyFile, cp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Locator } from 'playwright-core';
import { openVmFolder } from '../../language-server/src/runners/vm/vmFolder.ts';
import { bundledRunner } from './bundledRunner.ts';
import { until } from './until.ts';
import type { VscodeWindow } from './vscodeWindow.ts';

const run = promisify(execFile);

/** A card's end in one run, as the command line's history tells it. */
export interface CardEnd {
  readonly id: string;
  readonly status: { readonly state: string; readonly place?: string; readonly cached: boolean };
  readonly outputs: readonly { readonly port: string; readonly artifact: { readonly digest: string } }[];
}

/** What a person does with places in a window, and what they find on the disk afterwards. */
export class PlacesWindow {
  readonly window: VscodeWindow;
  readonly folder: string;
  readonly #cli: string;

  constructor(window: VscodeWindow, folder: string, extension: string) {
    this.window = window;
    this.folder = folder;
    this.#cli = join(extension, 'dist', 'cli.mjs');
  }

  /** Sallyport's state in this window's server. */
  get home(): string {
    return join(this.window.server.dataDir, 'data', 'User', 'globalStorage', 'sallyport.sallyport');
  }

  get quick(): Locator {
    return this.window.page.locator('.quick-input-widget');
  }

  line(text: string | RegExp): Locator {
    return this.quick.locator('.monaco-list-row').filter({ hasText: text }).first();
  }

  async enter(prompt: string | RegExp, text: string): Promise<void> {
    await this.quick.getByText(prompt).first().waitFor();
    await this.quick.locator('input.input').first().fill(text);
    await this.window.page.keyboard.press('Enter');
  }

  /** Gives the Places view the room of the others. */
  async showPlaces(): Promise<void> {
    await this.#expand({ Places: true, Workbench: false, Runs: false, Cards: false });
  }

  async showCards(): Promise<void> {
    await this.#expand({ Cards: true });
  }

  async #expand(wanted: Readonly<Record<string, boolean>>): Promise<void> {
    for (const [name, isWanted] of Object.entries(wanted)) {
      const header = this.window.pane(name).locator('.pane-header');
      await this.window.until(`the view ${name}`, async () => {
        if (((await header.getAttribute('aria-expanded')) === 'true') === isWanted) return true;
        await header.click();
        return false;
      });
    }
  }

  /** Runs a command of the palette. A tab that has just been opened takes the focus when it is ready: then once more. */
  async palette(title: string): Promise<void> {
    const input = this.quick.locator('input.input').first();
    await this.window.until(`the palette with ${title}`, async () => {
      await this.window.page.keyboard.press('F1');
      await input.fill(`>${title}`, { timeout: 5000 });
      await this.line(title).waitFor({ timeout: 5000 });
      await this.line(title).click({ timeout: 5000 });
      return true;
    });
  }

  row(spoken: RegExp): Locator {
    return this.window.row('Places', spoken).first();
  }

  /** Answers the question that stops everything else; gives its text. */
  async modal(button: string): Promise<string> {
    const dialog = this.window.page.locator('.monaco-dialog-box');
    await dialog.waitFor({ timeout: 60_000 });
    const text = await dialog.innerText();
    await dialog.getByRole('button', { name: button, exact: true }).click();
    return text;
  }

  /** Writes the place into the manifests on the disk, as another editor would. */
  moveCards(ids: readonly string[], place: string): void {
    for (const id of ids) {
      const path = join(this.folder, 'cards', id, '_card.json');
      const manifest = JSON.parse(readFileSync(path, 'utf8')) as { permissions?: object };
      delete manifest.permissions;
      const moved = { ...manifest, ...(place !== 'local' && { permissions: { executionService: place } }) };
      writeFileSync(path, `${JSON.stringify(moved, null, 2)}\n`);
    }
  }

  /** Accepts in the review what waits for running cards in this place. */
  async accept(place: string, count: number): Promise<void> {
    const { window } = this;
    await window.until(
      `${count} blocked cards`,
      async () => (await window.row('Cards', /blocked/).count()) === count,
    );
    await this.palette('Sallyport: Review Permissions');
    const lines = this.quick
      .locator('.monaco-list-row')
      .filter({ hasText: `Run on ${place}` })
      .filter({ hasText: 'asked for' });
    await window.until('the review', async () => (await lines.count()) === count);
    for (let at = 0; at < count; at++) await lines.nth(at).click();
    await this.quick.getByRole('button', { name: 'OK' }).click();
    await window.until('no blocked card', async () => (await window.row('Cards', /blocked/).count()) === 0);
  }

  /** Runs the card of one line of the Cards view. */
  async runCard(spoken: RegExp): Promise<void> {
    const row = this.window.row('Cards', spoken);
    await this.window.until('the chosen card', async () => {
      await row.click();
      return (await row.getAttribute('aria-selected')) === 'true';
    });
    await this.palette('Sallyport: Run Card');
  }

  async closeEditors(): Promise<void> {
    await this.palette('View: Close All Editors');
    await this.quick.waitFor({ state: 'hidden' });
  }

  async clearNotifications(): Promise<void> {
    await this.palette('Notifications: Clear All Notifications');
    await this.quick.waitFor({ state: 'hidden' });
  }

  /** Ends the engine as a crash would; settles when there is another. */
  async killEngine(): Promise<void> {
    const engines = () =>
      processesWith(join(this.window.server.dataDir, 'extensions')).filter((pid) =>
        commandOf(pid).includes('engine.mjs'),
      );
    const killed = engines();
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await this.window.until('another engine', async () =>
      Promise.resolve(engines().some((pid) => !killed.includes(pid))),
    );
  }

  /** The runs, newest first. Read from the store: asking the command line each time would hold up what is waited for. */
  runs(): readonly { runId: string; state: string }[] {
    const store = new DatabaseSync(join(this.home, 'sallyport.sqlite'), { readOnly: true });
    try {
      const rows = store.prepare('select id, state from runs order by seq desc').all();
      return rows.map(({ id, state }) => ({ runId: String(id), state: String(state) }));
    } finally {
      store.close();
    }
  }

  async cardEnds(runId: string): Promise<readonly CardEnd[]> {
    return ((await this.#history(runId)) as { cards: CardEnd[] }).cards;
  }

  /** Runs everything anew and waits for the end; gives the run's id. */
  async runAll(limitMs = 60_000, meanwhile?: () => Promise<void>): Promise<string> {
    const before = this.runs()[0]?.runId;
    await this.palette('Sallyport: Run Without Cache');
    await meanwhile?.();
    return this.window.until(
      'the end of the run',
      async () => {
        const [newest] = this.runs();
        const hasEnded = newest && newest.runId !== before && newest.state !== 'running';
        return Promise.resolve(hasEnded && newest.runId);
      },
      limitMs,
    );
  }

  async #history(runId: string): Promise<unknown> {
    const { stdout } = await run(process.execPath, [this.#cli, 'history', this.folder, runId, '--json'], {
      env: { ...process.env, SALLYPORT_HOME: this.home },
      maxBuffer: 16 * 1024 * 1024,
    });
    return JSON.parse(stdout);
  }

  /** Puts an image of VMs that was built before into this window's home. */
  useVmImage(cache: string): void {
    const { image } = openVmFolder(this.home);
    symlinkSync(openVmFolder(cache).image, image);
  }
}

/**
 * A copy of the staged extension whose engine has a home folder of the test's for what is read of OpenSSH, and whose
 * `ssh` reads the configuration there (OpenSSH itself asks the system who the user is). Nothing in what is shipped can
 * do that. Its runner is the one that tests build, so that an image of VMs is built once for all of them.
 */
export async function withOwnSsh(staged: string, folder: string, home: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await cp(staged, folder, { recursive: true });
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  const config = join(home, '.ssh', 'config');
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F '${config}' "$@"\n`);
  chmodSync(join(bin, 'ssh'), 0o755);
  const dist = join(folder, 'dist');
  await copyFile(bundledRunner(), join(dist, 'remote-agent.cjs'));
  await rename(join(dist, 'engine.mjs'), join(dist, 'shippedEngine.mjs'));
  await writeFile(
    join(dist, 'engine.mjs'),
    `process.env.HOME = ${JSON.stringify(home)};
process.env.PATH = ${JSON.stringify(bin)} + ':' + process.env.PATH;
delete process.env.SSH_AUTH_SOCK;
await import('./shippedEngine.mjs');
`,
  );
  return folder;
}

/** A worker as whoever keeps one starts it: the command line's own words, in a process of its own. */
export class KeptWorker {
  readonly #words: (command: string, ...more: string[]) => string[];
  #child: ChildProcess | undefined;
  #said = '';

  constructor(cli: string, home: string) {
    this.#words = (command, ...more) => [cli, 'worker', command, ...more, '--home', home];
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, this.#words('serve', '--listen', '127.0.0.1:0'), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => (this.#said += chunk.toString()));
    await until(() => /listens at/.test(this.#said) || child.exitCode !== null);
  }

  /** One line that is good once. */
  async invite(): Promise<string> {
    const port = /:([0-9]+)\s*$/m.exec(this.#said)?.[1] ?? '';
    const { stdout } = await run(process.execPath, this.#words('invite', '--address', `127.0.0.1:${port}`));
    return stdout.trim();
  }

  async members(): Promise<string> {
    return (await run(process.execPath, this.#words('list'))).stdout;
  }

  stop(): void {
    this.#child?.kill('SIGTERM');
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The processes in whose words this stands, apart from this one. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) && pid !== process.pid && commandOf(pid).includes(text) ? [pid] : [];
  });
}

/** Ends the processes that were started with a path below this folder in their words: runners, VMs. */
export function endProcessesOf(folder: string): void {
  for (const pid of processesWith(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}
