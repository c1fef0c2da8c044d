import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { answerItem, longConversation, sampleSummary } from '../support/sampleConversation.ts';
import { serveShells } from '../support/webviews.ts';
import { openWorkbenchShell } from '../support/workbenchShell.ts';
import { limitRow, median, type BenchRow } from './benchRow.ts';

const group = 'workbench';
const rounds = 3;

/** What the workbench costs in headless Chromium: opening, memory, streaming. */
export async function workbenchBench(): Promise<BenchRow[]> {
  const shells = await serveShells();
  const browser = await launchChromium();
  const url = shells.shellUrl('workbench');
  const newPage = () => browser.newPage({ viewport: { width: 900, height: 900 } });
  try {
    const opening: number[] = [];
    const heaps: Record<number, number[]> = { 1000: [], 10_000: [] };
    for (let round = 0; round < rounds; round++) {
      for (const rows of [1000, 10_000]) {
        const page = await newPage();
        const { openMs, heapBytes } = await open(page, url, rows);
        if (rows === 10_000) opening.push(openMs);
        heaps[rows]?.push(heapBytes);
        await page.close();
      }
    }
    const page = await newPage();
    const frames = await stream(browser, page, url);
    await page.close();
    const [small, large] = [median(heaps[1000] ?? []), median(heaps[10_000] ?? [])];
    return [
      limitRow(
        {
          group,
          name: 'opening a conversation of 10,000 messages, state to paint',
          ours: median(opening),
          unit: 'ms',
        },
        300,
      ),
      {
        group,
        name: 'page memory after reading back 600 rows: 10,000 messages, beside 1,000',
        ours: large / 1024 / 1024,
        peer: small / 1024 / 1024,
        unit: 'MB',
        ratio: large / small,
        goal: '0.9 to 1.1 times',
        holds: Math.abs(large / small - 1) <= 0.1,
      },
      limitRow(
        {
          group,
          name: 'longest frame while 1,000 tokens a second stream in, time on a processor',
          ours: frames.longestWorkMs,
          unit: 'ms',
        },
        50,
      ),
      {
        group,
        name: 'longest gap between two frames meanwhile, whatever else the machine does',
        ours: frames.longestGapMs,
        peer: null,
        unit: 'ms',
        ratio: null,
        goal: '',
        holds: null,
      },
    ];
  } finally {
    await browser.close();
    await shells.close();
  }
}

async function open(page: Page, url: string, rows: number): Promise<{ openMs: number; heapBytes: number }> {
  const all = longConversation(rows);
  const { channel, snapshot } = await openWorkbenchShell(page, url, {
    all,
    shown: { conversation: null, items: [] },
  });
  await page.waitForSelector('.empty-view');
  await page.evaluate(() => {
    const times = { state: 0, painted: 0 };
    Reflect.set(window, 'times', times);
    // Before the page's own listener gets it, and after the frame that shows it.
    addEventListener('message', () => (times.state ||= performance.now()), { capture: true });
    new MutationObserver((_records, observer) => {
      if (!document.querySelector('.row')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => (times.painted = performance.now())));
    }).observe(document, { childList: true, subtree: true });
  });
  channel.notify('workbench/state', {
    ...snapshot,
    conversation: sampleSummary({ items: rows }),
    items: all.slice(-200),
  });
  await page.waitForFunction(() => (Reflect.get(window, 'times') as { painted: number }).painted > 0);
  const openMs = await page.evaluate(() => {
    const { state, painted } = Reflect.get(window, 'times') as { state: number; painted: number };
    return painted - state;
  });
  const log = page.getByRole('log');
  for (let step = 0; step < 50; step++) {
    await log.evaluate((element) => element.scrollBy(0, -1500));
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
  }
  return { openMs, heapBytes: await heapBytes(page) };
}

/** Five seconds of an answer with text, lists, a table and code, as 30 deltas a second, after 200 rows of before. */
async function stream(
  browser: Browser,
  page: Page,
  url: string,
): Promise<{ longestWorkMs: number; longestGapMs: number }> {
  const before = longConversation(198);
  const seq = 199;
  const { channel } = await openWorkbenchShell(page, url, {
    shown: {
      conversation: sampleSummary({ state: 'answering' }),
      items: [...before, answerItem(seq, '', { turn: 67, ending: 'streaming' })],
    },
  });
  await page.getByText('Answering…').first().waitFor();
  await page.evaluate(() => {
    const frames: number[] = [];
    Reflect.set(window, 'frameGaps', frames);
    let before = performance.now();
    const look = (now: number): void => {
      frames.push(now - before);
      before = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await browser.startTracing(page, { categories: ['toplevel'] });
  const text = answerText(5000);
  const perDelta = Math.ceil(text.length / 150);
  for (let at = 0; at < text.length; at += perDelta) {
    channel.notify('workbench/delta', {
      summary: sampleSummary({ state: 'answering' }),
      items: [],
      text: { seq, at, append: text.slice(at, at + perDelta) },
    });
    await new Promise((resolve) => setTimeout(resolve, 33));
  }
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const frames = await page.evaluate(() => Reflect.get(window, 'frameGaps') as number[]);
  return { longestWorkMs: longestTaskMs(trace.traceEvents), longestGapMs: Math.max(...frames.slice(5)) };
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds that the thread had a processor in this event. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** The longest task of any page's main thread: script, style, layout and paint of a frame are one task. */
function longestTaskMs(events: readonly TraceEvent[]): number {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(({ name, pid, tid }) => name.endsWith('RunTask') && mains.has(`${pid} ${tid}`));
  if (tasks.length === 0) throw new Error('The trace has no task of a page');
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

/** About four characters a token. */
function answerText(tokens: number): string {
  const part = [
    'The card **reads** a table, groups it by `month` and writes the *mean* of each column as it goes along. ',
    'A second sentence says why, with [a link](https://example.org/a) and more words after it.\n\n',
    '- one thing that matters\n- another thing\n  - and one within\n\n',
    '| a | b |\n| - | -: |\n| one | 1 |\n| two | 2 |\n\n',
    '```python\nfor year in years:\n    print(year, means[year])\n```\n\n',
  ].join('');
  return part.repeat(Math.ceil((tokens * 4) / part.length)).slice(0, tokens * 4);
}

async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
