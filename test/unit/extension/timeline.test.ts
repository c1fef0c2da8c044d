import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandRegistry } from '../../../extension/src/commandRegistry.ts';
import { ChangeDocuments } from '../../../extension/src/history/changeDocuments.ts';
import { changeNodes } from '../../../extension/src/history/changeNodes.ts';
import { parseChangeTarget } from '../../../extension/src/history/changeTarget.ts';
import { dirtyEditors } from '../../../extension/src/history/dirtyEditors.ts';
import { Timeline } from '../../../extension/src/history/timeline.ts';
import { Undo } from '../../../extension/src/history/undo.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import type { Change, UndoStep } from '../../../protocol/src/agent.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { FakeEngine } from '../../support/fakeEngine.ts';
import { makeProject } from '../../support/sampleViews.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

function makeChange(over: Partial<Change> = {}): Change {
  return {
    id: 'c1',
    group: 't1',
    groupTitle: 'Compare two years',
    principal: 'agent',
    conversation: 'conv',
    path: 'cards/compare/main.py',
    kind: 'create',
    before: null,
    after: 'a'.repeat(64),
    sizeBytes: 2048,
    undone: false,
    at: 0,
    ...over,
  };
}

describe('the timeline', () => {
  it('[TIME-01] shows changes by turn, then by file, with sizes and what is undone', () => {
    const [first, second] = changeNodes(
      '/p',
      [
        makeChange(),
        makeChange({ id: 'c2', kind: 'edit' }),
        makeChange({ id: 'c3', path: 'notes\u202e.md', undone: true }),
        makeChange({ id: 'c4', group: 't2', groupTitle: '', principal: 'app:viewer', undone: true }),
      ],
      { now: 0, projectName: undefined },
    );
    assert.equal(first?.label, 'Compare two years');
    assert.match(first.description ?? '', /3 changes · 6\.0 KB · 1 of 3 undone/);
    assert.equal(first.kind, 'turn.mixed');
    assert.match(first.spoken ?? '', /by Sallyport’s agent/);
    const files = first.children as readonly (typeof first)[];
    assert.deepEqual(
      files.map(({ label, kind, changeIds }) => [label, kind, changeIds]),
      [
        ['cards/compare/main.py', 'file.done', ['c1', 'c2']],
        ['notes\\u{202E}.md', 'change.undone', ['c3']],
      ],
    );
    assert.deepEqual(second?.kind, 'turn.undone');
  });

  it('reads page by page and again after a change', async () => {
    const pages: Record<string, object> = {
      first: { changes: [makeChange()], cursor: 'next', usedBytes: 12_000_000, limitBytes: 1024 ** 3 },
      next: { changes: [makeChange({ id: 'c9', group: 't9' })], usedBytes: 0, limitBytes: 1024 ** 3 },
    };
    const fake = new FakeEngine({
      'history/list': ({ cursor }: { cursor?: string }) => pages[cursor ?? 'first'],
    });
    const timeline = new Timeline(fake.engine);
    const projects = [makeProject({ root: '/p' })];
    const ids = async () => (await timeline.nodes(projects)).map(({ id }) => id);
    assert.deepEqual(await ids(), ['/p\nt1', 'more']);
    assert.equal(timeline.usedText, '11 MB of 1.0 GB');
    await timeline.more();
    assert.deepEqual(await ids(), ['/p\nt1', '/p\nt9']);
    assert.equal(timeline.find('c9')?.group, 't9');
    timeline.forget('/p');
    assert.deepEqual(await ids(), ['/p\nt1', 'more']);
  });

  it('takes a command’s target from a node and nothing from anything else', () => {
    assert.deepEqual(parseChangeTarget([{ root: '/p', changeIds: ['c1'], label: 'x' }]), {
      root: '/p',
      changeIds: ['c1'],
    });
    for (const args of [[], ['x'], [null], [{ changeIds: 'c1' }]])
      assert.deepEqual(parseChangeTarget(args), {});
  });
});

