import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FrameLocator } from 'playwright-core';
import { createZip } from '../../language-server/src/apps/zipWriter.ts';
import { Canary } from '../hostile/agent/canary.ts';
import { AppsWindow, entriesOf, withAppTools, withOneMoreHost } from '../support/appsWindow.ts';
import { makeRepository, openGitServer, type GitServer } from '../support/gitServer.ts';
import { chatCompletionsFormat } from '../support/providers/chatCompletions.ts';
import { held, ScriptedModel } from '../support/scriptedModel.ts';
import { useWindow } from '../support/useWindow.ts';
import type { VscodeWindow } from '../support/vscodeWindow.ts';
import { axe } from '../support/windowAxe.ts';

const samples = join(import.meta.dirname, '../../test-fixtures/apps');
const out = join(import.meta.dirname, '../../out/integration');

describe('apps', () => {
  const model = new ScriptedModel(chatCompletionsFormat);
  const canary = new Canary();
  const notes = entriesOf(join(samples, 'notes'));
  let folder = '';
  let git: GitServer;
  let certificate = '';
  let modelAddress = '';
  let backup = '';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-apps-'));
    git = await openGitServer(folder);
    certificate = readFileSync(git.environment['GIT_SSL_CAINFO'] ?? '', 'utf8');
    makeRepository(folder, 'notes.git', notes);
    modelAddress = await model.server.start('/v1');
    backup = join(folder, 'kept', 'notes.sallyport-app');
    mkdirSync(join(folder, 'kept'));
  });
  after(async () => {
    await model.server.stop();
    await git.close();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('on one machine', () => {
    const used = useWindow('tiny', {
      prepare: (staged) => withAppTools(staged, join(out, 'appsExtension'), certificate),
    });
    let apps: AppsWindow;
    before(() => {
      apps = new AppsWindow(used().window);
    });

    it('[APPUI-08] [APPUI-01] come from a git repository; all of it is shown before anything runs', async () => {
      const { window } = used();
      await apps.open();
      await window.screenshot('apps-empty');
      await apps.stage('Git repository', `${git.base}/notes.git`);
      const lines = await apps.review('Install Notes 1.0.0');
      await window.screenshot('apps-review');
      for (const line of [
        /Notes 1\.0\.0.*not by Sallyport’s maintainers/s,
        /127\.0\.0\.1:[0-9]+\/notes\.git/,
        /Commit [0-9a-f]{40}/,
        /Ask a connected model for text/,
        /Store up to 16 MB/,
      ])
        assert.ok(
          lines.some((each) => line.test(each)),
          `${line.source} in ${lines.join('\n')}`,
        );
      const review = await window.host('activeText');
      assert.equal(review?.scheme, 'sallyport-report');
      for (const part of ['What its page may do', 'Plugin search', 'What an answer is bound to'])
        assert.ok(review.text.includes(part), part);
      assert.equal(await apps.row(/^Notes/).count(), 0);
      await window.page.keyboard.press('Enter');
      assert.ok(await apps.bench.quick.isVisible(), 'Enter on a line that tells answers nothing');
      await apps.answer('Install Notes 1.0.0');
      await apps.notice(/Notes 1\.0\.0 is installed/);
      await apps.row(/^Notes, 1\.0\.0/).waitFor();
      assert.ok(!(await window.host('tabs')).some((label) => label.startsWith('Review of')));
    });

    it('[APPUI-12] open as a tab that looks like VS Code, store, and ask their plugin', async () => {
      const { window } = used();
      await window.host('closeAll');
      await apps.press(/^Notes/, 'Open App');
      const app = await apps.app();
      await hands.write(app, 'Groceries', 'Milk, bread and two lemons for Saturday.');
      await hands.write(app, 'Greenhouse', 'The tomatoes need water every second day.');
      await hands.find(app, 'tomatoes', 'Greenhouse');
      assert.deepEqual(await window.host('tabs'), ['Notes']);
      assert.deepEqual(await axe(await apps.shell()), []);
    });

    it('[APPUI-12] get an answer of a model, and never its key', async () => {
      const { window } = used();
      await apps.palette('Sallyport: Connect a Model');
      await apps.bench.line('OpenAI-compatible API').click();
      await apps.bench.enter(/Base address/, modelAddress);
      await apps.bench.enter(/Key for http:/, canary.value);
      await apps.notice(/is connected/);
      model.will({ text: ['Tomatoes want water ', 'every second day.'] });
      const app = await apps.app();
      await hands.find(app, '', 'Greenhouse');
      await app.getByRole('option', { name: /^Greenhouse/ }).click();
      await app.getByRole('button', { name: 'Sum Up' }).click();
      await app.getByText('Tomatoes want water every second day.').waitFor();
      await app.getByText(/^Written by/).waitFor();
      const request = model.lastRequest;
      assert.equal(request?.headers.authorization, `Bearer ${canary.value}`);
      assert.match(request.text, /every second day/);
      await assertNoKeyIn(canary, window);
      await apps.row(/^Notes/).click();
      await window.screenshot('apps-notes');
    });

    it('[APPUI-15] show an answer while it comes, and stop it', async () => {
      const { window } = used();
      const end = held();
      const { cancelled } = model.server;
      model.will({ text: ['Buy bread ', 'and milk'], holdEnd: end.until });
      try {
        const app = await apps.app();
        await hands.find(app, '', 'Groceries');
        await app.getByRole('option', { name: /^Groceries/ }).click();
        await app.getByRole('button', { name: 'Sum Up' }).click();
        await app.getByText('Buy bread and milk', { exact: true }).waitFor();
        await app.getByText('Writing…').waitFor();
        await assertNoKeyIn(canary, window);
        assert.equal(model.server.cancelled, cancelled, 'the answer is under way');
        await app.getByRole('button', { name: 'Stop' }).click();
        await app.getByText('Not finished').waitFor();
        await window.until('the provider to be let go', async () => model.server.cancelled === cancelled + 1);
        assert.equal(await app.getByText('Buy bread and milk', { exact: true }).count(), 1);
      } finally {
        end.release();
      }
      model.will({ text: ['Bread, milk, ', 'lemons.'] });
      const app = await apps.app();
      await app.getByRole('button', { name: 'Sum Up' }).click();
      await app.getByText('Bread, milk, lemons.').waitFor();
      await app.getByText(/^Written by/).waitFor();
    });

    for (const [kind, theme] of [
      ['dark', 'Default Dark Modern'],
      ['high-contrast', 'Default High Contrast'],
      ['light', 'Default Light Modern'],
    ] as const) {
      it(`[APPUI-13] follow a ${kind} theme while they are open`, async () => {
        const { window } = used();
        await window.host('setting', { section: 'workbench', name: 'colorTheme', value: theme });
        const ground = (of: FrameLocator) =>
          of.locator('body').evaluate(
            (body) => {
              const root = getComputedStyle(body.ownerDocument.documentElement);
              return root.getPropertyValue('--vscode-editor-background');
            },
            undefined,
            { timeout: 2000 },
          );
        await window.until('the same ground in the app', async () => {
          const shell = await window.webview(`.vscode-${kind} .app-bar`);
          const [outside, inside] = [await ground(shell), await ground(shell.frameLocator('iframe'))];
          return outside !== '' && outside === inside;
        });
        await window.screenshot(`apps-notes-${kind}`);
        assert.deepEqual(await axe(await apps.shell()), []);
      });
    }

    it('[APPUI-06] [APPUI-02] go on while a wider update waits, of which only the difference is shown', async () => {
      const { window } = used();
      const wider = withOneMoreHost(notes, { plugin: 'search', host: 'words.example.org', version: '1.1.0' });
      makeRepository(folder, 'notes.git', wider);
      await apps.press(/^Notes/, 'Open App');
      await apps.palette('Sallyport: Check for App Updates');
      const said = await apps.notice(/waits for your review/);
      assert.match(said, /The installed version goes on working/);
      await apps.row(/^Notes, 1\.0\.0 · update waits/).waitFor();
      await window.until('a badge', async () =>
        /1/.test(
          await window.page
            .getByRole('tab', { name: /^Sallyport/ })
            .first()
            .innerText(),
        ),
      );
      const app = await apps.app();
      await hands.write(app, 'Still here', 'The old version works.');
      await hands.find(app, 'lemons', 'Groceries');
      await apps.press(/^Notes/, 'Review Waiting Update');
      const lines = await apps.review('Reach words.example.org over the network');
      await window.screenshot('apps-update');
      assert.ok(lines.some((line) => line.includes('Notes 1.0.0 → 1.1.0')));
      assert.ok(!lines.some((line) => line.includes('Ask a connected model')), lines.join('\n'));
      await apps.bench.line(/Show what stays as it is/).click();
      await apps.bench.line('Ask a connected model for text').waitFor();
      await apps.answer('Decide later');
      await apps.row(/^Notes, 1\.0\.0 · update waits/).waitFor();
      assert.equal(await apps.row(/^Notes, 1\.1\.0/).count(), 0);
    });

    it('[APPUI-06] [APPUI-05] take the update when a person says so, with what they had stored', async () => {
      await apps.press(/^Notes/, 'Review Waiting Update');
      await apps.review('Update to 1.1.0');
      await apps.answer('Update to 1.1.0');
      await apps.notice(/Notes 1\.1\.0 is installed/);
      await apps.row(/^Notes, 1\.1\.0/).waitFor();
      await apps.press(/^Notes/, 'Open App');
      const shell = await apps.shell();
      await shell.getByText('Another version is installed.').waitFor();
      await shell.getByRole('button', { name: 'Reload App' }).click();
      await (await apps.app()).getByRole('option', { name: /^Groceries/ }).waitFor();
      await apps.palette('Sallyport: Check for App Updates');
      await apps.notice(/Notes has no update/);
    });

    it('[APPUI-09] work without a plugin that was switched off, and with it again', async () => {
      const { window } = used();
      await unfold(apps, /^Notes/, /^Plugin search, on/);
      await window.screenshot('apps-tree');
      await apps.press(/^Plugin search, on/, 'Switch Plugin Off');
      await apps.notice(/The plugin search of Notes is off/);
      await apps.row(/^Plugin search, off/).waitFor();
      await apps.press(/^Notes/, 'Open App');
      const app = await apps.app();
      await hands.search(app, 'milk');
      await app.getByText('Search is switched off.').waitFor();
      await apps.press(/^Plugin search, off/, 'Switch Plugin On');
      await apps.notice(/The plugin search of Notes is on/);
      await hands.find(app, 'lemons', 'Groceries');
      await hands.find(app, '', 'Greenhouse');
    });

    it('[APPUI-11] are exported with their data, without a key, to a file for one person', async () => {
      await apps.palette('Sallyport: Export App');
      await apps.bench.line('Notes').click();
      await apps.chooseFile(backup, 'OK');
      const said = await apps.notice(/Notes with its data is in/);
      assert.match(said, /no key/);
      assert.equal(statSync(backup).mode & 0o777, 0o600);
      assert.deepEqual(canary.in(readFileSync(backup)), []);
    });

    it('[APPUI-10] are deleted with sizes shown, and brought back', async () => {
      const { window } = used();
      await apps.palette('Sallyport: Delete App');
      await apps.bench.line('Notes').click();
      await apps.bench.quick.getByText('Delete Notes with its data?').waitFor();
      await window.screenshot('apps-delete');
      assert.match(await apps.bench.line('Delete Notes').innerText(), /KB of code, .*KB of data/);
      await apps.bench.line('Delete Notes').click();
      await apps.notice(/Notes and its data were deleted/, 'Undo');
      await apps.row(/^Notes, 1\.1\.0/).waitFor();
      await apps.notice(/Notes and its data are back/, 'Open App');
      await (await apps.app()).getByRole('option', { name: /^Groceries/ }).waitFor();
      await apps.palette('Sallyport: Delete App');
      await apps.bench.line('Notes').click();
      await apps.bench.line('Delete Notes').click();
      await window.until('the tab to go', async () => !(await window.host('tabs')).includes('Notes'));
      await apps.row(/^Deleted \(1\)/).waitFor();
      assert.equal(await apps.row(/^Notes/).count(), 0);
      await window.clearNotifications();
    });

    it('[APPUI-05] keep nothing of an app that a person turned away, from a folder or an archive', async () => {
      const { window } = used();
      await apps.stage('Folder', `${join(samples, 'board')}/`);
      await apps.review('Read the results of the latest run of each open project');
      await window.page.keyboard.press('Escape');
      await apps.notice(/Board was not installed\. Nothing of it was kept/);
      const archive = join(folder, 'board.zip');
      const zip = await createZip(archive, new Date());
      for (const entry of entriesOf(join(samples, 'board')))
        await zip.add(entry.path, Buffer.from(entry.content));
      await zip.finish();
      await apps.stage('Zip archive', archive);
      await apps.review('Install Board 1.0.0');
      await apps.answer('Don’t install');
      await apps.notice(/Board was not installed/);
      assert.equal(await apps.row(/^Board/).count(), 0);
    });

    it('[APPUI-08] say what is wrong with what is no app, and leave what was there', async () => {
      await apps.stage('Folder', `${used().folder}/`);
      await apps.notice(/app\.json/);
      await apps.stage('Git repository', `${git.base}/nothing.git`);
      await apps.notice(/there is no such repository/);
      await apps.row(/^Deleted \(1\)/).waitFor();
    });

    it('[APPUI-14] are reviewed and installed with the keyboard alone', async () => {
      const { window } = used();
      const { keyboard } = window.page;
      await apps.palette('Sallyport: Install App');
      await apps.bench.line(/^Folder/).waitFor();
      await keyboard.press('ArrowDown');
      await keyboard.press('Enter');
      const take = apps.bench.quick.getByRole('button', { name: 'Review This Folder' });
      const input = apps.bench.quick.locator('input.input').first();
      const board = `${join(samples, 'board')}/`;
      await take.waitFor();
      await window.until('the dialog to take the path', async () => {
        if (!(await take.isVisible())) return true;
        // The dialog puts a path of its own in when it has read its first folder.
        if ((await input.inputValue()) === board) await keyboard.press('Enter');
        else {
          await keyboard.press('Control+A');
          await keyboard.type(board);
        }
        return false;
      });
      await apps.bench.line('Don’t install').waitFor();
      const chosen = apps.bench.quick.locator('.monaco-list-row.focused');
      for (let steps = 0; steps < 20; steps++) {
        if ((await chosen.allInnerTexts()).some((text) => text.trim().startsWith('Install Board'))) break;
        await keyboard.press('ArrowDown');
      }
      await keyboard.press('Enter');
      await apps.notice(/Board 1\.0\.0 is installed/);
      await apps.palette('Sallyport: Run Project');
      await window.row('Cards', /^Hello, done/).waitFor();
      await apps.palette('Sallyport: Open App');
      await apps.bench.line('Board').waitFor();
      await keyboard.press('Enter');
      await (await apps.app()).getByText('Hello').first().waitFor();
      await window.screenshot('apps-board');
    });

    it('[NEWAPP-05] [MAN-18] begin with New App, which opens, can be undone, and leads to its review', async () => {
      const { window, folder: project } = used();
      const own = join(project, 'apps', 'greeter');
      const begin = async (): Promise<void> => {
        await apps.palette('Sallyport: New App');
        await apps.bench.enter(/Name of the app/, 'Greeter');
        await apps.bench.quick.getByText(/Id of the app/).waitFor();
        await window.screenshot('apps-new');
        await apps.bench.enter(/Id of the app/, 'greeter');
        await apps.bench.line(/^A page and a plugin/).click();
        await apps.bench.line(/^TypeScript/).click();
        await apps.bench.line(/^In /).click();
      };
      await begin();
      await window.until('the files', async () => existsSync(join(own, 'app.json')));
      await window.until('the editors', async () => (await window.host('tabs')).includes('README.md'));
      assert.ok(existsSync(join(own, 'plugins/hello/index.js')));
      const { text } = (await window.host('activeText')) ?? {};
      assert.match(text ?? '', /"id": "greeter"/);
      await window.clearNotifications();

      await window.host('command', { command: 'workbench.action.focusFirstEditorGroup' });
      await window.page.keyboard.press('Control+z');
      await window.until('no file to be left', async () => filesOf(own).length === 0);

      await window.host('closeAll');
      await begin();
      const manifest = join(own, 'app.json');
      await window.until('the files again', async () => existsSync(manifest));
      const written = readFileSync(manifest, 'utf8');
      await window.until('what it asks for', async () =>
        (await window.host('lenses', { path: manifest })).includes('Asks for: Store up to 1 MB'),
      );
      writeFileSync(manifest, written.replace('0.1.0', '0.1'));
      await window.until('the mistake to be named', async () =>
        (await window.host('diagnostics', { path: manifest })).some(({ message }) =>
          message.includes('“0.1” is not a version of an app'),
        ),
      );
      assert.ok(await window.host('fix', { path: manifest, title: 'Change to “0.1.0”' }));
      assert.equal(readFileSync(manifest, 'utf8'), written);

      await apps.notice(/Greeter is written to/, 'Install App');
      await apps.review('Install Greeter 0.1.0');
      await window.screenshot('apps-new-review');
      await apps.answer('Install Greeter 0.1.0');
      await apps.notice(/Greeter 0\.1\.0 is installed/, 'Open App');
      const app = await apps.app();
      await app.getByLabel('Your name').fill('Ada');
      await app.getByRole('button', { name: 'Say Hello' }).click();
      await app.getByText('Hello, Ada! This is greeting 1.').waitFor();

      await begin();
      await apps.notice(/has files already, and nothing was written/);
      await apps.bench.line(/^Choose a folder/).waitFor();
      await window.page.keyboard.press('Escape');
    });
  });

  describe('on another machine', () => {
    const used = useWindow('tiny', {
      prepare: (staged) => withAppTools(staged, join(out, 'otherAppsExtension'), certificate),
    });

    it('[APPUI-11] come from a backup with their data, after a review of what is inside', async () => {
      const { window } = used();
      const apps = new AppsWindow(window);
      await apps.open();
      await apps.palette('Sallyport: Import App Backup');
      await apps.chooseFile(backup, 'Review This File');
      const lines = await apps.review('Install Notes 1.1.0');
      await window.screenshot('apps-import');
      assert.ok(
        lines.some((line) => /Brings .* of data with it/.test(line)),
        lines.join('\n'),
      );
      assert.ok(lines.some((line) => line.includes('not by Sallyport’s maintainers')));
      assert.deepEqual(dataOf(window.server.dataDir), []);
      await apps.answer('Install Notes 1.1.0');
      await apps.notice(/Notes 1\.1\.0 is installed/, 'Open App');
      const app = await apps.app();
      await app.getByRole('option', { name: /^Groceries/ }).click();
      assert.match(await app.getByLabel('Text of the note').inputValue(), /two lemons for Saturday/);
      await hands.find(app, 'tomatoes', 'Greenhouse');
      const home = join(window.server.dataDir, 'data/User/globalStorage/sallyport.sallyport');
      assert.deepEqual(canary.below(home), []);
    });
  });
});

