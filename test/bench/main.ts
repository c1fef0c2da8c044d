import { parseArgs } from 'node:util';
import { missingRow, type BenchRow } from './benchRow.ts';

/**
 * `npm run bench [-- --only GROUP] [--json]`: measures ours and its peers in turns and prints a table or JSON. The name
 * of one file of a group does as well.
 */

type Bench = () => Promise<BenchRow[]>;

/** The files of a group, each exporting `<file>Bench`. */
const groups: Readonly<Record<string, readonly string[]>> = {
  cards: ['cards', 'quickjs'],
  graph: ['graph', 'manifests'],
  start: ['start', 'activate'],
  views: ['webviews'],
  gate: ['gate'],
  undo: ['undo'],
  workbench: ['workbench', 'broker'],
  vault: ['vault', 'presence', 'vaultUse'],
  plugins: ['plugins'],
  apps: ['apps', 'appFrames', 'appsInWindow'],
  remote: ['remote', 'remoteCopies', 'busyPlaces', 'remoteVm', 'remoteWorker', 'slurm'],
};
const names = Object.keys(groups);

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, json: { type: 'boolean' } },
});
const chosen = values.only ?? names;
const filesOf = (name: string) =>
  groups[name] ?? (Object.values(groups).flat().includes(name) ? [name] : undefined);
for (const group of chosen) {
  if (!filesOf(group)) {
    process.stderr.write(`There is no group “${group}”. Groups: ${names.join(', ')}.\n`);
    process.exit(2);
  }
}

const rows: BenchRow[] = [];
for (const group of chosen) {
  process.stderr.write(`${group} …\n`);
  const found: BenchRow[] = [];
  for (const file of filesOf(group) ?? []) found.push(...(await measure(group, file)));
  rows.push(...found);
  if (!values.json) process.stdout.write(`${tableOf(found)}\n`);
}
if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);

async function measure(group: string, file: string): Promise<BenchRow[]> {
  const bench = await load(file);
  if (!bench) return [missingRow(group, `test/bench/${file}.ts`, '')];
  try {
    return (await bench()).map((row) => ({ ...row, group }));
  } catch (error) {
    process.stderr.write(
      `${file}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return [missingRow(group, `${file}: it failed`, '')];
  }
}

async function load(file: string): Promise<Bench | undefined> {
  try {
    const module = (await import(`./${file}.ts`)) as Record<string, Bench | undefined>;
    return module[`${file}Bench`];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

function tableOf(found: readonly BenchRow[]): string {
  const cells = found.map(({ group, name, ours, peer, unit, ratio, goal, holds }) => [
    group,
    name,
    `${figure(ours)} ${unit}`.trim(),
    `${figure(peer)} ${peer === null ? '' : unit}`.trim(),
    ratio === null ? '' : `× ${figure(ratio)}`,
    goal,
    holds === null ? '' : holds ? 'holds' : 'DOES NOT HOLD',
  ]);
  const all = [['group', 'name', 'ours', 'peer', 'ratio', 'goal', ''], ...cells];
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function figure(value: number | null): string {
  if (value === null) return '';
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(3);
}
