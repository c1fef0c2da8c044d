import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { useShells } from '../../support/useShells.ts';
import { openCanvasShell } from '../../support/canvasShell.ts';
import { openRunShell } from '../../support/runShell.ts';
import {
  sampleCard,
  sampleCardRun,
  sampleOutput,
  sampleRun,
  sampleStatus,
} from '../../support/sampleViews.ts';

const attack = `<img src=x onerror="window.owned=1"><script>window.owned=1</script><a href="command:x">x</a>"'\`\${1}`;

/** Failed as CVE-2023-21779 did: a name or a message that became markup. */
describe('Texts of cards in the webviews', () => {
  const shells = useShells({ viewport: { width: 1200, height: 700 } });
  let page: Page;

  beforeEach(async () => {
    page = await shells.context.newPage();
  });

  async function assertInert(): Promise<void> {
    assert.equal(await page.evaluate(() => Reflect.get(window, 'owned') as unknown), undefined);
    assert.equal(await page.locator('a, body img:not([src^=blob]), body script:not([nonce])').count(), 0);
  }

  it('[VIEW-05] case 2: names, descriptions, permissions and progress on the canvas are text', async () => {
    const network = { name: 'network', host: attack } as const;
    await openCanvasShell(page, shells.shellUrl('canvas'), {
      name: attack,
      run: sampleRun({ counts: { [attack]: 1, done: 1 } }),
      cards: [
        sampleCard('one', {
          title: attack,
          description: attack,
          permissions: [{ key: attack, permission: network, sentence: attack, accepted: false }],
        }),
        sampleCard('two', {
          title: attack,
          inputs: [{ name: attack, type: 'table', from: 'one/out', optional: false }],
          status: sampleStatus('running', { progress: { fraction: 2, text: attack } }),
        }),
      ],
    });
    await page.waitForSelector('.card');
    await assertInert();
    assert.equal(await page.locator('h1').textContent(), attack);
    await page.locator('vscode-button', { hasText: 'Show as List' }).click();
    await page.locator('.list button.link').first().click();
    await page.waitForSelector('[role=menu]');
    await assertInert();
  });

  it('[VIEW-05] case 2: reasons, remedies, ports, logs and explanations of the run view are text', async () => {
    await openRunShell(page, shells.shellUrl('run'), {
      cards: [
        sampleCardRun('one', {
          title: attack,
          status: sampleStatus('failed', {
            cardRunId: 'run-1-one',
            isolation: attack,
            reason: { kind: 'exit', detail: attack, remedy: attack },
          }),
          outputs: [sampleOutput(attack, 'text')],
          logLines: 3,
        }),
      ],
      outputs: { [`one/${attack}`]: { type: 'text', content: attack } },
      why: () => [attack],
      log: () => ({
        stream: 'stderr',
        text: `\u001b[31m${attack}\u001b]8;;command:x\u0007link\u001b]8;;\u0007\u202e`,
        cutBytes: 9,
      }),
    });
    await page.waitForSelector('.text .line');
    await assertInert();
    await page.locator('[data-tab=log]').click();
    await page.waitForFunction(() => document.querySelector('.log .line-text')?.textContent !== 'Loading…');
    assert.match((await page.locator('.log .line-text').first().textContent()) ?? '', /link\\u\{202e\}/);
    await page.locator('[data-tab=details]').click();
    await page.waitForSelector('.details li');
    await assertInert();
  });

  it('[VIEW-05] a table of markup, formulas and control characters is text', async () => {
    await openRunShell(page, shells.shellUrl('run'), {
      cards: [sampleCardRun('one', { outputs: [sampleOutput('out', 'table')] })],
      outputs: {
        'one/out': {
          type: 'table',
          content: `"${attack.replaceAll('"', '""')}",b\n=cmd|' /C calc'!A0,"\u001b[31m<b>x"\n`,
        },
      },
    });
    await page.waitForSelector('.table [role=cell]');
    await assertInert();
    assert.equal(await page.locator('.table [role=cell]').nth(1).textContent(), '<b>x');
  });

  it('[VIEW-05] an SVG image runs nothing and loads nothing', async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="parent.owned=1"><script>window.owned=1</script><image href="https://x.invalid/"/><circle r="9"/></svg>`;
    await openRunShell(page, shells.shellUrl('run'), {
      cards: [sampleCardRun('one', { outputs: [sampleOutput('out', 'image')] })],
      outputs: { 'one/out': { type: 'image', content: svg } },
    });
    await page.waitForSelector('.image img');
    await assertInert();
  });

  it('what is not an image, not text or not there is said', async () => {
    await openRunShell(page, shells.shellUrl('run'), {
      cards: [
        sampleCardRun('one', {
          outputs: [
            sampleOutput('image', 'image'),
            sampleOutput('text', 'text'),
            sampleOutput('gone', 'json'),
          ],
        }),
      ],
      outputs: {
        'one/image': { type: 'image', content: 'no picture' },
        'one/text': { type: 'text', content: Buffer.from([0xff, 0xfe, 0x00]) },
      },
    });
    await page.getByText('This image is in a format that is not shown here').waitFor();
    await page.locator('.output', { hasText: 'text' }).first().click();
    await page.getByText('This result is not text.').waitFor();
    await page.locator('.output', { hasText: 'gone' }).click();
    await page.getByText('That did not work:').waitFor();
  });

  it('[VIEW-02] a message that does not fit the contract changes nothing but the words', async () => {
    const { channel } = await openCanvasShell(page, shells.shellUrl('canvas'), {
      cards: [sampleCard('one')],
    });
    await page.waitForSelector('.card');
    channel.notify('canvas/message', { text: 5 } as never);
    await page.getByText('This view does not understand what the extension sent').waitFor();
  });
});