/** No frame of the window has the key of the model. */
async function assertNoKeyIn(canary: Canary, window: VscodeWindow): Promise<void> {
  for (const frame of window.page.frames()) {
    const text = await frame.content().catch(() => '');
    assert.deepEqual(canary.in(text), [], frame.url());
  }
}

/** The files below a folder that may not be there. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name);
}

/** What apps have stored in a window's home. */
function dataOf(dataDir: string): string[] {
  const data = join(dataDir, 'data/User/globalStorage/sallyport.sallyport/apps/data');
  return existsSync(data) ? readdirSync(data) : [];
}

/** Opens a line of the tree until the other one shows. */
async function unfold(apps: AppsWindow, line: RegExp, wanted: RegExp): Promise<void> {
  await apps.window.until('the line below', async () => {
    if (await apps.row(wanted).isVisible()) return true;
    await apps.row(line).click();
    await apps
      .row(wanted)
      .waitFor({ timeout: 2000 })
      .catch(() => undefined);
    return apps.row(wanted).isVisible();
  });
}

/** What a person does in the sample `notes`. */
const hands = {
  /** An app gets the keyboard where a person pressed in it, and not before. */
  search: async (app: FrameLocator, query: string): Promise<void> => {
    await app.getByRole('searchbox').click();
    await app.getByRole('searchbox').fill(query);
  },
  write: async (app: FrameLocator, title: string, text: string): Promise<void> => {
    await app.getByRole('button', { name: 'New' }).click();
    await app.getByLabel('Title').fill(title);
    await app.getByLabel('Text of the note').fill(text);
    await app.getByText('Saved', { exact: true }).waitFor();
  },
  find: async (app: FrameLocator, query: string, title: string): Promise<void> => {
    await hands.search(app, query);
    if (query !== '') await app.getByText('1 note found').waitFor();
    await app.getByRole('option', { name: new RegExp(`^${title}`) }).waitFor();
  },
};
