import type { Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { openCanvasShell } from '../support/canvasShell.ts';
import { openRunShell } from '../support/runShell.ts';
import { sampleCard, sampleCardRun, sampleOutput, sampleRun, sampleStatus } from '../support/sampleViews.ts';
import { serveShells } from '../support/webviews.ts';
import { type BenchRow } from './benchRow.ts';
import { placeCards } from '../../webviews/src/canvas/layout.ts';
import { wiresOf } from '../../webviews/src/canvas/graph.ts';

/** What the webviews cost in headless Chromium: lines that inform, without a goal. */
export async function webviewsBench(): Promise<BenchRow[]> {
  const shells = await serveShells();
  const browser = await launchChromium();
  const figures: BenchRow[] = [];
  const stage: Stage = {
    shells,
    browser,
    add: (name, ours, unit) =>
      figures.push({ group: 'views', name, ours, peer: null, unit, ratio: null, goal: '', holds: null }),
  };
  try {
    layout(stage);
    await canvas(stage);
    await log(stage);
    await charts(stage);
  } finally {
    await browser.close();
    await shells.close();
  }
  return figures;
}

interface Stage {
  readonly shells: Awaited<ReturnType<typeof serveShells>>;
  readonly browser: Awaited<ReturnType<typeof launchChromium>>;
  readonly add: (name: string, value: number, unit: string) => void;
}

function graphOf(count: number) {
  return Array.from({ length: count }, (_, index) =>
    sampleCard(`card-${index}`, {
      inputs:
        index === 0
          ? []
          : [{ name: 'in', type: 'table', from: `card-${Math.floor((index - 1) / 3)}/out`, optional: false }],
    }),
  );
}

function layout({ add }: Stage): void {
  for (const count of [100, 1000]) {
    const cards = graphOf(count);
    const wires = wiresOf(cards);
    const started = performance.now();
    placeCards(cards, wires);
    add(`layout of ${count} cards`, performance.now() - started, 'ms');
  }
}

async function canvas({ shells, browser, add }: Stage): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
  const cards = graphOf(1000);
  const started = performance.now();
  const { channel } = await openCanvasShell(page, shells.shellUrl('canvas'), { cards, run: sampleRun() });
  await page.waitForSelector('.card');
  add('canvas of 1000 cards, from opening to the first card', performance.now() - started, 'ms');
  add('elements in it', await page.evaluate(() => document.querySelectorAll('*').length), '');
  const before = performance.now();
  channel.notify('canvas/delta', {
    run: sampleRun(),
    cards: cards.map(({ id }) => ({ id, status: sampleStatus('done') })),
  });
  await page.waitForSelector('.card-done');
  add('delta of 1000 cards, until drawn', performance.now() - before, 'ms');
  add('heap', (await heapBytes(page)) / 1024 / 1024, 'MB');
  await page.close();
}

async function log({ shells, browser, add }: Stage): Promise<void> {
  const text = 'x'.repeat(120);
  for (const lines of [1000, 1_000_000]) {
    const page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
    await openLog(page, shells.shellUrl('run'), lines, text);
    for (let step = 0; step <= 60; step++) {
      await page.evaluate((part) => {
        const box = document.querySelector('.windowed');
        if (box) box.scrollTop = part * box.scrollHeight;
      }, step / 60);
      await page.waitForFunction(
        () => !document.querySelector('.windowed')?.textContent.includes('Loading…'),
      );
    }
    add(`heap after scrolling through ${lines} lines`, (await heapBytes(page)) / 1024 / 1024, 'MB');
    add(`rows in the page of ${lines}`, await page.locator('.line').count(), '');
    await page.close();
  }
}

async function openLog(page: Page, url: string, lines: number, text: string): Promise<void> {
  await openRunShell(page, url, {
    cards: [sampleCardRun('one', { logLines: lines })],
    log: (_id, line) => ({ stream: 'stdout', text: `${line} ${text}`, cutBytes: 0 }),
  });
  await page.locator('[data-tab=log]').click();
  await page.waitForSelector('.log .line');
}

async function charts({ shells, browser, add }: Stage): Promise<void> {
  const values = Array.from({ length: 500 }, (_, a) => ({ a, b: (a * 7) % 31 }));
  const kinds = {
    'vega-lite': { data: { values }, mark: 'line', encoding: { x: { field: 'a' }, y: { field: 'b' } } },
    plotly: { data: [{ x: values.map(({ a }) => a), y: values.map(({ b }) => b) }], layout: {} },
  };
  for (const [type, content] of Object.entries(kinds)) {
    const page = await browser.newPage();
    const started = performance.now();
    await openRunShell(page, shells.shellUrl('run'), {
      cards: [sampleCardRun('one', { outputs: [sampleOutput('out', type as keyof typeof kinds)] })],
      outputs: { 'one/out': { type: type as keyof typeof kinds, content: JSON.stringify(content) } },
    });
    await page.waitForFunction(() => document.querySelector('.sealed [role=status]')?.textContent === '');
    add(`${type}: from opening the view to a drawn chart`, performance.now() - started, 'ms');
    await page.close();
  }
}

async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
