import assert from 'node:assert/strict';
import { useWindow } from '../support/useWindow.ts';

describe('Restricted Mode', () => {
  const used = useWindow('tiny', { hasTrust: true });

  it('[TRUST-01] shows the cards and runs nothing', async () => {
    const { window, folder } = used();
    await window.openSideBar();
    await window.row('Cards', /^Hello, not run/).waitFor({ timeout: 60_000 });
    assert.equal(await window.host('isTrusted'), false);
    await window
      .pane('Cards')
      .getByText(/Restricted Mode/)
      .waitFor();
    for (const command of ['runProject', 'runCard', 'runWithoutCache', 'dryRun']) {
      await window.host('command', {
        command: `sallyport.${command}`,
        args: [{ root: folder, card: 'hello' }],
      });
      await window.notification(/Restricted Mode, so nothing in it runs/);
      if (command === 'runProject') await window.screenshot('restricted');
      await window.clearNotifications();
    }
    await window.row('Cards', /^Hello, not run/).waitFor();
    assert.equal(await window.row('Runs', /./).count(), 0);
  });

  it('[TRUST-02] says nothing of waiting permissions there', async () => {
    const { window } = used();
    await window.host('command', { command: 'notifications.showList' });
    assert.equal(await window.page.getByText(/tiny asks for one permission/).count(), 0);
  });

  it('[TRUST-03] marks errors in manifests there all the same', async () => {
    const { window, folder } = used();
    await window.host('open', { path: `${folder}/cards/hello/_card.json` });
    const lenses = await window.until('lenses', async () => {
      const found = await window.host('lenses', { path: `${folder}/cards/hello/_card.json` });
      return found.length > 0 ? found : undefined;
    });
    assert.ok(lenses.length > 0);
  });
});
