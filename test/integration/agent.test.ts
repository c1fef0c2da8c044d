import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Canary } from '../hostile/agent/canary.ts';
import { withHurriedEngine } from '../support/hurriedEngine.ts';
import { addLongConversation } from '../support/longConversation.ts';
import { chatCompletionsFormat } from '../support/providers/chatCompletions.ts';
import { held, ScriptedModel } from '../support/scriptedModel.ts';
import { useWindow } from '../support/useWindow.ts';
import { axe } from '../support/windowAxe.ts';
import { WorkbenchWindow } from '../support/workbenchWindow.ts';
import { saveYears, saveYearsOnline } from '../support/yearsCard.ts';

const out = join(import.meta.dirname, '../../out/integration');
const hurry = join(out, 'hurry');

describe('the agent', () => {
  const used = useWindow('seattle-weather', {
    prepare: (staged) => withHurriedEngine(staged, join(out, 'agentExtension'), hurry),
  });
  const model = new ScriptedModel(chatCompletionsFormat);
  const canary = new Canary();
  let address = '';
  let bench: WorkbenchWindow;

  before(async () => {
    rmSync(hurry, { force: true });
    address = await model.server.start('/v1');
    bench = new WorkbenchWindow(used().window);
  });
  after(async () => {
    rmSync(hurry, { force: true });
    await model.server.stop();
  });

  /** Connects the model as a person does, with the keyboard. */
  async function enterKey(prompt: RegExp): Promise<void> {
    await bench.enter(prompt, `  ${canary.value}\n`);
  }

  it('[AGENT-01] connects a model through native steps, with a key that is seen nowhere', async () => {
    const { window } = used();
    await window.openSideBar();
    await window
      .row('Cards', /not run/)
      .first()
      .waitFor({ timeout: 60_000 });
    await window.host('command', { command: 'workbench.action.closeAuxiliaryBar' });
    const page = await bench.page('.empty-view');
    await page.getByRole('heading', { name: 'Connect a model' }).waitFor();
    await window.screenshot('agent-empty');
    await page.getByRole('button', { name: 'Connect a Model' }).click();
    await bench.line('OpenAI-compatible API').click();
    await bench.enter(/Base address/, address);
    await bench.quick.locator('input.input[type=password]').waitFor();
    await enterKey(/Key for http:/);
    await window.notification(/is connected and offers one model/);
    await window.clearNotifications();
    await bench.page();
    assert.equal(model.server.listed[0]?.headers.authorization, `Bearer ${canary.value}`);
    await window.screenshot('agent-connected');
  });

  it('[AGENT-02] does the work that it is asked for: reads, saves a card, runs it sealed', async function () {
    this.timeout(150_000);
    const { window, folder } = used();
    model.will(
      {
        text: ['I look at the project ', 'first.'],
        calls: [
          { name: 'list', args: {} },
          { name: 'read', args: { path: 'cards/monthly/_card.json' } },
        ],
      },
      { text: ['I save the card.'], calls: [saveYears] },
      { text: ['Now it runs.'], calls: [{ name: 'run_cards', args: { cards: ['years'] } }] },
      {
        text: [
          '**Two years** compares 2012 with 2015.\n\n| year | mean |\n|---|---|\n| 2012 | 8.1 |\n| 2015 | 9.9 |',
        ],
      },
    );
    await bench.send('Add a card that compares two years and plots it');
    await bench.review('List the folder .');
    await window.screenshot('agent-review-read');
    await bench.answer('Grant Read for this conversation');
    await bench.review('Save the card years');
    await window.screenshot('agent-review-save');
    assert.ok(!existsSync(join(folder, 'cards/years')), 'nothing is written before the answer');
    await bench.answer('Allow once');
    await bench.review(/Run .*sealed/);
    await bench.answer('Grant Run for this conversation');
    const rows = await bench.idle();
    await window.screenshot('agent-done');
    assert.ok(
      rows.some((row) => row.includes('compares 2012 with 2015')),
      rows.join('\n--\n'),
    );
    await window.row('Cards', /^Two years[^,]*, done/).waitFor();
    assert.equal(model.left, 0);
  });

  it('[AGENT-02] shows the chart of the new card in the run view', async () => {
    const { window, folder } = used();
    const row = await bench.tool(/Run .* sealed/);
    await row.getByRole('button', { name: 'Open Run' }).click();
    await window.host('command', { command: 'sallyport.openRun', args: [{ root: folder, card: 'years' }] });
    await window.until('a drawn chart', async () => {
      // The view may still be on its way from one run to the other.
      const run = await window.webview('iframe[sandbox="allow-scripts"]');
      const chart = run.frameLocator('iframe[sandbox="allow-scripts"]').locator('svg, canvas').first();
      const box = await chart.boundingBox({ timeout: 2000 });
      return box !== null && box.width > 100 && box.height > 100;
    });
    await window.screenshot('agent-chart');
  });

  it('[AGENT-03] asks for the network in Sallyport’s words; a decline changes nothing and is told', async () => {
    const { window, folder } = used();
    const before = readFileSync(join(folder, 'cards/years/_card.json'), 'utf8');
    model.will({ calls: [saveYearsOnline] }, { text: ['Then it stays offline.'] });
    await bench.send('Let it fetch this year from the network');
    await bench.review('Save the card years');
    await bench.line('Reach api.open-meteo.com:443 over the network').waitFor();
    await window.screenshot('agent-review-network');
    await bench.answer('Decline');
    await bench.idle();
    assert.match(model.lastRequest?.text ?? '', /Not done \(declined\): A person declined this/);
    assert.equal(readFileSync(join(folder, 'cards/years/_card.json'), 'utf8'), before);
    await (await bench.tool('Save the card years')).getByText('Refused').waitFor();
  });

  it('[AGENT-04] lets exactly one change of a protected file happen, once', async () => {
    const { folder } = used();
    const path = join(folder, '.vscode/settings.json');
    const text = '{ "editor.rulers": [100] }\n';
    model.will(
      { calls: [{ name: 'create', args: { path: '.vscode/settings.json', text } }] },
      {
        calls: [
          {
            name: 'edit',
            args: { path: '.vscode/settings.json', edits: [{ old: '100', new: '120' }] },
          },
        ],
      },
      { text: ['Done.'] },
    );
    await bench.send('Add a ruler to this folder’s settings');
    await bench.review('Create .vscode/settings.json');
    await bench.line('It touches a protected file. Those are asked for every time.').waitFor();
    assert.ok(!existsSync(path));
    await bench.answer('Allow once');
    await bench.review('Change .vscode/settings.json');
    assert.equal(readFileSync(path, 'utf8'), text);
    await bench.answer('Decline');
    await bench.idle();
    assert.equal(readFileSync(path, 'utf8'), text);
  });

  it('[AGENT-05] takes no answer in time for a no', async () => {
    const { folder } = used();
    const before = readFileSync(join(folder, 'README.md'), 'utf8');
    model.will(
      { calls: [{ name: 'create', args: { path: 'notes.md', text: 'late\n' } }] },
      { text: ['Nobody was there.'] },
    );
    writeFileSync(hurry, '');
    await bench.send('Write a note');
    await used().window.until('the next request', async () => Promise.resolve(model.left === 0));
    rmSync(hurry);
    const rows = await bench.idle();
    assert.match(model.lastRequest?.text ?? '', /Not done \(expired\): Nobody answered/);
    assert.ok(rows.some((row) => row.includes('Nobody was there.')));
    assert.ok(!existsSync(join(folder, 'notes.md')));
    assert.equal(readFileSync(join(folder, 'README.md'), 'utf8'), before);
    await used().window.until('nothing that waits', async () => {
      const item = used().window.page.locator('[id*="sallyport.waiting"]');
      return (await item.count()) === 0 || !(await item.first().isVisible());
    });
  });

  it('[AGENT-06] shows each change as a diff; undoes a file, a turn, and redoes them', async () => {
    const { window, folder } = used();
    const program = join(folder, 'cards/years/main.py');
    const manifest = join(folder, 'cards/years/_card.json');
    const kept = [readFileSync(program, 'utf8'), readFileSync(manifest, 'utf8')];
    const save = (await bench.page()).locator('.tool').filter({ hasText: 'Save the card years' }).first();
    await save.getByRole('button', { name: 'Diff of cards/years/main.py' }).click();
    await window.until('the diff', async () =>
      (await window.host('tabs')).some((label) => label.includes('cards/years/main.py (before ↔ after)')),
    );
    await window.page.locator('.monaco-diff-editor').getByText('Compares two years by').first().waitFor();
    await window.screenshot('agent-diff');
    await save.getByRole('button', { name: 'Undo cards/years/main.py' }).click();
    await bench.line('cards/years/main.py').waitFor();
    await window.screenshot('agent-undo-file');
    await bench.line(/^Undo/).click();
    await window.until('the file to go', async () => Promise.resolve(!existsSync(program)));
    assert.equal(readFileSync(manifest, 'utf8'), kept[1]);
    await save.locator('.change-undone').first().waitFor();
    const turn = (await bench.page()).locator('.row').filter({ hasText: 'compares 2012 with 2015' }).last();
    await turn.getByRole('button', { name: 'Undo Turn' }).click();
    await bench.line(/^Undo/).click();
    await window.until('the card to go', async () => Promise.resolve(!existsSync(manifest)));
    await turn.getByRole('button', { name: 'Redo Turn' }).click();
    await bench.line(/^Redo/).click();
    await window.until('both files', async () =>
      Promise.resolve(existsSync(manifest) && existsSync(program)),
    );
    assert.deepEqual([readFileSync(program, 'utf8'), readFileSync(manifest, 'utf8')], kept);
    await window.row('Cards', /^Two years/).waitFor();
    await window.host('closeAll');
  });

  it('[AGENT-07] loses nothing and does nothing twice when the window is loaded again in mid-stream', async () => {
    const { window, folder } = used();
    const middle = held();
    model.will(
      { calls: [{ name: 'create', args: { path: 'plan.md', text: 'once\n' } }] },
      { text: ['The first half stands ', 'here.'], holdEnd: middle.until },
    );
    await bench.send('Write plan.md');
    await bench.review('Create plan.md');
    await bench.answer('Allow once');
    await (await bench.page()).getByText('The first half stands here.').waitFor();
    const requests = model.server.seen.length;
    await window.reload();
    middle.release();
    await window.openSideBar();
    const page = await bench.page();
    await page.getByText('The first half stands here.').waitFor();
    await page.getByText(/Sallyport ended in the middle of this/).waitFor();
    await bench.idle();
    assert.equal(await page.locator('.person').filter({ hasText: 'Write plan.md' }).count(), 1);
    assert.equal(await page.locator('.tool').filter({ hasText: 'Create plan.md' }).count(), 1);
    assert.equal(readFileSync(join(folder, 'plan.md'), 'utf8'), 'once\n');
    assert.equal(model.server.seen.length, requests, 'nothing is asked again by itself');
    await window.screenshot('agent-reloaded');
  });

  it('[AGENT-08] goes on after the reload, once a key that the browser forgot was entered again', async () => {
    const { window } = used();
    model.will({ text: ['It goes on.'] });
    await bench.send('Go on');
    const page = await bench.page();
    const gone = page.getByText(/is gone from VS Code’s secret storage/);
    const done = page.getByText('It goes on.');
    await gone.or(done).first().waitFor();
    if ((await gone.count()) > 0) {
      await bench.choose('Sallyport: Manage Connections', ['key gone', 'Replace Key']);
      await enterKey(/Key for http:/);
      await window.notification(/uses the new key/);
      await window.clearNotifications();
      await bench.send('Go on, please');
    }
    await done.waitFor();
    await bench.idle();
  });

  it('[AGENT-09] says how a save ended in whose middle the engine was killed', async () => {
    const { window, folder } = used();
    const files = Array.from({ length: 150 }, (_, at) => ({
      path: `part${at}.py`,
      text: `# ${at}\n${'x = 1\n'.repeat(200)}`,
    }));
    const args = { ...(saveYears.args as object), card: 'many', files };
    const never = held();
    model.will({ calls: [{ name: 'project_save', args }] }, { text: ['Saved.'], holdFirst: never.until });
    await bench.send('Save a card of many parts');
    await bench.review('Save the card many');
    const card = join(folder, 'cards/many');
    const [engine = 0] = await window.host('enginePids');
    const watcher = watch(join(folder, 'cards'), (_event, name) => {
      if (name !== 'many') return;
      watcher.close();
      process.kill(engine, 'SIGKILL');
    });
    await bench.answer('Allow once');
    await window.until('another engine', async () => {
      const pids = await window.host('enginePids');
      return pids.length === 1 && pids[0] !== engine;
    });
    const page = await bench.page();
    await page
      .getByText(/Sallyport ended in the middle of this/)
      .last()
      .waitFor();
    await bench.idle();
    const state = await (
      await bench.tool(/project_save|Save the card many/)
    )
      .locator('.tool-state')
      .innerText();
    assert.ok(['Unknown', 'Done'].includes(state), state);
    await window.screenshot('agent-killed');
    never.release();
    model.forget();
    await window.palette('Sallyport: Undo Changes');
    await bench.line('cards/many').waitFor();
    await bench.quick.locator('input.input').first().fill('Undo');
    await bench.line(/^Undo (one change|[0-9]+ changes)/).click();
    await window.until('the card to go', async () => Promise.resolve(!existsSync(card)));
    await window.clearNotifications();
  });

  it('[AGENT-10] works with the keyboard alone: asks, reviews, allows', async () => {
    const { window, folder } = used();
    const { keyboard } = window.page;
    model.will(
      { calls: [{ name: 'create', args: { path: 'keys.md', text: 'typed\n' } }] },
      { text: ['Only keys were used.'] },
    );
    await window.host('closeAll');
    await window.palette('Sallyport: Open Workbench');
    const area = (await bench.page()).locator('.composer textarea');
    for (let tabs = 0; tabs < 60; tabs++) {
      if (await area.evaluate((element) => element === document.activeElement)) break;
      await keyboard.press('Tab');
    }
    await keyboard.type('Write keys.md');
    await keyboard.press('Enter');
    await window.page.locator('[id*="sallyport.waiting"]').waitFor();
    await window.palette('Sallyport: Review What Waits');
    await bench.line('Create keys.md').waitFor();
    const press = async (label: string) => {
      await bench.line(label).waitFor();
      const chosen = bench.quick.locator('.monaco-list-row.focused');
      for (let steps = 0; steps < 40; steps++) {
        // None is chosen where the list has just been filled anew.
        if ((await chosen.allInnerTexts()).some((text) => text.trim().startsWith(label))) break;
        await keyboard.press('ArrowUp');
      }
      await keyboard.press('Enter');
    };
    await press('Open whole text');
    await press('Allow once');
    await (await bench.page()).getByText('Only keys were used.', { exact: true }).waitFor();
    await bench.idle();
    assert.equal(readFileSync(join(folder, 'keys.md'), 'utf8'), 'typed\n');
  });

  it('[AGENT-11] opens a conversation of 10,000 messages at its end and reads back', async () => {
    const { window } = used();
    const home = join(window.server.dataDir, 'data/User/globalStorage/sallyport.sallyport');
    addLongConversation(join(home, 'sallyport.sqlite'), 'Ten thousand', 10_000);
    const page = await bench.page();
    await page.getByRole('button', { name: 'Conversations', exact: true }).click();
    await page.getByRole('searchbox').fill('Ten thousand');
    await page.getByText('10,000 messages').waitFor();
    await window.screenshot('agent-conversations');
    await page.getByRole('button', { name: /^Ten thousand/ }).click();
    await page.getByText('Answer 10000').waitFor();
    const rows = page.locator('.row');
    assert.ok((await rows.count()) < 700);
    await window.until('rows that were not sent at once', async () => {
      await page.locator('.rows').evaluate((box) => (box.scrollTop = 0));
      return Number(await rows.first().getAttribute('data-seq')) < 9800;
    });
    assert.ok((await rows.count()) < 700);
    await page.getByRole('button', { name: 'Conversations', exact: true }).click();
    await page.getByRole('button', { name: /^Add a card that compares/ }).click();
    await page.getByText('Only keys were used.', { exact: true }).waitFor();
  });

  for (const [kind, theme] of [
    ['light', 'Default Light Modern'],
    ['dark', 'Default Dark Modern'],
    ['high-contrast', 'Default High Contrast'],
  ] as const) {
    it(`[AGENT-12] leaves axe-core nothing to say about the workbench in a ${kind} theme`, async () => {
      const { window } = used();
      await window.host('setting', { section: 'workbench', name: 'colorTheme', value: theme });
      await window.host('closeAll');
      await window.host('command', { command: 'sallyport.openWorkbenchEditor' });
      await window.until('the workbench as the only tab', async () => {
        const tabs = await window.host('tabs');
        return tabs.length === 1;
      });
      const page = await bench.page(`.vscode-${kind} .composer textarea`);
      await page.getByText('Only keys were used.', { exact: true }).waitFor();
      await window.screenshot(`agent-${kind}`);
      assert.deepEqual(await axe(page), []);
    });
  }

  it('[AGENT-12] can be read in a narrow window', async () => {
    const { window } = used();
    const size = window.page.viewportSize();
    await window.host('closeAll');
    await window.page.setViewportSize({ width: 720, height: 700 });
    await (await bench.page()).getByText('Only keys were used.', { exact: true }).waitFor();
    await window.screenshot('agent-narrow');
    assert.deepEqual(await axe(await bench.page()), []);
    if (size) await window.page.setViewportSize(size);
  });

  it('[AGENT-13] left the key nowhere but in its header and in VS Code’s own store of secrets', async () => {
    const { window, folder } = used();
    for (const request of model.requests) {
      assert.equal(request.headers.authorization, `Bearer ${canary.value}`);
      const others = { ...request.headers, authorization: undefined };
      assert.deepEqual(canary.in(JSON.stringify([request.path, others, request.text])), []);
    }
    assert.ok(model.requests.length > 10);
    const { dataDir } = window.server;
    assert.deepEqual(canary.below(dataDir), []);
    assert.deepEqual(canary.below(folder), []);
    const home = join(dataDir, 'data/User/globalStorage/sallyport.sallyport');
    assert.deepEqual(canary.inDatabase(join(home, 'sallyport.sqlite')), []);
    assert.deepEqual(canary.in(window.log() + window.server.log()), []);
    for (const frame of window.page.frames()) {
      const texts = await frame.content().catch(() => '');
      assert.deepEqual(canary.in(texts), [], frame.url());
    }
    assert.deepEqual(canary.in(JSON.stringify(await window.page.context().storageState())), []);
  });
});
