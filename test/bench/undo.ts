import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HistoryHarness } from '../support/historyHarness.ts';
import { limitRow, measureInTurns, median, missingRow, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'undo';
const files = 50_000;
const turnFiles = 1000;

/**
 * One edit with its undo record in a large workspace, beside what other agents do before an edit: add and commit to a
 * shadow git repository of the whole workspace. Then a large turn, taken back and done again.
 */
export async function undoBench(): Promise<BenchRow[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-bench-')));
  const harness = new HistoryHarness(folder, { database: join(folder, 'h.sqlite'), limitBytes: 1024 ** 3 });
  // As openDatabase opens it.
  harness.gate.database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  try {
    fill(harness.root);
    return [...(await editRows(harness, folder)), ...(await turnRows(harness)), await folderRow(harness)];
  } finally {
    harness.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(root: string): void {
  for (let index = 0; index < files; index++) {
    const at = join(root, `d${index % 500}`);
    if (index < 500) mkdirSync(at);
    writeFileSync(join(at, `f${index}.txt`), `${index}\n`.repeat(100));
  }
}

async function editRows(harness: HistoryHarness, folder: string): Promise<BenchRow[]> {
  const name = `an edit with its undo record, ${files} files`;
  let round = 0;
  const ours = async () => {
    const path = `d${++round % 500}/f${round % 500}.txt`;
    await harness.journal.change(harness.context(`edit-${round}`), [
      harness.file(path, `changed ${round}\n`),
    ]);
  };
  const git = shadow(folder, harness.root);
  await ours();
  const alone: number[] = [];
  for (let count = 0; count < 100; count++) {
    const startedAt = performance.now();
    await ours();
    alone.push(performance.now() - startedAt);
  }
  const limit = limitRow({ group, name, ours: median(alone), unit: 'ms' }, 10);
  const peerName = `${name}; peer a shadow git repository, add and commit`;
  if (!git) return [limit, missingRow(group, peerName, '')];
  const times = await measureInTurns(9, {
    ours,
    git: () => {
      writeFileSync(join(harness.root, 'd0/f0.txt'), `for git ${++round}\n`);
      git();
    },
  });
  return [
    limit,
    ratioRow({ group, name: peerName, ours: times.ours, peer: times.git, unit: 'ms', goal: '' }, null),
  ];
}

/** A repository of its own with the workspace as its work tree; returns what adds and commits all that changed. */
function shadow(folder: string, root: string): (() => void) | undefined {
  const git = (...args: string[]) =>
    spawnSync('git', ['--git-dir', join(folder, 'shadow'), '--work-tree', root, ...args], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    });
  if (git('init', '-q').status !== 0) return undefined;
  const commit = () => {
    for (const args of [
      ['add', '-A'],
      ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '-q', '-m', 'checkpoint'],
    ]) {
      const { status, stderr } = git(...args);
      if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    }
  };
  commit();
  return commit;
}

async function turnRows(harness: HistoryHarness): Promise<BenchRow[]> {
  const wanted = Array.from({ length: turnFiles }, (_, index) =>
    harness.file(`d${index % 500}/f${index + 2000}.txt`, `turn ${index}\n`),
  );
  const paths = new Set(wanted.map(({ place }) => place.path));
  if (paths.size !== turnFiles) throw new Error('the paths of the turn are not distinct');
  const made = performance.now();
  await harness.journal.change(harness.context('big'), wanted);
  const madeMs = performance.now() - made;
  const undone: number[] = [];
  const redone: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (const [direction, times] of [
      ['undo', undone],
      ['redo', redone],
    ] as const) {
      const startedAt = performance.now();
      const applied = await harness.turn(direction, { group: 'big' });
      times.push(performance.now() - startedAt);
      if (applied !== turnFiles) throw new Error(`${direction} did ${applied} files`);
    }
  }
  const text = readFileSync(harness.path(wanted[7]?.place.path ?? ''), 'utf8');
  if (text !== 'turn 7\n') throw new Error('the redo did not write');
  const row = (name: string, ours: number) => limitRow({ group, name, ours, unit: 'ms' }, 1000);
  return [
    row(`undo of a turn of ${turnFiles} files, preview included`, median(undone)),
    row(`redo of a turn of ${turnFiles} files, preview included`, median(redone)),
    { ...row(`a change of ${turnFiles} files at once`, madeMs), goal: '', holds: null },
  ];
}

/** What it costs to put a folder under record before a program may write in it. */
async function folderRow(harness: HistoryHarness): Promise<BenchRow> {
  const startedAt = performance.now();
  const recorded = await harness.journal.recordFolders(
    harness.context('run'),
    [harness.path('d1')],
    async () => {
      writeFileSync(harness.path('d1/f501.txt'), 'by a card');
    },
  );
  if (recorded.length !== 1) throw new Error(`recorded ${recorded.length} changes`);
  const ours = performance.now() - startedAt;
  return {
    group,
    name: 'record of a shared folder of 100 files',
    ours,
    peer: null,
    unit: 'ms',
    ratio: null,
    goal: '',
    holds: null,
  };
}
