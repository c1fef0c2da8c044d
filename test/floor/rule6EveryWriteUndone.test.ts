import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { FileToolHarness } from '../support/fileToolHarness.ts';
import { HistoryHarness } from '../support/historyHarness.ts';
import { snapshot } from '../support/snapshot.ts';
import { whileSwapping } from '../support/swapRace.ts';
import { useTemporaryFolder } from '../support/temporaryFolder.ts';
import { until } from '../support/until.ts';

const engineSource = join(import.meta.dirname, '../../language-server/src');

/** Rule 6: every write can be undone. What is about to be changed is recorded first, whoever changes it. */
describe('floor 6: every write can be undone', () => {
  const folder = useTemporaryFolder();

  describe('one door', () => {
    const writing =
      /\b(writeFile|appendFile|rename|unlink|rm|rmdir|mkdir|mkdtemp|symlink|link|chmod|fchmod|lchown|chown|fchown|copyFile|cp|truncate|ftruncate|utimes|futimes|write|writev|createWriteStream)(Sync)?\b/;
    /**
     * What writes below Sallyport's own home or in a temporary folder of its own, and nowhere else; `writeBackup.ts`
     * and `exportImage.ts` make a file that was not there, where a person chose.
     */
    const elsewhere = [
      'apps/appFiles.ts',
      'apps/dataRestore.ts',
      'apps/packages/packageCache.ts',
      'apps/sources/fetchRepository.ts',
      'apps/sources/job/gitJob.ts',
      'apps/sources/takeRepository.ts',
      'apps/writeBackup.ts',
      'placeNew.ts',
      'plugins/appStorage.ts',
      'runners/ssh/remoteProgram.ts',
      'runners/ssh/trustStore.ts',
      'runners/vm/accelerator.ts',
      'runners/vm/buildImage.ts',
      'runners/vm/buildVm.ts',
      'runners/vm/exportImage.ts',
      'runners/vm/hostClock.ts',
      'runners/vm/importImage.ts',
      'runners/vm/lendSocket.ts',
      'runners/vm/lookAtMac.ts',
      'runners/vm/machineFolder.ts',
      'runners/vm/serveShares.ts',
      'runners/vm/socketFolder.ts',
      'runners/vm/storedMachine.ts',
      'runners/vm/vmFolder.ts',
      'runners/vm/vmHandlers.ts',
      'runners/vm/warmUp.ts',
      'store/home.ts',
      'store/lease.ts',
      'store/openDatabase.ts',
    ];

    /** Everything of the engine that imports a function which changes files, or all of node:fs at once. */
    function writers(): string[] {
      return readdirSync(engineSource, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts'))
        .filter((path) => {
          const text = readFileSync(join(engineSource, path), 'utf8');
          const imports = [
            ...text.matchAll(/import\s+(?!type)([^;]*?)\s+from\s+'(?:node:)?fs(?:\/promises)?'/g),
          ];
          const isDynamic = /(import|require)\(\s*['"](node:)?fs/.test(text);
          // It gives a file its name for others, who count as writers through it.
          if (text.includes("/placeNew.ts'")) return true;
          return isDynamic || imports.some(([, names = '']) => !names.startsWith('{') || writing.test(names));
        })
        .sort();
    }

    it('[FLOOR-06] only the transaction of the history changes files of a person; the rest is Sallyport’s own folder', () => {
      assert.deepEqual(writers(), [...elsewhere, 'history/transaction.ts'].sort());
    });
  });

  describe('every tool', () => {
    const manifest = { version: 1, title: 'A', runtime: 'python', entry: 'main.py' };
    const calls: readonly [string, string, object][] = [
      ['an exact edit', 'edit', { path: 'a.txt', edits: [{ old: 'a', new: 'b' }] }],
      ['an edit of an ignored file', 'edit', { path: 'x.log', edits: [{ old: 'a', new: 'b' }] }],
      ['an edit of a protected file', 'edit', { path: '.vscode/s.json', edits: [{ old: '{}', new: '1' }] }],
      [
        'a patch',
        'edit',
        {
          patch:
            '*** Begin Patch\n*** Update File: a.txt\n*** Move to: q/b.txt\n-a\n+b\n*** Delete File: x.log\n*** End Patch',
        },
      ],
      ['a new file', 'create', { path: 'n/e/w', text: 'x' }],
      ['a rename', 'rename', { from: 'd', to: 'moved/d' }],
      ['a deletion of a file', 'delete', { path: '.hidden' }],
      ['a deletion of a folder', 'delete', { path: 'd' }],
      ['a saved card', 'project_save', { card: 'c', manifest, files: [{ path: 'main.py', text: '' }] }],
    ];
    for (const [what, name, args] of calls) {
      it(`[FLOOR-06] ${what} is taken back, and done again, without touching .git`, async () => {
        const tools = new FileToolHarness(folder());
        tools.write('a.txt', 'a\n');
        tools.write('x.log', 'a');
        tools.write('.gitignore', '*.log');
        tools.write('.vscode/s.json', '{}');
        tools.write('.hidden', Buffer.from([0, 1, 2, 255]));
        tools.write('d/e/f', 'f');
        symlinkSync('e/f', tools.path('d/link'));
        spawnSync('git', ['init', '-q', tools.root]);
        const git = existsSync(tools.path('.git')) ? snapshot(tools.path('.git')) : {};
        const before = snapshot(tools.root);
        const result = await tools.call(name, args, () => 'allow-once');
        assert.equal(result.state, 'done', result.text);
        const after = snapshot(tools.root);
        assert.notDeepEqual(after, before);
        await tools.turn('undo', { group: 'turn-1' });
        assert.deepEqual(snapshot(tools.root), before);
        await tools.turn('redo', { group: 'turn-1' });
        assert.deepEqual(snapshot(tools.root), after);
        if (existsSync(tools.path('.git'))) assert.deepEqual(snapshot(tools.path('.git')), git);
        tools.close();
      });
    }
  });

  it('[FLOOR-06] a killed engine leaves a record of everything it did, whenever it is killed', async () => {
    const harness = new HistoryHarness(folder(), { database: join(folder(), 'h.sqlite'), engine: 'test' });
    writeFileSync(harness.path('untouched'), 'x');
    const program = join(import.meta.dirname, '../support/changeForever.ts');
    const groups: string[] = [];
    for (const round of [1, 2, 3, 4]) {
      const before = snapshot(harness.root);
      const args = [
        program,
        harness.root,
        join(folder(), 'h.sqlite'),
        join(folder(), 'history'),
        `gone${round}`,
      ];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
      const exited = once(child, 'exit');
      await until(() => said.split('\n').length > 5 * round);
      child.kill('SIGKILL');
      await exited;
      await harness.journal.recover(() => false);
      const { changes } = await harness.list();
      const own = [...new Set(changes.map(({ group }) => group))].filter((group) =>
        group.startsWith(`gone${round}`),
      );
      groups.push(...own);
      assert.deepEqual(
        Object.keys(snapshot(harness.root)).filter((path) => path.includes('.sallyport-')),
        [],
        'nothing half-written is left',
      );
      // All of this engine's turns that the list shows, newest first, lead back; older ones are beyond the page.
      const all = harness.gate.database
        .all(
          'select distinct group_id from history_entries where engine = ? order by seq desc',
          `gone${round}`,
        )
        .map((row) => String(row['group_id']));
      for (const group of [...new Set(all)]) await harness.turn('undo', { group });
      assert.deepEqual(snapshot(harness.root), before);
    }
    assert.ok(groups.length > 0);
    harness.close();
  });

  /** Writes by path, as a tool does that checks first and writes then. */
  function naiveWrite(path: string, text: string): void {
    if (realpathSync(join(path, '..')) !== join(path, '..')) return;
    writeFileSync(path, text);
  }

  it('[FLOOR-06] nothing is written outside while a folder is exchanged for a link', async function () {
    if (process.platform !== 'linux') {
      console.log('      renameat2 is of Linux');
      this.skip();
    }
    const harness = new HistoryHarness(folder());
    const outside = join(folder(), 'outside');
    mkdirSync(outside);
    mkdirSync(harness.path('d'));
    symlinkSync(outside, join(folder(), 'link'));
    const swaps = await whileSwapping(harness.path('d'), join(folder(), 'link'), async () => {
      for (let round = 0; round < 300; round++) {
        try {
          await harness.journal.change(harness.context(), [harness.file(`d/f${round}`, 'x')]);
        } catch {
          // Refused: the link was in the way.
        }
      }
    });
    assert.ok(swaps > 10, `${swaps}`);
    assert.deepEqual(readdirSync(outside), []);
    // Where nothing races, the same change is made.
    if (lstatSync(harness.path('d')).isSymbolicLink()) {
      rmSync(harness.path('d'));
      renameSync(join(folder(), 'link'), harness.path('d'));
      symlinkSync(outside, join(folder(), 'link'));
    }
    await harness.journal.change(harness.context(), [harness.file('d/calm', 'x')]);
    assert.equal(readFileSync(harness.path('d/calm'), 'utf8'), 'x');
    // The control: the same race wins against a check before the write.
    await whileSwapping(harness.path('d'), join(folder(), 'link'), async () => {
      for (let round = 0; round < 200_000 && readdirSync(outside).length === 0; round++) {
        try {
          naiveWrite(harness.path(`d/n${round % 100}`), 'x');
        } catch {
          // The folder was a link at that moment, or none.
        }
      }
    });
    assert.notDeepEqual(readdirSync(outside), []);
    harness.close();
  });

  it('[FLOOR-06] nothing is written through a file that is exchanged for a link', async function () {
    if (process.platform !== 'linux') {
      console.log('      renameat2 is of Linux');
      this.skip();
    }
    const harness = new HistoryHarness(folder());
    const keys = join(folder(), 'authorized_keys');
    writeFileSync(keys, 'mine');
    writeFileSync(harness.path('notes.md'), 'notes');
    symlinkSync(keys, join(folder(), 'link'));
    await whileSwapping(harness.path('notes.md'), join(folder(), 'link'), async () => {
      for (let round = 0; round < 300; round++) {
        try {
          await harness.journal.change(harness.context(), [harness.file('notes.md', `evil ${round}`)]);
        } catch {
          // It changed while it was looked at.
        }
      }
    });
    assert.equal(readFileSync(keys, 'utf8'), 'mine');
    harness.close();
  });
});
