import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { useShells } from '../../support/useShells.ts';
import { openCanvasShell } from '../../support/canvasShell.ts';
import { openRunShell, type RunFixture } from '../../support/runShell.ts';
import {
  sampleCard,
  sampleCardRun,
  sampleOutput,
  sampleProject,
  sampleRun,
  sampleStatus,
} from '../../support/sampleViews.ts';
import { themes, type ThemeName } from '../../support/themes.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const artifacts = 'test/artifacts/webviews';
const allThemes = Object.keys(themes) as ThemeName[];

describe('Canvas and run view for everyone', () => {
  // axe is put into the page by the debugger: no policy of the shell is loosened for it.
  const shells = useShells({ viewport: { width: 1280, height: 760 }, reducedMotion: 'reduce' });
  let page: Page;

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
  });
  beforeEach(async () => {
    page = await shells.context.newPage();
  });

  /** Takes a picture for people and fails with each finding of axe. */
  async function look(name: string): Promise<void> {
    await page.screenshot({ path: `${artifacts}/${name}.png` });
    await page.evaluate(`${await readFile(axePath, 'utf8')};undefined`);
    const found = await page.evaluate(runAxe);
    assert.equal(found.slice(0, 6).join('\n'), '', `${found.length} findings in ${name}`);
  }

  for (const theme of allThemes) {
    it(`[VIEW-06] the canvas in ${theme}`, async () => {
      const shell = await openCanvasShell(page, shells.shellUrl('canvas'), {
        cards: sampleProject(),
        run: sampleRun(),
        theme,
      });
      await page.waitForSelector('.card');
      await look(`canvas-${theme}`);
      await page.locator('[data-card=chart]').click();
      await page.waitForSelector('[role=menu]');
      await look(`canvas-menu-${theme}`);
      await page.keyboard.press('Escape');
      await page.locator('vscode-button', { hasText: 'Show as List' }).click();
      await page.waitForSelector('.list');
      await look(`canvas-list-${theme}`);
      assert.deepEqual(shell.consoleErrors, []);
      assert.deepEqual(shell.bad, []);
    });

    it(`[VIEW-06] the run view in ${theme}`, async () => {
      const fixture = await runFixture();
      const shell = await openRunShell(page, shells.shellUrl('run'), { ...fixture, theme });
      await page.waitForFunction(() => document.querySelector('.sealed [role=status]')?.textContent === '');
      await look(`run-chart-${theme}`);
      await page.locator('.output', { hasText: 'table' }).click();
      await page.waitForSelector('.table [role=cell]');
      await look(`run-table-${theme}`);
      await page.locator('.output', { hasText: 'html' }).click();
      await look(`run-page-${theme}`);
      await page.locator('[data-tab=details]').click();
      await page.waitForSelector('.details li');
      await look(`run-details-${theme}`);
      await page.locator('[role=option]', { hasText: 'Outliers' }).click();
      await page.locator('[data-tab=log]').click();
      await page.waitForSelector('.log .line-err');
      await look(`run-log-${theme}`);
      assert.deepEqual(shell.bad, []);
    });
  }

  it('[VIEW-06] empty, untrusted and narrow', async () => {
    await openCanvasShell(page, shells.shellUrl('canvas'), { cards: [], trusted: false });
    await page.getByText('This project has no cards yet.').waitFor();
    await look('canvas-empty');
    await page.close();
    page = await shells.context.newPage();
    await page.setViewportSize({ width: 420, height: 700 });
    const { channel } = await openRunShell(page, shells.shellUrl('run'), await runFixture());
    await page.waitForSelector('.sealed-box iframe', { state: 'attached' });
    await look('run-narrow');
    channel.notify('run/message', { text: 'Nothing of seattle-weather has run yet.' });
    await page.getByText('has run yet').waitFor();
    await look('run-empty');
  });

  it('[VIEW-06] the graph is walked, opened and zoomed with keys alone', async () => {
    const { asked } = await openCanvasShell(page, shells.shellUrl('canvas'), { cards: sampleProject() });
    await page.waitForSelector('.card');
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset['card']);
    for (let tabs = 0; tabs < 12 && (await focused()) === undefined; tabs++) await page.keyboard.press('Tab');
    assert.equal(await focused(), 'load-weather');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(
      () => (document.activeElement as HTMLElement).dataset['card'] !== 'load-weather',
    );
    const first = await focused();
    assert.ok(first === 'monthly-means' || first === 'outliers');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(
      () => (document.activeElement as HTMLElement).dataset['card'] === 'load-weather',
    );
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=menu]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.deepEqual(asked, ['openResult load-weather']);
    assert.equal(await focused(), 'load-weather');
    const zoom = () =>
      page.evaluate(() => document.querySelector('.react-flow__viewport')?.getAttribute('style'));
    const before = await zoom();
    await page.keyboard.press('-');
    await page.waitForFunction(
      (known) => document.querySelector('.react-flow__viewport')?.getAttribute('style') !== known,
      before,
    );
  });

  it('[VIEW-06] changes of state are announced, many at once as a count', async () => {
    const cards = Array.from({ length: 40 }, (_, index) => sampleCard(`card-${index}`));
    const { channel } = await openCanvasShell(page, shells.shellUrl('canvas'), { cards, run: sampleRun() });
    await page.waitForSelector('.card');
    const status = sampleStatus('running');
    channel.notify('canvas/delta', { run: sampleRun(), cards: [{ id: 'card-3', status }] });
    await page.waitForFunction(
      () => document.querySelector('[aria-live=polite]')?.textContent === 'Card 3: Running',
    );
    channel.notify('canvas/delta', {
      run: sampleRun(),
      cards: cards.map(({ id }) => ({ id, status: sampleStatus('done') })),
    });
    await page.waitForFunction(
      () => document.querySelector('[aria-live=polite]')?.textContent === '40 cards changed state',
    );
  });

  it('[VIEW-07] a log of a million lines keeps the page small, follows its end and finds what is loaded', async () => {
    const lines = 1_000_000;
    await openRunShell(page, shells.shellUrl('run'), {
      cards: [sampleCardRun('one', { logLines: lines })],
      log: (_id, line) => ({
        stream: 'stdout',
        text: line === lines - 5 ? 'needle' : `line ${line}`,
        cutBytes: 0,
      }),
    });
    await page.locator('[data-tab=log]').click();
    await page.getByText('needle').waitFor();
    await page.locator('input[type=search]').fill('NEEDLE');
    await page.getByText('1 of 1').waitFor();
    for (const part of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
      await page.evaluate((at) => {
        const box = document.querySelector('.windowed');
        if (box) box.scrollTop = at * box.scrollHeight;
      }, part);
      await page.waitForFunction(
        () => !document.querySelector('.windowed')?.textContent.includes('Loading…'),
      );
    }
    assert.ok((await page.locator('.line').count()) < 120);
  });
});

