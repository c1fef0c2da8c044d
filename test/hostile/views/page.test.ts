import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { attackRan } from '../../support/attackRan.ts';
import { useBareDocument, useShells } from '../../support/useShells.ts';
import { pageHost, pageWebview } from '../../../protocol/src/webview.ts';
import { openShell } from '../../support/shellPage.ts';
import { startSink, type Sink } from '../../support/sink.ts';
import { webviewFile } from '../../support/webviews.ts';
import { attacks, type Attack } from './attacks.ts';

describe('A card-owned page in its sealed frame', () => {
  const shells = useShells();
  const control = useBareDocument();
  let sink: Sink;
  let frameScript: string;

  before(async () => {
    sink = await startSink();
    frameScript = await webviewFile('view.js');
  });
  after(() => sink.close());
  beforeEach(() => {
    sink.hits.length = 0;
    sink.packets = 0;
  });

  async function sealed(html: string): Promise<Page> {
    const page = await shells.context.newPage();
    await openShell(page, shells.shellUrl('page'), {
      local: pageHost,
      remote: pageWebview,
      requestHandlers: {
        'page/ready': () => ({ frameScript, title: 'attack', html }),
      },
      notificationHandlers: {},
    });
    return page;
  }

  /** The same frame without its policy, and a shell without one. */
  async function open(html: string): Promise<Page> {
    control.html =
      `<!doctype html><script>window.seen=[];window.keys=[];` +
      `addEventListener('message',e=>seen.push(e.data));addEventListener('keydown',e=>keys.push(e.key),true)</script>` +
      `<iframe sandbox="allow-scripts allow-forms allow-popups allow-top-navigation" srcdoc="${html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
    const page = await shells.context.newPage();
    await page.goto(control.origin);
    return page;
  }

  const reached = (attack: Attack) =>
    attack.over === 'udp' ? sink.packets > 0 : sink.hits.some((hit) => hit.includes(attack.name));

  for (const attack of attacks) {
    it(`[VIEW-01] ${attack.rows}: ${attack.name} reaches nothing`, async () => {
      const page = await sealed(attack.html({ origin: sink.origin, udpPort: sink.udpPort }));
      await attackRan(page, attack.name);
      await settle(page);
      assert.equal(reached(attack), false, `hits: ${sink.hits.join(' ')}, packets: ${sink.packets}`);

      const bare = await open(attack.html({ origin: sink.origin, udpPort: sink.udpPort }));
      await until(() => reached(attack), bare);
    });
  }
});

/** Long enough for what is going to be sent: a request that the page makes now has come back. */
async function settle(page: Page): Promise<void> {
  for (let round = 0; round < 3; round++)
    await page.evaluate(() => fetch('/canvas.css').catch(() => undefined));
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300))));
}

async function until(condition: () => boolean, page: Page): Promise<void> {
  const end = Date.now() + 45_000;
  while (!condition()) {
    if (Date.now() > end)
      throw new Error('The negative control reached nothing, so the attack proves nothing');
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
  }
}