describe('undo and redo', () => {
  const step = (changeId: string, over: Partial<UndoStep> = {}): UndoStep => ({
    changeId,
    path: `${changeId}.md`,
    action: 'restore',
    conflict: null,
    ...over,
  });

  function make(preview: (params: { changeIds?: string[] }) => UndoStep[], apply?: () => unknown) {
    resetStub();
    const shown: Notice[] = [];
    const fake = new FakeEngine({
      'history/preview': (params: { changeIds?: string[] }) => ({
        planDigest: 'd'.repeat(64),
        steps: preview(params),
      }),
      'history/apply': apply ?? (() => ({ applied: 1 })),
    });
    const notifier = { show: (notice: Notice) => void shown.push(notice), showError: () => undefined };
    return { fake, shown, undo: new Undo(fake.engine, notifier) };
  }
  const pick = async (count = 1) => {
    await until(() => stub.picks.length === count && stub.picks.at(-1)!.isShown);
    return stub.picks.at(-1)!;
  };

  it('[TIME-02] do exactly what was shown', async () => {
    const { fake, shown, undo } = make(() => [step('a'), step('b', { action: 'remove' })]);
    const done = undo.run('/p', 'undo', { group: 't1' });
    const list = await pick();
    assert.deepEqual(list.items.map(({ label, description }) => [label, description]).slice(0, 2), [
      ['a.md', 'gets its other content'],
      ['b.md', 'is removed'],
    ]);
    list.choose('a.md');
    assert.ok(list.isShown, 'a line that is no answer does nothing');
    list.choose('Undo 2 changes');
    await done;
    assert.deepEqual(fake.asked('history/apply'), [
      { root: '/p', direction: 'undo', group: 't1', planDigest: 'd'.repeat(64) },
    ]);
    assert.match(shown[0]?.text ?? '', /Undone: one change/);
  });

  it('[TIME-02] leave alone what is in the way, and show the rest again before it is done', async () => {
    const { fake, undo } = make(({ changeIds }) =>
      changeIds ? [step('a')] : [step('a'), step('b', { conflict: 'dirty-editor' })],
    );
    const done = undo.run('/p', 'redo', { group: 't1' });
    const list = await pick();
    assert.match(list.items[0]?.description ?? '', /unsaved changes/);
    assert.throws(() => list.choose('Redo 2'), /No line/);
    list.choose('Leave these alone and look at the other 1');
    (await pick(2)).choose('Redo one change');
    await done;
    assert.deepEqual(fake.asked('history/apply'), [
      { root: '/p', direction: 'redo', changeIds: ['a'], planDigest: 'd'.repeat(64) },
    ]);
  });

  it('[TIME-02] offer nothing where everything is in the way, and do nothing when closed', async () => {
    const { fake, undo } = make(() => [step('b', { conflict: 'changed-since' })]);
    const done = undo.run('/p', 'undo', { changeIds: ['b'] });
    const list = await pick();
    assert.equal(list.items.filter(({ label }) => label !== '').length, 1);
    list.dispose();
    await done;
    assert.deepEqual(fake.asked('history/apply'), []);
  });

  it('show the plan again where it has changed', async () => {
    let isFirst = true;
    const { shown, undo } = make(
      () => [step('a')],
      () => {
        if (!isFirst) return { applied: 1 };
        isFirst = false;
        throw new UserError('conflict', 'changed');
      },
    );
    const done = undo.run('/p', 'undo', { group: 't1' });
    (await pick()).choose('Undo one change');
    (await pick(2)).choose('Undo one change');
    await done;
    assert.match(shown[0]?.text ?? '', /files changed while you were looking/);
  });

  it('say where there is nothing to do', async () => {
    const { shown, undo } = make(() => [step('a', { action: 'nothing' })]);
    await undo.run('/p', 'undo', { group: 't1' });
    assert.match(shown[0]?.text ?? '', /nothing to undo/);
  });
});

describe('the documents of a change', () => {
  let folder: string;
  beforeEach(() => {
    resetStub();
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-timeline-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (fake: FakeEngine) => new ChangeDocuments(fake.engine, new CommandRegistry(() => undefined));

  it('[TIME-03] have a language only where it fetches nothing', async () => {
    const documents = open(new FakeEngine());
    for (const [path, shown] of [
      ['a.py', '/a.py'],
      ['notes.MD', '/notes.MD'],
      ['x/settings.json', '/x/settings.json.txt'],
      ['x.code-workspace', '/x.code-workspace.txt'],
      ['a.yaml', '/a.yaml.txt'],
      ['a.xml', '/a.xml.txt'],
      ['pyproject.toml', '/pyproject.toml.txt'],
      ['a.html', '/a.html.txt'],
      ['a.ipynb', '/a.ipynb.txt'],
      ['Makefile', '/Makefile.txt'],
    ] as const) {
      await documents.openDiff({ id: 'c1', path });
      const [before, after] = stub.executed.at(-1)?.args as { path: string; query: string }[];
      assert.equal(stub.executed.at(-1)?.id, 'vscode.diff');
      assert.deepEqual([before?.path, after?.path], [shown, shown]);
      assert.deepEqual([before?.query, after?.query], ['before=c1', 'after=c1']);
    }
  });

  it('are what the history holds: text, nothing, or a word for what is no text', async () => {
    writeFileSync(join(folder, 'text'), 'grün\n');
    writeFileSync(join(folder, 'binary'), Buffer.from([1, 0, 2]));
    const fake = new FakeEngine({
      'history/locate': ({ changeId }: { changeId: string }) => ({
        path: changeId === 'none' ? null : join(folder, changeId),
      }),
    });
    const documents = open(fake);
    const read = (id: string) => documents.provideTextDocumentContent({ query: `before=${id}` } as never);
    assert.equal(await read('text'), 'grün\n');
    assert.equal(await read('none'), '');
    assert.equal(await read('binary'), 'Binary, 3 B.');
    assert.deepEqual(fake.asked('history/locate')[0], { changeId: 'text', side: 'before' });
  });

  it('are not written over: unsaved editors are found, by a link too', async () => {
    writeFileSync(join(folder, 'real.md'), '');
    symlinkSync(join(folder, 'real.md'), join(folder, 'link.md'));
    const editor = (path: string, isDirty: boolean, scheme = 'file') => ({
      isDirty,
      uri: { scheme, fsPath: path },
    });
    stub.documents = [editor(join(folder, 'link.md'), true), editor(join(folder, 'saved.md'), false)];
    const asked = ['real.md', 'saved.md', 'other.md', 'link.md'].map((name) => join(folder, name));
    assert.deepEqual(await dirtyEditors(asked), [join(folder, 'real.md'), join(folder, 'link.md')]);
    stub.documents = [editor(join(folder, 'real.md'), true, 'untitled')];
    assert.deepEqual(await dirtyEditors(asked), []);
  });
});
