import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useWindow } from '../support/useWindow.ts';

describe('a window with a project', () => {
  const used = useWindow('tiny');

  it('[START-03] shows the cards with what each may reach', async () => {
    const { window } = used();
    await window.openSideBar();
    await window.row('Cards', /^Hello, not run/).waitFor({ timeout: 60_000 });
    await window.row('Cards', /^Asks, blocked, 1 permission/).waitFor();
    assert.equal(await window.host('isActive'), true);
    assert.equal((await window.host('enginePids')).length, 1);
  });

  it('[ASK-01] says once that a permission waits', async () => {
    const { window } = used();
    await window.notification(/tiny asks for one permission/);
    await window.screenshot('permission-notice');
    await window.clearNotifications();
  });

  it('[RUNUI-01] runs one card from its line and shows its state, time and history', async () => {
    const { window } = used();
    const row = window.row('Cards', /^Hello/);
    await row.hover();
    await row.getByRole('button', { name: 'Run Card' }).click();
    await window.row('Cards', /^Hello, done/).waitFor();
    await window
      .row('Runs', /done, ?.*one card|done · one card/)
      .first()
      .waitFor();
    await window.screenshot('tiny-card-done');
  });

  it('[RUNUI-02] explains why a card ran', async () => {
    const { window } = used();
    const row = window.row('Cards', /^Hello/);
    await row.click();
    await window.palette('Sallyport: Why Did This Run Again?');
    const text = await window.until('the report', async () => {
      const active = await window.host('activeText');
      return active?.scheme === 'sallyport-report' ? active.text : undefined;
    });
    assert.match(text, /Why Hello ran/);
    assert.match(text, /had not run before/);
    await window.host('closeAll');
  });

  it('[RUNUI-03] cancels a run from its notification', async () => {
    const { window } = used();
    const row = window.row('Cards', /^Slow/);
    await row.hover();
    await row.getByRole('button', { name: 'Run Card' }).click();
    await window.row('Cards', /^Slow, running/).waitFor();
    const toast = await window.notification(/Running tiny/);
    await window.screenshot('tiny-running');
    await toast.getByRole('button', { name: 'Cancel' }).click();
    await window.row('Cards', /^Slow, cancelled/).waitFor();
    await toast.waitFor({ state: 'detached' });
  });

  it('[RUNUI-03] says that nothing runs when there is nothing to cancel', async () => {
    const { window } = used();
    await window.host('command', { command: 'sallyport.cancelRun' });
    await window.notification(/Nothing is running/);
    await window.clearNotifications();
  });

  it('[ASK-02] keeps a card blocked until a person accepts what it asks for, then runs it', async () => {
    const { window, folder } = used();
    await window.host('command', { command: 'sallyport.runCard', args: [{ root: folder, card: 'asks' }] });
    await (await window.notification(/Asks did not run/)).getByRole('button', { name: 'Review' }).click();
    const list = window.page.locator('.quick-input-widget');
    await list.getByText('Reach api.example.org:443 over the network').waitFor();
    assert.match(await list.locator('.quick-input-title').innerText(), new RegExp(folder));
    assert.equal(await list.locator('input[type=checkbox]:checked, .monaco-checkbox.checked').count(), 0);
    await window.screenshot('review-permissions');
    await list
      .getByRole('checkbox', { name: /Reach api.example.org/ })
      .first()
      .click();
    await list.getByRole('button', { name: 'OK' }).click();
    await window.notification(/One permission accepted/);
    await window.row('Cards', /^Asks, not run|^Asks, blocked$/).waitFor();
    await window.host('command', { command: 'sallyport.runCard', args: [{ root: folder, card: 'asks' }] });
    await window.row('Cards', /^Asks, done/).waitFor();
    await window.clearNotifications();
  });

  it('[ASK-03] blocks the card again when the permission is revoked', async () => {
    const { window } = used();
    await window.palette('Sallyport: Revoke Permission');
    const list = window.page.locator('.quick-input-widget');
    await list
      .getByText('The card is blocked until')
      .or(list.getByPlaceholder(/blocked until/))
      .first()
      .waitFor();
    await list.locator('.monaco-list-row').first().click();
    await window.row('Cards', /^Asks, blocked/).waitFor();
    await window.clearNotifications();
  });

  it('[DIAG-01] marks an error in a manifest and mends it with a quick fix', async () => {
    const { window, folder } = used();
    const path = join(folder, 'cards/hello/_card.json');
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, original.replace('"description"', '"descripton"'));
    await window.host('open', { path });
    const problems = await window.until('the problem', async () => {
      const found = await window.host('diagnostics', { path });
      return found.some((each) => each.message.includes('descripton')) ? found : undefined;
    });
    assert.deepEqual(
      problems.map((each) => each.line),
      [3],
      '[MAN-14] each problem is reported once',
    );
    await window.screenshot('diagnostics');
    assert.ok(await window.host('fix', { path, title: 'description' }));
    await window.until(
      'a sound manifest',
      async () => (await window.host('diagnostics', { path })).length === 0,
    );
    assert.equal(readFileSync(path, 'utf8'), original);
    const lenses = await window.until('lenses', async () => {
      const found = await window.host('lenses', { path });
      return found.length > 0 ? found : undefined;
    });
    assert.ok(
      lenses.some((title) => /Run card/i.test(title)),
      lenses.join(),
    );
    await window.host('closeAll');
  });

  it('[MAN-14] colours a manifest as JSON, under the name of its own language', async () => {
    const { window, folder } = used();
    await window.host('open', { path: join(folder, 'cards/hello/_card.json') });
    await window.page.locator('.statusbar').getByText('Sallyport Manifest').waitFor();
    const line = window.page.locator('.monaco-editor .view-line', { hasText: '"title"' }).first();
    await line.waitFor();
    const colours = await window.until('the colours', async () => {
      const found = await line
        .locator('span span')
        .evaluateAll((parts) =>
          parts.filter((part) => /[a-z]/i.test(part.textContent)).map((part) => getComputedStyle(part).color),
        );
      return new Set(found).size > 1 ? found : undefined;
    });
    assert.ok(colours.length >= 2);
    await window.screenshot('manifest-colours');
    const names = await window.host('outline', { path: join(folder, 'cards/hello/_card.json') });
    assert.deepEqual(names, [...new Set(names)], 'one outline');
    assert.ok(names.includes('title'));
    await window.host('closeAll');
  });

  it('[LIFE-01] starts the engine again when it is killed, and goes on', async () => {
    const { window } = used();
    const [before] = await window.host('killEngine');
    assert.ok(before);
    const [after] = await window.until('another engine', async () => {
      const pids = await window.host('enginePids');
      return pids.length === 1 && pids[0] !== before ? pids : undefined;
    });
    assert.ok(after);
    await window.row('Cards', /^Hello, done|^Hello, from cache/).waitFor();
  });

  it('[LIFE-02] says how a run ended whose engine was killed, and leaves no card running', async () => {
    const { window, folder } = used();
    await window.host('command', { command: 'sallyport.runCard', args: [{ root: folder, card: 'slow' }] });
    await window.row('Cards', /^Slow, running/).waitFor();
    await window.host('killEngine');
    await window.row('Cards', /^Slow, (unknown|failed|cancelled)/).waitFor();
    await window.notification(/How the run ended was not seen|failed/);
    await window.clearNotifications();
  });

  it('[LIFE-03] gives up after four deaths with words, and starts again on demand', async () => {
    const { window } = used();
    const died = new Set<number>();
    await window.until('the words', async () => {
      for (const pid of await window.host('killEngine')) died.add(pid);
      return (await window.statusBar().getByText('Sallyport stopped').count()) > 0;
    });
    await window.notification(/was not started again/);
    await window.screenshot('engine-stopped');
    await window.pane('Cards').getByRole('button', { name: 'Restart Engine' }).click();
    await window.row('Cards', /^Hello/).waitFor();
    await window.clearNotifications();
  });

  it('[LIFE-04] shows the same cards and history after the window is loaded again', async () => {
    const { window } = used();
    await window.reload();
    await window.openSideBar();
    await window.row('Cards', /^Hello, (done|from cache)/).waitFor({ timeout: 60_000 });
    await window.row('Runs', /done/).first().waitFor();
  });

  it('[KEYS-01] runs a card with the keyboard alone', async () => {
    const { window } = used();
    await window.clearNotifications();
    await window.host('closeAll');
    await window.host('command', { command: 'sallyport.cards.focus' });
    const { keyboard } = window.page;
    await keyboard.press('Home');
    for (let line = 0; line < 10; line++) {
      const focused = await window
        .pane('Cards')
        .locator('.monaco-list-row.focused')
        .getAttribute('aria-label');
      if (focused?.startsWith('Hello')) break;
      await keyboard.press('ArrowDown');
    }
    const runs = await window.pane('Runs').getByRole('treeitem').count();
    await keyboard.press('Control+Enter');
    await window.until(
      'another run',
      async () => (await window.pane('Runs').getByRole('treeitem').count()) > runs,
    );
    await window.row('Cards', /^Hello, from cache/).waitFor();
  });

  it('[VAULTUI-01] makes no vault for what there is nothing for without one', async () => {
    const { window } = used();
    for (const [command, words] of [
      ['exportVault', /There is no vault yet/],
      ['backUpVault', /There is no vault yet/],
      ['recoverVault', /There is no vault yet/],
      ['changeVaultPassword', /There is no personal vault yet/],
      ['lockVault', /No vault is open/],
    ] as const) {
      await window.host('command', { command: `sallyport.${command}` });
      await window.notification(words);
      await window.clearNotifications();
    }
    await window.host('command', { command: 'sallyport.vault.focus' });
    await window.row('Vault', /^Agents’ vault, not created yet/).waitFor();
    await window.row('Vault', /^Personal vault, not created yet/).waitFor();
  });

  it('[CARE-01] Doctor writes a report with the state of sealing', async () => {
    const { window } = used();
    await window.host('command', { command: 'sallyport.doctor' });
    const text = await window.until(
      'the report',
      async () => {
        const active = await window.host('activeText');
        return active?.text.startsWith('Doctor') ? active.text : undefined;
      },
      60_000,
    );
    assert.match(text, /sealed by bubblewrap|can’t seal/);
    await window.screenshot('doctor');
    await window.host('closeAll');
  });
});
