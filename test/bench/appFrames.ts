import type { Browser, Frame } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { appFrameOf, openAppShell } from '../support/appShell.ts';
import { samplePage } from '../support/sampleApps.ts';
import { listen, serveShells } from '../support/webviews.ts';
import { limitRow, median, ratioRow, type BenchRow } from './benchRow.ts';

const rounds = 9;
const calls = 300;

/**
 * What an app's frame costs in headless Chromium, with the driver in the place of VS Code, beside the same page in a
 * frame without a seal.
 */
export async function appFramesBench(): Promise<BenchRow[]> {
  const shells = await serveShells();
  const html = await samplePage('notes');
  const bareHtml = `<!doctype html><script>window.seen=[];addEventListener('message',e=>seen.push(e.data))</script><iframe sandbox="allow-scripts" srcdoc="${attribute(`${echo}${withPaint(html)}`)}"></iframe>`;
  const bare = await listen((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(bareHtml);
  });
  const browser = await launchChromium();
  try {
    const sealed: number[] = [];
    const plain: number[] = [];
    for (let round = 0; round < rounds; round++) {
      sealed.push(await paintOf(browser, shells.shellUrl('appHost'), html));
      plain.push(await barePaint(browser, bare.origin));
    }
    const trips = await tripsOf(browser, shells.shellUrl('appHost'), html, bare.origin);
    const group = 'apps';
    return [
      limitRow({ group, name: 'app open to first paint', ours: median(sealed), unit: 'ms' }, 400),
      ratioRow(
        {
          group,
          name: 'first paint, by a bare frame',
          ours: median(sealed),
          peer: median(plain),
          unit: 'ms',
          goal: '',
        },
        null,
      ),
      limitRow({ group, name: 'bridge round trip, extension played', ours: trips.extension, unit: 'ms' }, 3),
      ratioRow(
        {
          group,
          name: 'answer of the shell, by an echo of a bare frame',
          ours: trips.shell,
          peer: trips.bare,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
    ];
  } finally {
    await browser.close();
    await bare.close();
    await shells.close();
  }
}

const echo = `<script>addEventListener('message', (event) => event.source.postMessage(event.data, '*'))</script>`;

/** The page tells when its first frame was drawn. */
function withPaint(html: string): string {
  return html.replace(
    '</body>',
    `<script>requestAnimationFrame(() => setTimeout(() => parent.postMessage(performance.timeOrigin + performance.now(), '*')))</script></body>`,
  );
}

async function paintOf(browser: Browser, url: string, html: string): Promise<number> {
  const context = await browser.newContext();
  const { page } = await openAppShell(context, url, {
    html: withPaint(html),
    answer: () => ({ files: [], models: [] }),
  });
  const ms = await page
    .waitForFunction(() => {
      const at = window.seen.find((each) => typeof each === 'number');
      return typeof at === 'number' && at - performance.timeOrigin;
    })
    .then((handle) => handle.jsonValue());
  await context.close();
  return Number(ms);
}

async function barePaint(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  const handle = await page.waitForFunction(() => {
    const at = window.seen.find((each) => typeof each === 'number');
    return typeof at === 'number' && at - performance.timeOrigin;
  });
  const ms = Number(await handle.jsonValue());
  await context.close();
  return ms;
}

async function tripsOf(browser: Browser, url: string, html: string, bareUrl: string) {
  const context = await browser.newContext();
  const { page } = await openAppShell(context, url, {
    html,
    answer: () => ({ files: [], models: [], usedBytes: 1, limitBytes: 2 }),
  });
  const frame = await appFrameOf(page);
  await frame.waitForFunction(() => 'sallyport' in window && document.readyState === 'complete');
  const extension = await medianOf(frame, 'sallyport.files.quota()');
  const shell = await medianOf(frame, 'sallyport.links.open("nowhere").catch(() => 0)');
  const other = await context.newPage();
  await other.goto(bareUrl);
  const bare = await medianOf(
    other.mainFrame(),
    `new Promise((done) => { addEventListener('message', done, { once: true }); frames[0].postMessage('x', '*'); })`,
  );
  await context.close();
  return { extension, shell, bare };
}

async function medianOf(frame: Frame, call: string): Promise<number> {
  const times = await frame.evaluate<number[], [string, number]>(
    async ([text, count]) => {
      const run = (0, eval)(`() => ${text}`) as () => Promise<unknown>;
      const taken: number[] = [];
      for (let n = 0; n < count; n++) {
        const startedAt = performance.now();
        await run();
        taken.push(performance.now() - startedAt);
      }
      return taken;
    },
    [call, calls],
  );
  return median(times);
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
