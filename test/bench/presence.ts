import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import type { PresenceAct } from '../../extension/src/presence/presenceAct.ts';
import { SoftAuthenticator } from '../support/softAuthenticator.ts';
import { listen } from '../support/webviews.ts';
import { limitRow, median, type BenchRow } from './benchRow.ts';

const act: PresenceAct = {
  name: 'reveal',
  vault: 'agents',
  itemId: 'db',
  title: 'Database',
  field: 'password',
  version: 1,
};

/**
 * From the person's wish to the page whose button can be pressed, in a tab that is open: how long a browser takes to
 * show a tab is its own affair. Beside it a bare page that a server on loopback has ready.
 */
export async function presenceBench(): Promise<BenchRow[]> {
  await import('../support/vscodeHooks.ts');
  const { presenceRig } = await import('../support/presenceRig.ts');
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  const browser = await launchChromium();
  const bare = await listen((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<button>ok</button>');
  });
  try {
    const tab = await browser.newPage();
    const rig = presenceRig(folder);
    const passkey = new SoftAuthenticator().passkey();
    await rig.store.update((before) => ({ ...before, passkeys: [passkey] }));
    const ours: number[] = [];
    const peer: number[] = [];
    for (let round = 0; round < 11; round++) {
      let start = performance.now();
      rig.says.browser = async ({ uri }) => {
        await open(tab, uri);
        ours.push(performance.now() - start);
      };
      await rig.presence.prove(act);
      start = performance.now();
      await open(tab, bare.origin);
      peer.push(performance.now() - start);
    }
    const row = limitRow(
      {
        group: 'vault',
        name: 'presence page, from the click to its button; peer a bare page on loopback',
        unit: 'ms',
        ours: median(ours),
      },
      300,
    );
    const other = median(peer);
    return [{ ...row, peer: other, ratio: row.ours === null ? null : row.ours / other }];
  } finally {
    await browser.close();
    await bare.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function open(page: Page, uri: string): Promise<void> {
  await page.goto(uri);
  await page.getByRole('button').waitFor();
}
