import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeApp } from '../support/appFolder.ts';
import { openApps, type AppsHarness } from '../support/appsHarness.ts';
import { limitRow, measureInTurns, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'apps';
const files = 10_000;
const rounds = 5;

/**
 * Taking in and reviewing an app of ten thousand files, beside `git add`, which also reads each file and stores it by its
 * content; and installing it, which reads each one again.
 */
export async function appsBench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-apps-'));
  const apps: AppsHarness[] = [];
  try {
    const path = writeApp(join(folder, 'app'), {}, manyFiles());
    let turn = 0;
    const fresh = () => {
      const harness = openApps(join(folder, `turn-${turn++}`));
      apps.push(harness);
      return harness;
    };
    const warm = fresh();
    await warm.stage({ kind: 'folder', path });
    const work = {
      review: () => fresh().stage({ kind: 'folder', path }),
      git: () => gitAdd(path, join(folder, `git-${turn++}`)),
      again: () => warm.stage({ kind: 'folder', path }),
      install: async () => warm.install(await warm.stage({ kind: 'folder', path })),
    };
    const ms = await measureInTurns(rounds, work);
    const name = `review an app of ${files.toLocaleString('en')} files`;
    return [
      limitRow({ group, name, unit: 'ms', ours: ms.review }, 2000),
      ratioRow(
        { group, name: `${name}, beside git add`, unit: 'ms', ours: ms.review, peer: ms.git, goal: '' },
        null,
      ),
      limitRow({ group, name: 'review it again, as an update', unit: 'ms', ours: ms.again }, 2000),
      limitRow(
        { group, name: 'review and install it, its page not built', unit: 'ms', ours: ms.install },
        5000,
      ),
    ];
  } finally {
    for (const harness of apps) await harness.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function manyFiles(): Record<string, string> {
  const entries = Array.from({ length: files - 2 }, (_, at) => [
    `part-${at % 100}/file-${at}.js`,
    `export const value${at} = ${JSON.stringify('x'.repeat(at % 1000))};\n`,
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function gitAdd(tree: string, repository: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${repository}`, `--work-tree=${tree}`, ...args], { stdio: 'ignore' });
  execFileSync('git', ['init', '--quiet', '--bare', repository]);
  git('-c', 'core.bare=false', 'add', '--all', '.');
}
