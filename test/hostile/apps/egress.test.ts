import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { attackRan } from '../../support/attackRan.ts';
import { useBareDocument, useShells } from '../../support/useShells.ts';
import { openAppShell } from '../../support/appShell.ts';
import { startSink, type Sink } from '../../support/sink.ts';
import { attacks, type Attack } from '../views/attacks.ts';
import { appAttacks } from './appAttacks.ts';

/** Every way out that was measured, tried by an app's page, each with the same page in a frame without the seal. */
describe('The network of an app', () => {
  const shells = useShells();
  const control = useBareDocument();
  let sink: Sink;

  before(async () => {
    sink = await startSink();
  });
  after(() => sink.close());
  beforeEach(() => {
    sink.hits.length = 0;
    sink.packets = 0;
  });

  async function open(html: string): Promise<Page> {
    control.html =
      `<!doctype html><script>window.seen=[];addEventListener('message',e=>seen.push(e.data))</script>` +
      `<iframe sandbox="allow-scripts allow-forms allow-popups allow-top-navigation" srcdoc="${html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
    const page = await shells.context.newPage();
    await page.goto(control.origin);
    return page;
  }

  const reached = (attack: Attack) =>
    attack.over === 'udp' ? sink.packets > 0 : sink.hits.some((hit) => hit.includes(attack.name));

  for (const attack of [...attacks, ...appAttacks]) {
    it(`[FRAME-01] ${attack.rows}: ${attack.name} reaches nothing`, async () => {
      const html = attack.html({ origin: sink.origin, udpPort: sink.udpPort });
      const { page, passed } = await openAppShell(shells.context, shells.shellUrl('appHost'), { html });
      await attackRan(page, attack.name);
      await settle(page);
      assert.equal(reached(attack), false, `hits: ${sink.hits.join(' ')}, packets: ${sink.packets}`);
      // All that can come of a link is a question to the person.
      assert.deepEqual(
        [...new Set(passed.map(({ method }) => method))].filter((method) => method !== 'link.open'),
        [],
      );

      const bare = await open(html);
      await until(() => reached(attack), bare);
    });
  }
});

/** Long enough for what is going to be sent: a request that the page makes now has come back. */
async function settle(page: Page): Promise<void> {
  for (let round = 0; round < 3; round++)
    await page.evaluate(() => fetch('/page.css').catch(() => undefined));
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 250))));
}

async function until(condition: () => boolean, page: Page): Promise<void> {
  const end = Date.now() + 45_000;
  while (!condition()) {
    if (Date.now() > end)
      throw new Error('The negative control reached nothing, so the attack proves nothing');
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 20)));
  }
}
