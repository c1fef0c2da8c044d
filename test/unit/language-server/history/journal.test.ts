import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { HistoryHarness } from '../../../support/historyHarness.ts';
import { snapshot } from '../../../support/snapshot.ts';
import { never } from '../../../support/testEngine.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('Journal', () => {
  const folder = useTemporaryFolder();
  let history: HistoryHarness;
  beforeEach(() => {
    history = new HistoryHarness(folder());
  });
  afterEach(() => history.close());

  /** A project with one of everything. */
  function fill(): void {
    mkdirSync(history.path('src/deep'), { recursive: true });
    writeFileSync(history.path('src/a.txt'), 'a\n');
    writeFileSync(history.path('src/deep/run.sh'), '#!/bin/sh\n');
    chmodSync(history.path('src/deep/run.sh'), 0o750);
    writeFileSync(history.path('.hidden'), Buffer.from([0, 255, 1, 254]));
    writeFileSync(history.path('.gitignore'), 'ignored.log\n');
    writeFileSync(history.path('ignored.log'), 'log\n');
    symlinkSync('src/a.txt', history.path('link'));
    symlinkSync('/nowhere/at all', history.path('dangling'));
    mkdirSync(history.path('empty'));
  }

  /** Each way in which a path can change. */
  const changes: readonly [
    string,
    (h: HistoryHarness) => Parameters<HistoryHarness['journal']['change']>[1],
  ][] = [
    ['a file is created', (h) => [h.file('new.txt', 'new')]],
    ['a file is created below folders that are missing', (h) => [h.file('x/y/z.txt', 'new')]],
    ['a file is edited', (h) => [h.file('src/a.txt', 'b\n')]],
    ['an executable file is edited', (h) => [h.file('src/deep/run.sh', 'exit 1\n')]],
    ['permission bits change', (h) => [h.file('src/a.txt', 'a\n', 0o755)]],
    ['a hidden binary file is edited', (h) => [h.file('.hidden', 'text')]],
    ['an ignored file is deleted', (h) => [h.absent('ignored.log')]],
    ['a link is deleted, not what it leads to', (h) => [h.absent('link')]],
    ['a link that leads nowhere is deleted', (h) => [h.absent('dangling')]],
    ['a link becomes a file', (h) => [h.file('link', 'text')]],
    ['a file becomes a link', (h) => [{ place: h.place('src/a.txt'), to: { kind: 'link', target: '.' } }]],
    ['an empty folder is deleted', (h) => [h.absent('empty')]],
    [
      'a folder is deleted with all that is in it',
      (h) => [h.absent('src'), h.absent('src/a.txt'), h.absent('src/deep'), h.absent('src/deep/run.sh')],
    ],
    [
      'a folder becomes a file',
      (h) => [h.file('src', 'x'), h.absent('src/a.txt'), h.absent('src/deep'), h.absent('src/deep/run.sh')],
    ],
    ['a file becomes a folder', (h) => [{ ...h.absent('src/a.txt') }, h.file('src/b/c', 'x')]],
    [
      'a file becomes a folder of its own name',
      (h) => [
        { place: h.place('ignored.log'), to: { kind: 'folder', mode: null } },
        h.file('ignored.log/in', 'x'),
      ],
    ],
    [
      'many at once',
      (h) => [h.file('src/a.txt', '1'), h.absent('link'), h.file('n/e/w', '2'), h.absent('empty')],
    ],
  ];
  for (const [what, wanted] of changes) {
    it(`[UNDO-01] takes back and does again when ${what}`, async () => {
      fill();
      const before = snapshot(history.root);
      const recorded = await history.journal.change(history.context(), wanted(history));
      const after = snapshot(history.root);
      assert.notDeepEqual(after, before);
      assert.ok(recorded.length > 0);
      for (const round of [1, 2]) {
        assert.ok((await history.turn('undo', { group: 'turn-1' })) > 0, `undo ${round}`);
        assert.deepEqual(snapshot(history.root), before);
        assert.ok((await history.turn('redo', { group: 'turn-1' })) > 0, `redo ${round}`);
        assert.deepEqual(snapshot(history.root), after);
      }
    });
  }

  it('[UNDO-02] keeps what was there before it is changed', async () => {
    writeFileSync(history.path('a.txt'), 'before');
    let seen: string | undefined;
    await history.journal.record(history.context(), [history.place('a.txt')], async () => {
      const row = history.gate.database.get('select * from history_entries');
      assert.equal(row?.['after_json'], null);
      seen = history.journal.blobs.readBytes(String(row['before_digest'])).toString();
      writeFileSync(history.path('a.txt'), 'after');
    });
    assert.equal(seen, 'before');
  });

  it('leaves nothing of a change that changed nothing', async () => {
    writeFileSync(history.path('a.txt'), 'same');
    assert.deepEqual(await history.journal.change(history.context(), [history.file('a.txt', 'same')]), []);
    await history.journal.record(history.context(), [history.place('a.txt')], async () => undefined);
    assert.deepEqual((await history.list()).changes, []);
    assert.deepEqual(history.changed, []);
  });

  it('records what an effect did before it failed', async () => {
    const failing = history.journal.record(history.context(), [history.place('a.txt')], async () => {
      writeFileSync(history.path('a.txt'), 'half');
      throw new Error('broken off');
    });
    await assert.rejects(failing, /broken off/);
    assert.deepEqual(
      (await history.list()).changes.map(({ path, kind }) => [path, kind]),
      [['a.txt', 'create']],
    );
  });

  it('refuses what is not as the asker saw it, and changes nothing', async () => {
    writeFileSync(history.path('a.txt'), 'seen');
    const { state } = await history.journal.look(history.place('a.txt'));
    writeFileSync(history.path('a.txt'), 'changed');
    const wanted = [history.file('b.txt', 'x'), { ...history.file('a.txt', 'mine'), expected: state }];
    await assert.rejects(history.journal.change(history.context(), wanted), { code: 'conflict' });
    assert.deepEqual(readdirSync(history.root), ['a.txt']);
    assert.equal(readFileSync(history.path('a.txt'), 'utf8'), 'changed');
  });

  it('[UNDO-03] takes everything back where one step of many fails', async () => {
    fill();
    const before = snapshot(history.root);
    // The folder holds more than is to be removed, so that its removal fails after all else was done.
    const wanted = [
      history.file('src/a.txt', 'other'),
      history.absent('link'),
      history.absent('ignored.log'),
      history.file('new/deep/file', 'x'),
      history.file('.hidden', 'x', 0o600),
      history.absent('src/deep'),
    ];
    await assert.rejects(history.journal.change(history.context(), wanted), { code: 'conflict' });
    assert.deepEqual(snapshot(history.root), before);
    assert.deepEqual((await history.list()).changes, []);
  });

  it('[UNDO-03] takes everything back where content is missing', async () => {
    fill();
    const before = snapshot(history.root);
    const lost = { kind: 'file' as const, digest: 'f'.repeat(64), mode: null };
    const wanted = [history.absent('link'), { place: history.place('src/a.txt'), to: lost }];
    await assert.rejects(history.journal.change(history.context(), wanted), { code: 'not-found' });
    assert.deepEqual(snapshot(history.root), before);
  });

  it('writes the new text beside the old and keeps the file’s permission bits', async () => {
    writeFileSync(history.path('a.txt'), 'old', { mode: 0o640 });
    chmodSync(history.path('a.txt'), 0o640);
    const { ino } = statSync(history.path('a.txt'));
    await history.journal.change(history.context(), [history.file('a.txt', 'new')]);
    const after = statSync(history.path('a.txt'));
    assert.equal(after.mode & 0o777, 0o640);
    assert.notEqual(after.ino, ino);
  });

  for (const [what, path] of [
    ['a folder on the way is a link', 'linked/a.txt'],
    ['a folder far up on the way is a link', 'linked/deep/a.txt'],
  ] as const) {
    it(`[UNDO-04] writes nothing where ${what}`, async () => {
      const outside = join(folder(), 'outside');
      mkdirSync(join(outside, 'deep'), { recursive: true });
      symlinkSync(outside, history.path('linked'));
      await assert.rejects(history.journal.change(history.context(), [history.file(path, 'x')]), {
        code: 'unsafe-path',
      });
      assert.deepEqual(readdirSync(outside, { recursive: true }), ['deep']);
      // The control: what writes by path goes through the link.
      writeFileSync(history.path(path), 'x');
      assert.ok(existsSync(join(outside, path.slice('linked/'.length))));
    });
  }

  it('[UNDO-04] replaces a link by name instead of writing through it', async () => {
    const target = join(folder(), 'authorized_keys');
    writeFileSync(target, 'mine');
    symlinkSync(target, history.path('notes.md'));
    await history.journal.change(history.context(), [history.file('notes.md', 'evil')]);
    assert.equal(readFileSync(target, 'utf8'), 'mine');
  });

  for (const path of ['', '..', '../x', 'a/../b', '/etc/x', 'a//b', 'a\0b', './a']) {
    it(`refuses the path ${JSON.stringify(path)}`, async () => {
      await assert.rejects(history.journal.change(history.context(), [history.file(path, 'x')]), {
        code: 'unsafe-path',
      });
    });
  }

  it('refuses to replace a link whose target it could not write again', async function () {
    if (process.platform !== 'linux') {
      console.log('      skipped: the file names of this system are UTF-8 always');
      this.skip();
    }
    const target = Buffer.from('caf\xe9', 'latin1');
    symlinkSync(target, history.path('link'));
    await assert.rejects(history.journal.change(history.context(), [history.file('link', 'text')]), {
      code: 'unsafe-path',
    });
    assert.deepEqual(readlinkSync(history.path('link'), 'buffer'), target);
  });

  it('refuses to replace what it could not put back', async () => {
    const { spawnSync } = await import('node:child_process');
    spawnSync('mkfifo', [history.path('pipe')]);
    await assert.rejects(history.journal.change(history.context(), [history.absent('pipe')]), {
      code: 'unsafe-path',
    });
    assert.ok(lstatSync(history.path('pipe')).isFIFO());
  });

  describe('recover', () => {
    /** What a killed engine leaves: a begun entry, and the change made or not. */
    async function crash(write: () => void): Promise<HistoryHarness> {
      const database = join(folder(), 'h.sqlite');
      const first = new HistoryHarness(folder(), { database, engine: 'gone' });
      let reached: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (reached = resolve));
      void first.journal.record(first.context(), [first.place('a.txt')], () => {
        write();
        reached();
        return new Promise<void>(() => undefined);
      });
      await begun;
      first.close();
      return new HistoryHarness(folder(), { database, engine: 'next' });
    }

    it('[UNDO-05] completes by looking what a crash left half recorded', async () => {
      writeFileSync(history.path('a.txt'), 'before');
      const next = await crash(() => writeFileSync(history.path('a.txt'), 'after'));
      assert.equal(await next.journal.recover((engine) => engine === 'gone'), 0, 'alive');
      assert.equal(await next.journal.recover(() => false), 1);
      assert.equal(await next.turn('undo', { group: 'turn-1' }), 1);
      assert.equal(readFileSync(history.path('a.txt'), 'utf8'), 'before');
      next.close();
    });

    it('[UNDO-05] forgets what a crash left begun and not done', async () => {
      writeFileSync(history.path('a.txt'), 'before');
      const next = await crash(() => undefined);
      assert.equal(await next.journal.recover(() => false), 0);
      assert.deepEqual((await next.list()).changes, []);
      next.close();
    });

    it('[UNDO-05] completes the record of a folder', async () => {
      fill();
      const before = snapshot(history.root);
      const database = join(folder(), 'h.sqlite');
      const first = new HistoryHarness(folder(), { database, engine: 'gone' });
      let reached: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (reached = resolve));
      void first.journal.recordFolders(first.context(), [first.root], () => {
        rmSync(first.path('src'), { recursive: true });
        writeFileSync(first.path('.hidden'), 'gone');
        reached();
        return new Promise<void>(() => undefined);
      });
      await begun;
      first.close();
      const next = new HistoryHarness(folder(), { database, engine: 'next' });
      assert.equal(await next.journal.recover(() => false), 5);
      await next.turn('undo', { group: 'turn-1' });
      assert.deepEqual(snapshot(history.root), before);
      next.close();
    });
  });

  describe('recordFolders', () => {
    it('[UNDO-06] records whatever a program did in a folder, and only that', async () => {
      fill();
      const before = snapshot(history.root);
      const recorded = await history.journal.recordFolders(
        history.context('run-1'),
        [history.root],
        async () => {
          writeFileSync(history.path('src/a.txt'), 'overwritten in place');
          chmodSync(history.path('src/deep/run.sh'), 0o700);
          rmSync(history.path('link'));
          symlinkSync('/etc/passwd', history.path('link'));
          renameSync(history.path('ignored.log'), history.path('moved.log'));
          mkdirSync(history.path('made/here'), { recursive: true });
        },
      );
      assert.deepEqual(
        recorded.map(({ place, kind }) => `${kind} ${place.path}`),
        [
          'delete ignored.log',
          'edit link',
          'create made',
          'create made/here',
          'create moved.log',
          'edit src/a.txt',
          'mode src/deep/run.sh',
        ],
      );
      // Only what changed is kept: '.hidden' and '.gitignore' are not.
      const kept = [...history.journal.blobs.list()].map(({ digest }) =>
        history.journal.blobs.readBytes(digest).toString(),
      );
      assert.deepEqual(kept.sort(), ['#!/bin/sh\n', 'a\n', 'log\n', 'overwritten in place']);
      await history.turn('undo', { group: 'run-1' });
      assert.deepEqual(snapshot(history.root), before);
    });

    it('records a change that kept size and time of change', async () => {
      writeFileSync(history.path('a.txt'), 'aaaa');
      const { atime, mtime } = statSync(history.path('a.txt'));
      const { utimesSync } = await import('node:fs');
      const recorded = await history.journal.recordFolders(history.context(), [history.root], async () => {
        writeFileSync(history.path('a.txt'), 'bbbb');
        utimesSync(history.path('a.txt'), atime, mtime);
      });
      assert.equal(recorded.length, 1);
    });

    it('records what two programs do in one folder one after the other, and folders in folders once', async () => {
      mkdirSync(history.path('shared/inner'), { recursive: true });
      const order: string[] = [];
      const write = (name: string) => async () => {
        order.push(`begin ${name}`);
        await Promise.resolve();
        writeFileSync(history.path('shared/inner/a.txt'), name);
        order.push(`end ${name}`);
      };
      const folders = [history.path('shared'), history.path('shared/inner'), history.path('shared')];
      const [first, second] = await Promise.all([
        history.journal.recordFolders(history.context('one'), folders, write('one')),
        history.journal.recordFolders(history.context('two'), [history.path('shared/inner')], write('two')),
      ]);
      assert.deepEqual(order, ['begin one', 'end one', 'begin two', 'end two']);
      assert.deepEqual([first.length, second.length], [1, 1]);
    });

    it('records what was there even where what came is more than it can keep', async () => {
      const small = new HistoryHarness(folder(), { limitBytes: 1000 });
      writeFileSync(small.path('a'), 'before');
      await small.journal.recordFolders(small.context('run'), [small.root], async () => {
        writeFileSync(small.path('a'), Buffer.alloc(5000));
      });
      const [change] = (await small.list()).changes;
      const before = small.handlers['history/locate']({ changeId: change?.id ?? '', side: 'before' }, never);
      assert.equal(readFileSync((await before).path ?? '', 'utf8'), 'before');
      small.close();
    });

    it('refuses a folder that holds more than it can keep, and lets nothing change there', async () => {
      const small = new HistoryHarness(folder(), { limitBytes: 1000 });
      writeFileSync(small.path('big'), Buffer.alloc(2000));
      let wrote = false;
      const recording = small.journal.recordFolders(small.context(), [small.root], async () => {
        wrote = true;
      });
      await assert.rejects(recording, { code: 'too-large' });
      assert.equal(wrote, false);
      small.close();
    });
  });
});
