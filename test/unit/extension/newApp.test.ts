import assert from 'node:assert/strict';
import { NewApp } from '../../../extension/src/apps/newApp/newApp.ts';
import { idProblem, nameProblem } from '../../../extension/src/apps/newApp/checkNewApp.ts';
import type { NewAppFolder } from '../../../extension/src/apps/newApp/newAppFolder.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import { newAppNotices, newAppWords } from '../../../extension/src/newAppMessages.ts';
import { readTemplate } from '../../../scripts/newApp.mjs';
import { until } from '../../support/until.ts';
import { QuickInputButtons, resetStub, stub } from '../../support/vscodeStub.ts';

describe('New App', () => {
  function make(options: { full?: readonly string[]; chosen?: (string | undefined)[] } = {}) {
    resetStub();
    const shown: Notice[] = [];
    const written = new Map<string, ReadonlyMap<string, string>>();
    const opened: string[] = [];
    const chosen = [...(options.chosen ?? [])];
    const folder: NewAppFolder = {
      open: () => [{ name: 'code', path: '/code' }],
      choose: async () => chosen.shift(),
      isEmpty: async (path) => !(options.full ?? []).includes(path),
      write: async (path, files) => void written.set(path, files),
      show: async (path) => void opened.push(path),
    };
    const notifier = { show: (notice: Notice) => void shown.push(notice), showError: () => undefined };
    const newApp = new NewApp({ readTemplate, folder, notifier });
    return { newApp, done: newApp.run(), shown, written, opened };
  }
  const box = async (count: number) => {
    await until(() => stub.boxes.length === count && stub.boxes.at(-1)!.isShown);
    return stub.boxes.at(-1)!;
  };
  const pick = async (count: number) => {
    await until(() => stub.picks.length === count && stub.picks.at(-1)!.isShown);
    return stub.picks.at(-1)!;
  };

  it('[NEWAPP-01] asks five things and writes what was chosen', async () => {
    const { newApp, done, shown, written, opened } = make();
    const name = await box(1);
    assert.deepEqual([name.step, name.totalSteps, name.buttons], [1, 5, []]);
    name.enter('  ');
    assert.equal(name.validationMessage, 'Type a name.');
    name.enter('My Notes');
    const id = await box(2);
    assert.equal(id.value, 'my-notes');
    id.enter('My');
    assert.match(id.validationMessage ?? '', /begins with a small letter/);
    id.enter('my-notes');
    (await pick(1)).choose('Only a page');
    (await pick(2)).choose('TypeScript');
    const where = await pick(3);
    assert.equal(where.items[0]?.detail, '/code/apps/my-notes');
    where.choose('In code');
    await done;
    const files = written.get('/code/apps/my-notes');
    assert.ok(files?.has('main.ts') && !files.has('plugins/hello/plugin.json'));
    assert.deepEqual(opened, ['/code/apps/my-notes']);
    assert.deepEqual(shown, [newAppNotices.written('My Notes', '/code/apps/my-notes')]);
    assert.ok(newApp.hasWritten('/code/apps/my-notes'));
    assert.ok(!newApp.hasWritten('/code/apps'));
  });

  it('[NEWAPP-01] goes back with what was answered', async () => {
    const { done, written } = make();
    (await box(1)).enter('One');
    (await box(2)).triggered.fire(QuickInputButtons.Back);
    const name = await box(3);
    assert.equal(name.value, 'One');
    name.enter('Two');
    const id = await box(4);
    assert.equal(id.value, 'two', 'an id that was only suggested follows the name');
    id.enter('mine');
    (await pick(1)).triggered.fire(QuickInputButtons.Back);
    assert.equal((await box(5)).value, 'mine');
    stub.boxes.at(-1)!.triggered.fire(QuickInputButtons.Back);
    (await box(6)).enter('Three');
    assert.equal((await box(7)).value, 'mine', 'one that was typed stays');
    stub.boxes.at(-1)!.dispose();
    await done;
    assert.equal(written.size, 0);
  });

  it('[NEWAPP-02] leaves a folder with files alone and asks where again', async () => {
    const { done, shown, written } = make({ full: ['/code/apps/a'], chosen: [undefined, '/elsewhere'] });
    (await box(1)).enter('A');
    (await box(2)).enter('a');
    (await pick(1)).choose('A page and a plugin');
    (await pick(2)).choose('JavaScript');
    (await pick(3)).choose('In code');
    const again = await pick(4);
    assert.deepEqual(shown, [newAppNotices.notEmpty('/code/apps/a')]);
    again.choose('Choose a folder');
    (await pick(5)).choose('Choose a folder');
    await done;
    assert.deepEqual([...written.keys()], ['/elsewhere/a']);
    assert.ok(written.get('/elsewhere/a')?.has('plugins/hello/plugin.json'));
  });

  for (const [text, problem] of [
    ['', 'empty'],
    ['a', undefined],
    ['a'.repeat(64), undefined],
    ['a'.repeat(65), 'too-long'],
    ['9a', 'start'],
    ['-a', 'start'],
    ['aB', 'characters'],
    ['a/b', 'characters'],
    ['a..', 'characters'],
    ['ä', 'start'],
  ] as const)
    it(`says of the id “${text.slice(0, 8)}” (${text.length}): ${problem}`, () => {
      assert.equal(idProblem(text), problem);
      if (problem) assert.ok(newAppWords.idProblem(problem).endsWith('.'));
    });

  for (const [text, problem] of [
    [' ', 'empty'],
    ['Notes', undefined],
    ['n'.repeat(201), 'too-long'],
    ['No\u202etes', 'hidden'],
    ['No\ntes', 'hidden'],
  ] as const)
    it(`says of the name ${JSON.stringify(text.slice(0, 8))}: ${problem}`, () => {
      assert.equal(nameProblem(text), problem);
      if (problem) assert.ok(newAppWords.nameProblem(problem).endsWith('.'));
    });
});
