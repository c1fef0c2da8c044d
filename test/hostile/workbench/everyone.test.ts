import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { useShells } from '../../support/useShells.ts';
import {
  answerItem,
  longConversation,
  noticeItem,
  personItem,
  sampleConnections,
  sampleSummary,
  toolItem,
} from '../../support/sampleConversation.ts';
import { themes, type ThemeName } from '../../support/themes.ts';
import { until } from '../../support/until.ts';
import { openWorkbenchShell, type WorkbenchFixture } from '../../support/workbenchShell.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const artifacts = 'test/artifacts/webviews';
const allThemes = Object.keys(themes) as ThemeName[];
const picture = Buffer.from('R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');

describe('The workbench for everyone', () => {
  const shells = useShells({ viewport: { width: 900, height: 860 }, reducedMotion: 'reduce' });
  let page: Page;

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
  });
  beforeEach(async () => {
    page = await shells.context.newPage();
  });

  const open = (fixture: WorkbenchFixture = {}) =>
    openWorkbenchShell(page, shells.shellUrl('workbench'), fixture);
  const box = () => page.getByRole('textbox', { name: 'Message' });
  const acts = (shell: Awaited<ReturnType<typeof open>>) =>
    shell.asked.map(({ method, params }): Record<string, unknown> => ({
      method,
      ...(params as Record<string, unknown>),
    }));

  /** Takes a picture for people and fails with each finding of axe. */
  async function look(name: string): Promise<void> {
    await page.screenshot({ path: `${artifacts}/workbench-${name}.png` });
    await page.evaluate(`${await readFile(axePath, 'utf8')};undefined`);
    const found = await page.evaluate(runAxe);
    assert.equal(found.slice(0, 6).join('\n'), '', `${found.length} findings in ${name}`);
  }

  for (const theme of allThemes) {
    it(`[WB-05] a conversation, its details, suggestions and the list in ${theme}`, async () => {
      const shell = await open({
        theme,
        shown: {
          waiting: 2,
          recent: [
            sampleSummary(),
            sampleSummary({ id: 'c-2', title: 'Why is July empty?', state: 'waiting', questions: 0 }),
            sampleSummary({
              id: 'c-3',
              title: 'Explain this project',
              usage: { inputTokens: 900, outputTokens: 80, cachedTokens: 0, cost: null },
            }),
          ],
        },
        suggestions: [
          { mention: { kind: 'file', path: 'sallyport.json' }, label: 'sallyport.json', detail: 'project' },
          {
            mention: { kind: 'card', card: 'monthly-means' },
            label: 'monthly-means',
            detail: 'Monthly means',
          },
          {
            mention: { kind: 'problem', path: 'main.py', line: 4, text: 'x' },
            label: 'main.py:4',
            detail: 'x is not defined',
          },
        ],
      });
      await page.waitForSelector('.row');
      await look(theme);
      await page.getByRole('log').evaluate((element) => element.scrollTo(0, 0));
      await page.locator('.tool-head').first().click();
      await look(`${theme}-top`);
      await box().fill('Look at @m');
      await page.waitForSelector('[role=option]');
      await look(`${theme}-suggestions`);
      await page.getByRole('button', { name: 'Conversations' }).click();
      await page.getByText('Why is July empty?').waitFor();
      await look(`${theme}-list`);
      assert.deepEqual(shell.consoleErrors, []);
      assert.deepEqual(shell.bad, []);
    });
  }

  it('[WB-05] a narrow side bar', async () => {
    await page.setViewportSize({ width: 300, height: 760 });
    await open({ theme: 'light', shown: { waiting: 1 } });
    await page.waitForSelector('.row');
    await look('narrow');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  });

  it('[WB-05] what is missing has words, a picture and a way on', async () => {
    const none = { conversation: null, items: [] };
    const shell = await open({ shown: { ...none, connections: [] } });
    await page.locator('vscode-button', { hasText: 'Connect a Model' }).click();
    await until(() => shell.asked.length === 1);
    await look('connect');
    assert.equal(await page.locator('textarea').count(), 0);
    for (const [name, shown, words, wayOn] of [
      ['no-project', { projectName: null }, 'No project here', 'New Project'],
      ['untrusted', { trusted: false }, 'Restricted Mode', 'Manage Trust'],
      ['start', {}, 'What shall be done?', undefined],
    ] as const) {
      shell.channel.notify('workbench/state', {
        ...shell.snapshot,
        connections: sampleConnections,
        ...shown,
      });
      await page.getByText(words).waitFor();
      await look(name);
      if (wayOn !== undefined) await page.locator('vscode-button', { hasText: wayOn }).click();
    }
    await page.getByText('Explain this project to me').click();
    await until(async () => (await box().inputValue()) === 'Explain this project to me');
    const acts = shell.asked.map(({ params }) => (params as { act?: string }).act);
    assert.deepEqual(acts, ['connect', 'newProject', 'trust']);
  });

  it('[WB-05] rows of every kind and ending', async () => {
    await open({
      theme: 'light',
      shown: {
        conversation: sampleSummary({ state: 'answering' }),
        items: [
          { kind: 'summary', seq: 1, turn: 1, markdown: '- read **three** files', replacedItems: 12, at: 0 },
          noticeItem(2, { level: 'warning', text: 'The provider is busy. Trying again in 8 s.' }),
          noticeItem(3, {
            level: 'error',
            text: 'The key was not accepted.',
            action: { command: 'sallyport.connectModel', title: 'Change Key' },
          }),
          answerItem(4, 'Half an ans', { ending: 'stopped' }),
          answerItem(5, 'Half an ans', { ending: 'error' }),
          answerItem(6, 'Half an ans', { ending: 'output-limit' }),
          ...(['writing', 'waiting', 'running', 'done', 'failed', 'refused', 'unknown'] as const).map(
            (state, index) => toolItem(7 + index, { state, title: `A call that is ${state}` }),
          ),
          toolItem(20, {
            changes: [
              { changeId: 'u', path: 'a/b.py', kind: 'edit', addedLines: 2, removedLines: 1, undone: true },
            ],
          }),
          answerItem(21, 'Streaming', { turn: 2, ending: 'streaming' }),
        ],
      },
    });
    await page.getByText('12 earlier messages shortened').click();
    await page.getByText('Answering…').waitFor();
    await look('rows');
    for (const word of ['Waits for you', 'Refused', 'Unknown', 'Stopped before its end.', 'Redo Turn']) {
      assert.ok((await page.getByText(word).count()) > 0, word);
    }
  });

  it('[WB-05] is driven with the keyboard alone', async () => {
    const shell = await open({ shown: { waiting: 1 } });
    await page.waitForSelector('.row');
    const reached: string[] = [];
    for (let tabs = 0; tabs < 60; tabs++) {
      await page.keyboard.press('Tab');
      reached.push(
        await page.evaluate(() => {
          const { activeElement } = document;
          return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent ?? '';
        }),
      );
    }
    for (const name of [
      'Conversations',
      'Undo Turn',
      'Diff of cards/compare-years/_card.json',
      'Review',
      'Message',
      'Plan',
      'Model',
      'Send',
    ]) {
      assert.ok(
        reached.some((each) => each.includes(name)),
        `${name} is not reached: ${reached.join(' | ')}`,
      );
    }
    assert.deepEqual(shell.asked, []);
  });

  it('Enter sends, Shift+Enter breaks the line, an input method keeps its Enter', async () => {
    const shell = await open();
    await box().click();
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await box().dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true });
    assert.deepEqual(shell.asked, []);
    await page.keyboard.press('Enter');
    await until(() => shell.asked.length === 1);
    assert.deepEqual(acts(shell)[0], {
      method: 'send',
      id: 'c-1',
      text: 'one\ntwo',
      mentions: [],
      images: [],
    });
    await until(async () => (await box().inputValue()) === '');
    await page.keyboard.press('Enter');
    assert.equal(shell.asked.length, 1);
  });

  it('[WB-06] what could not be sent stays typed, and what is typed outlives the page', async () => {
    await open({
      onSend: () => {
        throw new Error('no engine');
      },
    });
    await box().fill('precious');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    assert.equal(await box().inputValue(), 'precious');
    const state = await page.evaluate(() => window.state);
    await page.close();
    page = await shells.context.newPage();
    await page.addInitScript((kept) => (window.state = kept), state);
    await open();
    await until(async () => (await box().inputValue()) === 'precious');
  });

  it('mentions and commands are chosen from a list with the keyboard', async () => {
    const shell = await open({
      suggestions: [
        { mention: { kind: 'file', path: 'a.py' }, label: 'a.py', detail: '' },
        { mention: { kind: 'card', card: 'means' }, label: 'a means', detail: '' },
      ],
    });
    await box().click();
    await page.keyboard.type('see @a');
    await page.waitForSelector('[role=option]');
    await page.keyboard.press('ArrowDown');
    assert.match((await page.locator('[aria-selected=true]').textContent()) ?? '', /a means/);
    await page.keyboard.press('Enter');
    assert.equal(await box().inputValue(), 'see ');
    await page.getByRole('button', { name: 'Remove means' }).waitFor();
    await page.keyboard.type('now');
    await page.keyboard.press('Enter');
    await until(() => shell.asked.length === 1);
    assert.deepEqual(acts(shell)[0]?.['mentions'], [{ kind: 'card', card: 'means' }]);
    await until(async () => (await box().inputValue()) === '');
    await page.keyboard.type('/pl');
    await page.waitForSelector('[role=option]');
    await page.keyboard.press('Tab');
    await until(() => shell.asked.length === 2);
    assert.deepEqual(acts(shell)[1], { method: 'configure', id: 'c-1', mode: 'plan' });
    await page.keyboard.type('/undo');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await until(() => shell.asked.length === 3);
    assert.equal(acts(shell)[2]?.['act'], 'undoTurn');
    await page.keyboard.type('/unknown/path');
    await page.keyboard.press('Enter');
    await until(() => shell.asked.length === 4);
    assert.equal(acts(shell)[3]?.['text'], '/unknown/path');
  });

  it('pictures are taken from the clipboard, bounded, shown from the page’s own memory and sent', async () => {
    const shell = await open();
    await page.waitForSelector('textarea');
    const paste = (type: string, bytes: number[]) =>
      page.evaluate(
        ({ type, bytes }) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(bytes)], 'shot', { type }));
          const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
          document.querySelector('textarea')?.dispatchEvent(event);
        },
        { type, bytes },
      );
    await paste('image/svg+xml', [60]);
    await page.getByText('Only PNG, JPEG, WebP and GIF').waitFor();
    await paste(
      'image/png',
      Array.from({ length: 1_300_000 }, () => 0),
    );
    await page.getByText('at most 1.2 MB').waitFor();
    await paste('image/gif', [...picture]);
    await page.waitForSelector('.chip-image img');
    assert.match((await page.locator('.chip-image img').getAttribute('src')) ?? '', /^blob:/);
    assert.ok(
      await page
        .locator('.chip-image img')
        .evaluate((image: HTMLImageElement) => image.decode().then(() => true)),
    );
    await page.getByRole('button', { name: 'Send' }).click();
    await until(() => shell.asked.length === 1);
    assert.deepEqual(acts(shell)[0]?.['images'], [
      { mediaType: 'image/gif', base64: picture.toString('base64') },
    ]);
    await until(async () => (await page.locator('.chip-image').count()) === 0);
    assert.deepEqual(shell.consoleErrors, []);
  });

  it('every act of a row names its row', async () => {
    const shell = await open({ shown: { waiting: 1 } });
    await page.waitForSelector('.row');
    for (const name of [
      'Diff of cards/compare-years/_card.json',
      'Undo cards/compare-years/_card.json',
      'Open Run',
      'Undo Turn',
      'Fork from Here',
      'Review',
      'Show',
    ]) {
      await page
        .getByText(name, { exact: true })
        .or(page.getByRole('button', { name, exact: true }))
        .first()
        .click();
    }
    await until(() => shell.asked.length === 7);
    assert.deepEqual(
      acts(shell).map(({ act, seq, value }) => [act, seq, value]),
      [
        ['openDiff', 7, 'x3'],
        ['undoFile', 7, 'x3'],
        ['openRun', 8, 'run-7'],
        ['undoTurn', 9, '1'],
        ['fork', 9, '1'],
        ['review', null, ''],
        ['notice', 1, ''],
      ],
    );
  });

  it('while an answer comes a message is queued and the answer can be stopped', async () => {
    const shell = await open({ shown: { conversation: sampleSummary({ state: 'answering' }) } });
    await box().fill('and then this');
    await page.getByRole('button', { name: 'Queue' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await until(() => shell.asked.length === 2);
    assert.deepEqual(
      shell.asked.map(({ method }) => method),
      ['send', 'stop'],
    );
  });

  it('[WB-04] ten thousand rows: few are in the page, older ones come in place, the end is one press away', async () => {
    const all = longConversation(10_000);
    await open({
      all,
      shown: { conversation: sampleSummary({ items: all.length }), items: all.slice(-200) },
    });
    await page.getByText('Card 3333 reads').waitFor();
    const log = page.getByRole('log');
    const atEnd = () =>
      log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 30);
    assert.ok(await atEnd());
    for (let step = 0; step < 60; step++) {
      await log.evaluate((element) => element.scrollBy(0, -1500));
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
    }
    const first = Number(await page.locator('[data-seq]').first().getAttribute('data-seq'));
    assert.ok(first < 9600, `the first row is ${first}`);
    assert.ok((await page.locator('[data-seq]').count()) <= 120);
    await page.getByRole('button', { name: 'Latest' }).click();
    await until(atEnd);
  });

  it('[WB-04] rows that come and go leave the row that is read where it is', async () => {
    const all = longConversation(400);
    const { channel } = await open({ all, shown: { items: all.slice(-200) } });
    await page.getByText('Card 133 reads').waitFor();
    const log = page.getByRole('log');
    await log.evaluate((element) => element.scrollBy(0, -2500));
    await page.getByRole('button', { name: 'Latest' }).waitFor();
    const placeOf = () =>
      page.evaluate(() => {
        const top = document.querySelector('.rows')?.getBoundingClientRect().top ?? 0;
        const row = [...document.querySelectorAll<HTMLElement>('[data-seq]')].find(
          (each) => each.getBoundingClientRect().bottom > top,
        );
        return { seq: row?.dataset['seq'], top: Math.round(row?.getBoundingClientRect().top ?? 0) };
      });
    const before = await placeOf();
    for (let at = 0; at < 20; at++) {
      channel.notify('workbench/delta', {
        summary: sampleSummary({ state: 'answering' }),
        items: [answerItem(401 + at, `new ${at}`, { turn: 200 })],
        text: null,
      });
    }
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
    assert.deepEqual(await placeOf(), before);
  });

  it('[WB-05] updates leave the focus alone and are said in batches', async () => {
    const { channel } = await open({
      shown: { items: [personItem(1), answerItem(2, 'Half', { ending: 'streaming' })] },
    });
    await box().fill('typing');
    channel.notify('workbench/delta', {
      summary: sampleSummary(),
      items: [answerItem(2, 'The **whole** answer'), toolItem(3, { turn: 2 })],
      text: null,
    });
    await page.waitForFunction(() =>
      [...document.querySelectorAll('[aria-live=polite]')].some((region) =>
        region.textContent.includes('Answer: The **whole** answer. Read cards/monthly-means/main.py: Done'),
      ),
    );
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
    assert.equal(await page.getByRole('log').getAttribute('aria-live'), 'off');
  });

  it('[WB-06] says that it is alive while it is shown, and not while it is hidden', async () => {
    const { counts } = await open();
    await until(() => counts.beats > 3);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    const before = counts.beats;
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 600)));
    assert.ok(counts.beats <= before + 1);
  });
});

/** Runs in the page. */
async function runAxe(): Promise<string[]> {
  interface Axe {
    run(
      context: Document,
      options: object,
    ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
  }
  const { violations } = await (Reflect.get(window, 'axe') as Axe).run(document, {
    resultTypes: ['violations'],
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  );
}
