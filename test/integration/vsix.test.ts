import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { largestVsixBytes } from '../../scripts/package.mjs';
import { assertGolden } from '../support/golden.ts';
import { packedExtension, stagedExtension } from '../support/stagedExtension.ts';
import { useWindow } from '../support/useWindow.ts';

describe('the VSIX', () => {
  const used = useWindow('tiny', { isInstalled: true });

  it('[PACK-01] holds what the list says, no source map, and is small', async () => {
    const { files, sizeBytes } = await packedExtension();
    // Shared parts are named after their contents.
    const names = files.map((file) => file.replace(/-[0-9A-Z]{8}(?=\.mjs$)/, '-HASH'));
    assertGolden(join(import.meta.dirname, 'goldens/vsixFiles.txt'), `${[...new Set(names)].join('\n')}\n`);
    assert.ok(sizeBytes <= largestVsixBytes, `${sizeBytes} bytes`);
  });

  it('[PACK-04] holds the licences of what its bundles are made of', async () => {
    const text = readFileSync(join(await stagedExtension(), 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['react', 'zod', 'ssh2', 'vega', 'quickjs-emscripten-core', 'just-bash'])
      assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
    assert.ok(!/^(mocha|eslint|typescript) /m.test(text), 'only of those');
  });

  it('[PACK-02] runs a card from the side bar in a fresh VS Code', async () => {
    const { window } = used();
    await window.openSideBar();
    const row = window.row('Cards', /^Hello/);
    await row.waitFor({ timeout: 60_000 });
    await row.hover();
    await row.getByRole('button', { name: 'Run Card' }).click();
    await window.row('Cards', /^Hello, done/).waitFor();
    await window.screenshot('vsix-card-done');
  });

  it('[PACK-03] a sealed process card runs and is cancelled there too', async () => {
    const { window } = used();
    const row = window.row('Cards', /^Slow/);
    await row.hover();
    await row.getByRole('button', { name: 'Run Card' }).click();
    await window.row('Cards', /^Slow, running/).waitFor();
    await window.palette('Sallyport: Cancel Run');
    await window.row('Cards', /^Slow, cancelled/).waitFor();
  });

  it('[CARE-02] Clean Up Results shows sizes and removes nothing without a yes', async () => {
    const { window } = used();
    await window.palette('Sallyport: Clean Up Results');
    const dialog = window.page.locator('.monaco-dialog-box');
    const answer = await window.until('an answer', async () => {
      if (await dialog.isVisible()) return dialog.innerText();
      const note = window.page.locator('.notification-list-item').filter({ hasText: /nothing to clean up/ });
      return (await note.count()) > 0 ? note.first().innerText() : undefined;
    });
    assert.match(answer, /\d (B|KB|MB)/);
    if (await dialog.isVisible()) await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  it('[NEW-01] refuses to start a project in a folder that is not empty', async () => {
    const { window, folder } = used();
    await window.palette('Sallyport: New Project');
    const input = window.page.locator('.quick-input-widget input.input').first();
    await input.waitFor();
    await input.fill(`${folder}/`);
    await window.page
      .locator('.quick-input-widget')
      .getByRole('button', { name: 'Start Project Here' })
      .click();
    await window.notification(/is not empty/);
    assert.ok(!existsSync(join(folder, 'cards/throws')));
  });

  it('[NEWAPP-05] writes a new app from the template that is shipped', async () => {
    const { window, folder } = used();
    await window.palette('Sallyport: New App');
    const quick = window.page.locator('.quick-input-widget');
    const enter = async (prompt: RegExp, text: string): Promise<void> => {
      await quick.getByText(prompt).first().waitFor();
      await quick.locator('input.input').first().fill(text);
      await window.page.keyboard.press('Enter');
    };
    await enter(/Name of the app/, 'Shipped');
    await enter(/Id of the app/, 'shipped');
    for (const line of [/^Only a page/, /^JavaScript/, /^In /])
      await quick.locator('.monaco-list-row').filter({ hasText: line }).first().click();
    await window.notification(/Shipped is written to/);
    for (const name of ['app.json', 'index.html', 'main.js', 'sallyport.d.ts', 'README.md'])
      assert.ok(existsSync(join(folder, 'apps/shipped', name)), name);
  });
});