async function runFixture(): Promise<RunFixture> {
  const table = await readFile('node_modules/vega-datasets/data/seattle-weather.csv', 'utf8');
  const rows = table
    .trim()
    .split('\n')
    .slice(1, 366)
    .map((line) => line.split(','))
    .map(([date = '', , warmest = '0', , , weather = '']) => ({ date, warmest: Number(warmest), weather }));
  const chart = {
    title: 'Daily maximum, Seattle 2012',
    height: 320,
    data: { values: rows },
    mark: { type: 'point', tooltip: true },
    encoding: {
      x: { field: 'date', type: 'temporal' },
      y: { field: 'warmest', type: 'quantitative', title: '°C' },
      color: { field: 'weather', type: 'nominal' },
    },
  };
  return {
    selected: 'chart',
    cards: [
      sampleCardRun('chart', {
        outputs: [
          sampleOutput('chart', 'vega-lite', true),
          sampleOutput('weather', 'table'),
          sampleOutput('report', 'html'),
        ],
      }),
      sampleCardRun('outliers', {
        status: sampleStatus('failed', {
          cardRunId: 'run-1-outliers',
          exitCode: 1,
          reason: {
            kind: 'exit',
            detail: 'The card ended with status 1.',
            remedy: 'Read its log: the last line names the error.',
          },
        }),
        logLines: 2000,
      }),
      sampleCardRun('waiting', { status: sampleStatus('queued', { cardRunId: 'run-1-waiting' }) }),
    ],
    outputs: {
      'chart/chart': { type: 'vega-lite', content: JSON.stringify(chart) },
      'chart/weather': { type: 'table', content: table },
    },
    why: () => ['The code changed: main.py', 'The input weather is another result'],
    log: (_id, line) => ({
      stream: line % 9 === 0 ? 'stderr' : 'stdout',
      text: `\u001b[32m12:00:${String(line % 60).padStart(2, '0')}\u001b[0m read row ${line}`,
      cutBytes: 0,
    }),
  };
}

/** Runs in the page. Frames are left out: what a chart draws is the chart's. */
async function runAxe(): Promise<string[]> {
  interface Axe {
    run(
      context: object,
      options: object,
    ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
  }
  const { violations } = await (Reflect.get(window, 'axe') as Axe).run(
    { exclude: ['iframe'] },
    { iframes: false, resultTypes: ['violations'] },
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  );
}
