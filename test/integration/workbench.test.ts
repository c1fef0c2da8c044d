import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chatCompletionsFormat } from '../support/providers/chatCompletions.ts';
import { held, ScriptedModel } from '../support/scriptedModel.ts';
import { useWindow } from '../support/useWindow.ts';
import { artifacts } from '../support/vscodeWindow.ts';
import { Sight } from '../support/webviewsApart.ts';
import { WorkbenchWindow } from '../support/workbenchWindow.ts';

describe('the workbench whose renderer ends', () => {
  const used = useWindow('tiny', { webviewsApart: true });
  const model = new ScriptedModel(chatCompletionsFormat);
  let address = '';
  before(async () => {
    address = await model.server.start('/v1');
  });
  after(() => model.server.stop());

  it('[WB-08] comes back with a word, the conversation that went on, and what was typed', async function () {
    this.timeout(240_000);
    const { window, debugPort } = used();
    const bench = new WorkbenchWindow(window);
    await window.openSideBar();
    const empty = await bench.page('.empty-view');
    await window.host('command', { command: 'workbench.action.closeAuxiliaryBar' });
    await empty.getByRole('button', { name: 'Connect a Model' }).click();
    await bench.line('OpenAI-compatible API').click();
    await bench.enter(/Base address/, address);
    await bench.enter(/Key for http:/, 'a-key-of-nobody');
    await window.notification(/is connected/);
    await window.clearNotifications();

    const middle = held();
    model.will({ text: ['The first half ', 'stands.'], holdEnd: middle.until });
    await bench.send('Tell me both halves');
    const page = await bench.page();
    await page.getByText('The first half stands.').waitFor();
    await page.locator('.composer textarea').fill('Not sent yet');

    const first = await Sight.open(debugPort);
    assert.equal((await first.crash()).length, 1, 'one renderer ended, and the window is there');
    await first.close();

    const second = await Sight.open(debugPort);
    const back = await second.webview('.composer textarea');
    await back.getByText('The first half stands.').waitFor();
    assert.equal(await back.locator('.person').filter({ hasText: 'Tell me both halves' }).count(), 1);
    assert.equal(await back.locator('.composer textarea').inputValue(), 'Not sent yet');
    await window.host('command', { command: 'notifications.showList' });
    await second.page
      .getByText(/had stopped and was opened again/)
      .first()
      .waitFor();
    mkdirSync(artifacts, { recursive: true });
    await second.page.screenshot({ path: join(artifacts, 'workbench-came-back.png') });
    middle.release();
    await back.locator('.head-state', { hasText: /^$/ }).waitFor({ state: 'attached' });
    assert.equal(model.server.seen.length, 1, 'nothing was asked twice');
    await window.host('command', { command: 'notifications.clearAll' });

    await window.host('command', { command: 'workbench.action.closeSidebar' });
    await window.host('command', { command: 'sallyport.openWorkbenchEditor' });
    const tab = await second.webview('.composer textarea');
    await tab.getByText('The first half stands.').waitFor();
    assert.equal((await second.crash()).length, 1);
    await second.close();

    const third = await Sight.open(debugPort);
    const again = await third.webview('.composer textarea');
    await again.getByText('The first half stands.').waitFor();
    assert.deepEqual(await window.host('tabs'), ['Workbench']);
    model.will({ text: ['The second half ', 'too.'] });
    await again.locator('.composer textarea').fill('And the other?');
    await again.locator('.composer textarea').press('Enter');
    await again.getByText('The second half too.').waitFor();

    // One button for a new conversation, in the title of the tab, which stays where a person is.
    const add = third.page.getByRole('button', { name: 'New Conversation' });
    assert.equal(await add.count(), 1);
    assert.equal(await again.getByRole('button', { name: 'New Conversation' }).count(), 0);
    await add.click();
    await again.getByText('The second half too.').waitFor({ state: 'detached' });
    assert.deepEqual(await window.host('tabs'), ['Workbench']);
    assert.equal(await third.page.locator('.pane').count(), 0, 'the side bar stays closed');
    await third.close();
  });
});
