import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chatCompletionsFormat } from '../support/providers/chatCompletions.ts';
import { held, ScriptedModel } from '../support/scriptedModel.ts';
import { useWindow } from '../support/useWindow.ts';
import { artifacts } from '../support/vscodeWindow.ts';
import { Sight } from '../support/webviewsApart.ts';
import { WorkbenchWindow } from '../support/workbenchWindow.ts';

const composer = '.composer textarea';

/** On a busy machine a page may be taken for dead by itself: what is looked for is looked for in the newest one. */
describe('the workbench whose renderer ends', () => {
  const used = useWindow('tiny', { webviewsApart: true });
  const model = new ScriptedModel(chatCompletionsFormat);
  let address = '';
  before(async () => {
    address = await model.server.start('/v1');
  });
  after(() => model.server.stop());

  it('[WB-08] comes back with a word, the conversation that went on, and what was typed', async function () {
    this.timeout(300_000);
    const { window, debugPort } = used();
    const bench = new WorkbenchWindow(window);
    await window.openSideBar();
    await window.host('command', { command: 'workbench.action.closeAuxiliaryBar' });
    await window.until('the steps of connecting', async () => {
      const empty = await bench.page('.empty-view');
      await empty.getByRole('button', { name: 'Connect a Model' }).click({ timeout: 5000 });
      await bench.line('OpenAI-compatible API').waitFor({ timeout: 5000 });
      return true;
    });
    await bench.line('OpenAI-compatible API').click();
    await bench.enter(/Base address/, address);
    await bench.enter(/Key for http:/, 'a-key-of-nobody');
    await window.notification(/is connected/);
    await window.clearNotifications();

    const middle = held();
    model.will({ text: ['The first half ', 'stands.'], holdEnd: middle.until });
    await bench.send('Tell me both halves');
    await window.until('what the model said first', async () =>
      (await bench.page()).getByText('The first half stands.').isVisible(),
    );
    await window.until('what is typed', async () => {
      const area = (await bench.page()).locator(composer);
      if ((await area.inputValue()) !== 'Not sent yet') await area.fill('Not sent yet', { timeout: 5000 });
      return (await area.inputValue()) === 'Not sent yet';
    });

    const first = await Sight.open(debugPort);
    assert.equal((await first.crash()).length, 1, 'one renderer ended, and the window is there');
    await first.close();

    const second = await Sight.open(debugPort);
    await second.reads(/this page had stopped and was opened again/i);
    await second.reads('The first half stands.');
    const back = await second.webview(composer);
    assert.equal(await back.locator('.person').filter({ hasText: 'Tell me both halves' }).count(), 1);
    assert.equal(await back.locator(composer).inputValue(), 'Not sent yet');
    mkdirSync(artifacts, { recursive: true });
    await second.page.screenshot({ path: join(artifacts, 'workbench-came-back.png') });
    middle.release();
    await second.waitFor('an idle conversation', async () =>
      (await second.webview(composer)).locator('.head-state', { hasText: /^$/ }).count(),
    );
    assert.equal(model.server.seen.length, 1, 'nothing was asked twice');

    await window.host('command', { command: 'workbench.action.closeSidebar' });
    await window.host('command', { command: 'sallyport.openWorkbenchEditor' });
    await second.reads('The first half stands.');
    assert.equal((await second.crash()).length, 1);
    await second.close();

    const third = await Sight.open(debugPort);
    await third.reads(/this page had stopped and was opened again/i);
    await third.reads('The first half stands.');
    assert.deepEqual(await window.host('tabs'), ['Workbench']);
    model.will({ text: ['The second half ', 'too.'] });
    const area = (await third.webview(composer)).locator(composer);
    await area.fill('And the other?');
    await area.press('Enter');
    await third.reads('The second half too.');

    // One button for a new conversation, in the title of the tab, which stays where a person is.
    const add = third.page.getByRole('button', { name: 'New Conversation' });
    assert.equal(await add.count(), 1);
    const page = await third.webview(composer);
    assert.equal(await page.getByRole('button', { name: 'New Conversation' }).count(), 0);
    await add.click();
    await third.waitFor('an empty conversation', async () =>
      Number((await (await third.webview(composer)).locator('.person').count()) === 0),
    );
    assert.deepEqual(await window.host('tabs'), ['Workbench']);
    assert.equal(await third.page.locator('.pane').count(), 0, 'the side bar stays closed');
    await third.close();
  });
});
