import assert from 'node:assert/strict';
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  existsSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { HistoryHarness } from '../../../support/historyHarness.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never } from '../../../support/testEngine.ts';
import { snapshot } from '../../../support/snapshot.ts';

describe('Undo', () => {
  const folder = useTemporaryFolder();
  let history: HistoryHarness;
  beforeEach(() => {
    history = new HistoryHarness(folder());
  });
  afterEach(() => history.close());
  const text = (path: string) => readFileSync(history.path(path), 'utf8');
  const change = (group: string, ...wanted: Parameters<HistoryHarness['journal']['change']>[1]) =>
    history.journal.change(history.context(group), wanted);

  /** A turn that edits one file and makes another, in a folder of its own. */
  async function edited(): Promise<void> {
    writeFileSync(history.path('a.txt'), 'one');
    await change('turn-1', history.file('a.txt', 'two'), history.file('made/b.txt', 'b'));
  }

  it('shows what it would do, path by path, and does nothing yet', async () => {
    await edited();
    const { steps } = await history.preview('undo', { group: 'turn-1' });
    assert.deepEqual(
      steps.map(({ path, action, conflict }) => [path, action, conflict]),
      [
        ['a.txt', 'restore', null],
        ['made', 'remove', null],
        ['made/b.txt', 'remove', null],
      ],
    );
    assert.equal(text('a.txt'), 'two');
  });

  it('takes one file of a turn back', async () => {
    await edited();
    const { changes } = await history.list();
    const a = changes.find(({ path }) => path === 'a.txt');
    assert.equal(await history.turn('undo', { changeIds: [a?.id ?? ''] }), 1);
    assert.equal(text('a.txt'), 'one');
    assert.equal(text('made/b.txt'), 'b');
  });

  it('takes several changes of one file back in one step', async () => {
    writeFileSync(history.path('a.txt'), '0');
    for (const content of ['1', '2', '3']) await change('turn-1', history.file('a.txt', content));
    assert.equal(await history.turn('undo', { group: 'turn-1' }), 1);
    assert.equal(text('a.txt'), '0');
    await history.turn('redo', { group: 'turn-1' });
    assert.equal(text('a.txt'), '3');
  });

  it('marks what is undone, and the undo itself can be undone and redone', async () => {
    await edited();
    await history.turn('undo', { group: 'turn-1' });
    const listed = async () =>
      Object.fromEntries(
        (await history.list()).changes.map(({ groupTitle, path, undone }) => [
          `${groupTitle} ${path}`,
          undone,
        ]),
      );
    assert.equal((await listed())['Title of turn-1 a.txt'], true);
    const undo = (await history.list()).changes.find(({ groupTitle }) => groupTitle.startsWith('Undo'));
    assert.equal(undo?.principal, 'person');
    await history.turn('undo', { group: undo.group });
    assert.equal(text('a.txt'), 'two');
    assert.equal(text('made/b.txt'), 'b');
    assert.equal((await listed())['Title of turn-1 a.txt'], false);
    await history.turn('redo', { group: undo.group });
    assert.equal(text('a.txt'), 'one');
    assert.equal((await listed())['Title of turn-1 a.txt'], true);
    await history.turn('redo', { group: 'turn-1' });
    assert.equal(text('a.txt'), 'two');
  });

  const conflicts: readonly [string, string, () => unknown][] = [
    ['changed since by a person', 'changed-since', () => writeFileSync(history.path('a.txt'), 'mine')],
    ['deleted since', 'changed-since', () => rmSync(history.path('a.txt'))],
    [
      'replaced by a link',
      'changed-since',
      () => {
        rmSync(history.path('a.txt'));
        symlinkSync('/etc/passwd', history.path('a.txt'));
      },
    ],
    [
      'changed since by a later turn',
      'changed-since',
      () => change('turn-2', history.file('a.txt', 'later')),
    ],
    [
      'open with unsaved changes',
      'dirty-editor',
      () => {
        history.dirty = async (paths) => paths.filter((path) => path.endsWith('/a.txt'));
      },
    ],
    [
      'perhaps open with unsaved changes',
      'dirty-editor',
      () => {
        history.dirty = () => Promise.reject(new Error('no editor answers'));
      },
    ],
    [
      'no longer kept',
      'pruned',
      () => {
        for (const { digest } of history.journal.blobs.list()) history.journal.blobs.remove(digest);
      },
    ],
  ];
  for (const [what, conflict, disturb] of conflicts) {
    it(`[UNDO-07] shows as a conflict, and leaves everything alone, where a file is ${what}`, async () => {
      await edited();
      await disturb();
      const before = snapshot(history.root);
      const { steps } = await history.preview('undo', { group: 'turn-1' });
      assert.equal(steps.find(({ path }) => path === 'a.txt')?.conflict, conflict);
      await assert.rejects(history.turn('undo', { group: 'turn-1' }), { code: 'conflict' });
      assert.deepEqual(snapshot(history.root), before);
    });
  }

  it('[UNDO-07] shows as a conflict where the way leads out through a link', async () => {
    mkdirSync(history.path('d'));
    writeFileSync(history.path('d/a.txt'), 'one');
    await change('turn-1', history.file('d/a.txt', 'two'));
    const elsewhere = join(folder(), 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'a.txt'), 'two');
    rmSync(history.path('d'), { recursive: true });
    symlinkSync(elsewhere, history.path('d'));
    const { steps } = await history.preview('undo', { group: 'turn-1' });
    assert.equal(steps[0]?.conflict, 'outside');
    await assert.rejects(history.turn('undo', { group: 'turn-1' }), { code: 'conflict' });
    assert.equal(readFileSync(join(elsewhere, 'a.txt'), 'utf8'), 'two');
  });

  it('[UNDO-07] does not skip a later change of the same file that was not chosen', async () => {
    writeFileSync(history.path('a.txt'), '0');
    for (const [group, content] of [
      ['g1', '1'],
      ['g2', '2'],
      ['g3', '3'],
    ] as const)
      await change(group, history.file('a.txt', content));
    const { changes } = await history.list();
    const chosen = changes.filter(({ group }) => group !== 'g2').map(({ id }) => id);
    const { steps } = await history.preview('undo', { changeIds: chosen });
    assert.equal(steps[0]?.conflict, 'changed-since');
  });

  it('does only the plan that was shown', async () => {
    await edited();
    const { planDigest } = await history.preview('undo', { group: 'turn-1' });
    rmSync(history.path('made/b.txt'));
    const params = { root: history.root, direction: 'undo' as const, group: 'turn-1', planDigest };
    await assert.rejects(async () => history.handlers['history/apply'](params, never), { code: 'conflict' });
    assert.equal(text('a.txt'), 'two');
  });

  it('keeps a folder that somebody else has put something in', async () => {
    await edited();
    writeFileSync(history.path('made/mine.txt'), 'mine');
    await history.turn('undo', { group: 'turn-1' });
    assert.deepEqual(readdirSync(history.path('made')), ['mine.txt']);
    assert.equal(text('a.txt'), 'one');
  });

  it('finds nothing to do where everything is as it was', async () => {
    await edited();
    writeFileSync(history.path('a.txt'), 'one');
    rmSync(history.path('made'), { recursive: true });
    const { steps } = await history.preview('undo', { group: 'turn-1' });
    assert.deepEqual(
      [...new Set(steps.map(({ action, conflict }) => `${action} ${conflict}`))],
      ['nothing null'],
    );
    assert.equal(await history.turn('undo', { group: 'turn-1' }), 0);
  });

  it('does nothing in an untrusted workspace', async () => {
    await edited();
    history.gate.trusted = false;
    await assert.rejects(history.turn('undo', { group: 'turn-1' }), { code: 'not-trusted' });
    assert.equal(text('a.txt'), 'two');
  });

  it('refuses a change of another project, and one that is not there', async () => {
    await edited();
    const { changes } = await history.list();
    const other = join(folder(), 'other');
    mkdirSync(other);
    for (const [root, id] of [
      [other, changes[0]?.id ?? ''],
      [history.root, 'none'],
    ] as const) {
      const params = { root, direction: 'undo' as const, changeIds: [id] };
      await assert.rejects(async () => history.handlers['history/preview'](params, never), {
        code: 'not-found',
      });
    }
  });

  it('locates both sides of a change, and lists page by page', async () => {
    await edited();
    const { changes } = await history.list();
    const a = changes.find(({ path }) => path === 'a.txt');
    for (const [side, content] of [
      ['before', 'one'],
      ['after', 'two'],
    ] as const) {
      const { path } = await history.handlers['history/locate']({ changeId: a?.id ?? '', side }, never);
      assert.equal(readFileSync(path ?? '', 'utf8'), content);
    }
    const first = await history.handlers['history/list']({ root: history.root, limit: 2 }, never);
    const second = await history.handlers['history/list'](
      { root: history.root, limit: 2, ...(first.cursor === undefined ? {} : { cursor: first.cursor }) },
      never,
    );
    assert.deepEqual([...first.changes, ...second.changes], changes);
    assert.equal(second.cursor, undefined);
    const stolen = { root: '/other', limit: 2, cursor: first.cursor ?? '' };
    await assert.rejects(async () => history.handlers['history/list'](stolen, never), {
      code: 'bad-message',
    });
  });

  describe('space', () => {
    it('[UNDO-08] gives up the oldest contents first, and says so', async () => {
      history.close();
      history = new HistoryHarness(folder(), { limitBytes: 10_000 });
      for (let round = 0; round < 20; round++)
        await change(`turn-${round}`, history.file('a.txt', `${round}`.padEnd(1000, '.')));
      const { usedBytes, limitBytes } = await history.list();
      assert.ok(usedBytes <= limitBytes, `${usedBytes}`);
      assert.ok(usedBytes > limitBytes / 2, `${usedBytes}`);
      const onDisk = [...history.journal.blobs.list()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      assert.equal(usedBytes, onDisk);
      await history.turn('undo', { group: 'turn-19' });
      assert.match(text('a.txt'), /^18\./);
      const { steps } = await history.preview('undo', { group: 'turn-0' });
      assert.notEqual(steps[0]?.conflict, null);
    });

    it('refuses a change of something larger than it may keep', async () => {
      history.close();
      history = new HistoryHarness(folder(), { limitBytes: 100 });
      writeFileSync(history.path('big'), Buffer.alloc(200));
      await assert.rejects(change('turn-1', history.absent('big')), { code: 'too-large' });
      assert.ok(existsSync(history.path('big')));
    });
  });

  it('[UNDO-01] whatever is done, undoing turns from the last to the first leads back to the beginning', async () => {
    const name = fc.constantFrom('a', 'b', 'd/a', 'd/b', 'd/e/a');
    const one = fc.record({
      name,
      content: fc.option(fc.constantFrom('1', '2', '3')),
      mode: fc.constantFrom(null, 0o600, 0o755),
    });
    const turns = fc.array(
      fc.uniqueArray(one, { minLength: 1, maxLength: 4, selector: (each) => each.name }),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    let round = 0;
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        round++;
        const fresh = new HistoryHarness(join(folder(), `round-${round}`));
        const states = [snapshot(fresh.root)];
        for (const [index, wanted] of all.entries()) {
          const steps = wanted.map(({ name: path, content, mode }) =>
            content === null ? fresh.absent(path) : fresh.file(path, content, mode),
          );
          await fresh.journal.change(fresh.context(`t${index}`), steps);
          states.push(snapshot(fresh.root));
        }
        for (let index = all.length - 1; index >= 0; index--) {
          await fresh.turn('undo', { group: `t${index}` });
          assert.deepEqual(snapshot(fresh.root), states[index]);
        }
        for (let index = 0; index < all.length; index++) {
          await fresh.turn('redo', { group: `t${index}` });
          assert.deepEqual(snapshot(fresh.root), states[index + 1]);
        }
        fresh.close();
      }),
      { numRuns: 60 },
    );
  });
});
