import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Frame, Page } from 'playwright-core';
import { useShells } from '../../support/useShells.ts';
import { newApp } from '../../../scripts/newApp.mjs';
import { appFrameOf, openAppShell } from '../../support/appShell.ts';
import { boardEngine, notesEngine, samplePage } from '../../support/sampleApps.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { themes, type ThemeName } from '../../support/themes.ts';
import { until } from '../../support/until.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const artifacts = 'test/artifacts/apps';

/** The sample apps as a person uses them, in the real shell, with an engine that is played. */
describe('The sample apps', () => {
  const shells = useShells({ viewport: { width: 1000, height: 640 }, reducedMotion: 'reduce' });

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
  });

  /** Takes a picture for people and fails with each finding of axe, in the shell and in the app. */
  async function look(page: Page, frame: Frame, name: string): Promise<void> {
    await page.screenshot({ path: `${artifacts}/${name}.png` });
    const axe = `${await readFile(axePath, 'utf8')};undefined`;
    for (const where of [page.mainFrame(), frame]) {
      await where.evaluate(axe);
      const found = await where.evaluate(runAxe, where === frame);
      assert.equal(found.slice(0, 6).join('\n'), '', `${found.length} findings in ${name}`);
    }
  }

  const sentence = 'Two walks are planned, one for each day of the weekend.';
  const storedNotes = () =>
    new Map([
      ['notes/a.md', 'Weekend\nA walk by the river on Saturday, another in the hills on Sunday.'],
      ['notes/b.md', 'Shopping\nBread, apples, coffee.'],
    ]);

  for (const theme of Object.keys(themes) as ThemeName[]) {
    it(`notes and board are clean under axe in ${theme}`, async () => {
      const notes = await openAppShell(shells.context, shells.shellUrl('appHost'), {
        html: await samplePage('notes'),
        theme,
        answer: await notesEngine(storedNotes(), sentence),
      });
      const frame = await appFrameOf(notes.page);
      await frame.getByRole('button', { name: 'Sum Up' }).click();
      await frame.getByText('Written by Scripted model').waitFor();
      await look(notes.page, frame, `notes-${theme}`);
      assert.deepEqual(
        notes.problems.filter(({ kind }) => kind !== 'blocked'),
        [],
      );

      const board = await openAppShell(shells.context, shells.shellUrl('appHost'), {
        html: await samplePage('board'),
        theme,
        answer: boardEngine,
      });
      const shown = await appFrameOf(board.page);
      await shown.getByRole('button', { name: /^monthly \(table/ }).click();
      await shown.getByRole('columnheader', { name: /mean/ }).waitFor();
      assert.equal(await shown.getByText('Chart <b>bold</b>').count(), 1);
      await look(board.page, shown, `board-${theme}`);
      assert.deepEqual(
        board.problems.filter(({ kind }) => kind !== 'blocked'),
        [],
      );
    });
  }

  it('notes: write, find, sum up, delete and undo, with the keyboard', async () => {
    const files = storedNotes();
    const { page, passed } = await openAppShell(shells.context, shells.shellUrl('appHost'), {
      html: await samplePage('notes'),
      answer: await notesEngine(files, sentence),
    });
    const frame = await appFrameOf(page);
    await frame.locator('#list li').nth(1).waitFor();
    await frame.getByRole('button', { name: 'New' }).click();
    await page.keyboard.type('Rivers');
    await page.keyboard.press('Tab');
    await page.keyboard.type('The Rhône has its source in a glacier.');
    await frame.getByText('Saved', { exact: true }).waitFor();
    const stored = [...files].find(([, text]) => text.startsWith('Rivers\n'));
    assert.equal(stored?.[1], 'Rivers\nThe Rhône has its source in a glacier.');

    await frame.getByRole('searchbox').fill('rhon');
    await frame.getByText('1 note found').waitFor();
    assert.match(await frame.locator('#list li').innerText(), /^Rivers/);
    await frame.getByRole('searchbox').fill('');
    await until(async () => (await frame.locator('#list li').count()) === 3);
    await frame.getByRole('listbox').focus();
    await page.keyboard.press('ArrowDown');
    assert.equal(await frame.getByLabel('Title').inputValue(), 'Weekend');

    await frame.getByRole('button', { name: 'Sum Up' }).click();
    await frame.getByText(sentence).waitFor();
    await frame.getByRole('button', { name: 'Save As…' }).click();
    await until(() => passed.some(({ method }) => method === 'download.save'));

    await frame.getByRole('button', { name: 'Delete' }).click();
    await until(() => !files.has('notes/a.md'));
    await frame.getByRole('button', { name: 'Undo' }).click();
    await until(() => files.has('notes/a.md'));
  });

  const folder = useTemporaryFolder();
  it('an app from the template opens and talks to its plugin', async () => {
    await newApp('my-app', `${folder()}/my-app`);
    await assert.rejects(newApp('my-app', `${folder()}/my-app`), /is there already/);
    await assert.rejects(newApp('My App', `${folder()}/x`), /is no id of an app/);
    const { page, passed } = await openAppShell(shells.context, shells.shellUrl('appHost'), {
      html: await samplePage('my-app', folder()),
      answer: () => ({ output: 'Hello, Ada! This is greeting 1.' }),
    });
    const frame = await appFrameOf(page);
    await frame.getByLabel('Your name').fill('Ada');
    await page.keyboard.press('Enter');
    await frame.getByText('Hello, Ada! This is greeting 1.').waitFor();
    assert.deepEqual(passed[0]?.params, { plugin: 'hello', function: 'greet', input: { name: 'Ada' } });
  });
});

/** Runs in the page. */
async function runAxe(isApp: boolean): Promise<string[]> {
  interface Found {
    violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[];
  }
  const { axe } = window as unknown as { axe: { run(what: unknown, options: object): Promise<Found> } };
  // Levels A and AA, and what axe calls best practice; a page in a frame needs no landmark of its own.
  const { violations } = await axe.run(document, { iframes: false, rules: { region: { enabled: isApp } } });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary ?? ''}`),
  );
}
