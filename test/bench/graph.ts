import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { statesOf, TestEngine } from '../support/testEngine.ts';
import { measureInTurns, missingRow, ratioRow, type BenchRow } from './benchRow.ts';
import { writeGraphProject, writeMakeProject, writeSnakemakeProject } from './graphProject.ts';
import { installed } from './peers.ts';

const group = 'graph';
const cards = 1000;
const cli = join(import.meta.dirname, '../../dist/cli.mjs');

/**
 * An unchanged re-run of a large project. Twice: in an engine that is up, as pressing Run in VS Code is, and as a whole
 * process of the command line. What a card does plays no part, since none runs.
 */
export async function graphBench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  const engines: TestEngine[] = [];
  const openEngine = async (count: number) => {
    const root = join(folder, `cards-${count}`);
    writeGraphProject(root, count);
    const engine = new TestEngine(join(folder, `home-${count}`), root, { parallel: 8 });
    engines.push(engine);
    await settleClock();
    await engine.run();
    return async () => {
      const view = await engine.run();
      if (view.summary.cachedCards !== count)
        throw new Error(`not all cached: ${JSON.stringify(statesOf(view)).slice(0, 200)}`);
    };
  };
  try {
    const warm = await openEngine(cards);
    const warmTen = await openEngine(10 * cards);
    const makeRoot = join(folder, 'make');
    writeMakeProject(makeRoot, cards);
    const make = (...args: string[]) => runQuietly('make', ['-s', ...args], makeRoot);
    if (!installed('make')) return [missingRow(group, 'GNU make', '≤ 3 × GNU make')];
    make();
    await warm();
    const times = await measureInTurns(9, { warm, make, makePlain: () => make('-r') });
    const scale = await measureInTurns(5, { warm, warmTen });
    return [
      ratioRow(
        {
          group,
          name: `re-run of ${cards} cards, engine up; peer make`,
          ours: times.warm,
          peer: times.make,
          unit: 'ms',
          goal: '≤ 3 × GNU make',
        },
        3,
      ),
      ratioRow(
        {
          group,
          name: `re-run of ${cards} cards, engine up; peer make -r (no built-in rules)`,
          ours: times.warm,
          peer: times.makePlain,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
      ratioRow(
        {
          group,
          name: `re-run of ${10 * cards} cards, engine up; peer the same with ${cards}`,
          ours: scale.warmTen,
          peer: scale.warm,
          unit: 'ms',
          goal: '≤ 12 × a tenth of the cards',
        },
        12,
      ),
      ...(await processRows(folder, make)),
    ];
  } finally {
    for (const engine of engines) await engine.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The command line as a whole: start of Node, the project read from disk, the runner's probe, the run. */
async function processRows(folder: string, make: () => void): Promise<BenchRow[]> {
  const names = {
    make: `re-run of ${cards} cards, whole process; peer make`,
    snakemake: `re-run of ${cards} cards, whole process; peer Snakemake`,
  };
  const goals = { make: '≤ 3 × GNU make', snakemake: '≤ 1/20 of Snakemake' };
  if (!existsSync(cli)) return [missingRow(group, `${names.make}: dist/cli.mjs`, goals.make)];
  const root = join(folder, 'cards-cli');
  writeGraphProject(root, cards);
  const environment = { ...process.env, SALLYPORT_HOME: join(folder, 'home-cli') };
  const ours = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'run', root, '--json'], {
      env: environment,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(`sallyport run ended with ${String(status)}: ${stderr.slice(-2000)}`);
    return stdout;
  };
  await settleClock();
  ours();
  const times = await measureInTurns(7, { ours, make });
  const makeRow = ratioRow(
    { group, name: names.make, ours: times.ours, peer: times.make, unit: 'ms', goal: goals.make },
    3,
  );
  if (!installed('snakemake')) return [makeRow, missingRow(group, names.snakemake, goals.snakemake)];
  const snakeRoot = join(folder, 'snakemake');
  writeSnakemakeProject(snakeRoot, cards);
  const snakemake = () => runQuietly('snakemake', ['--cores', '2', '--quiet', 'all', '--nolock'], snakeRoot);
  // Its first run would start a thousand shells; touching its outputs in order is what it takes for having run.
  touchOutputs(snakeRoot);
  runQuietly('snakemake', ['--cores', '2', '--quiet', 'all', '--touch', '--nolock'], snakeRoot);
  const slow = await measureInTurns(3, { ours, snakemake });
  return [
    makeRow,
    ratioRow(
      {
        group,
        name: names.snakemake,
        ours: slow.ours,
        peer: slow.snakemake,
        unit: 'ms',
        goal: goals.snakemake,
      },
      1 / 20,
    ),
  ];
}

function touchOutputs(root: string): void {
  for (const name of readdirSync(join(root, 'src'))) {
    const index = name.replace('.sh', '');
    runQuietly('touch', [join(root, 'out', index)], root);
    const at = new Date(Date.now() + Number(index));
    utimesSync(join(root, 'out', index), at, at);
  }
}

function runQuietly(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ended with ${String(status)}: ${stderr.slice(-2000)}`);
}

/** A folder written a moment ago is read again, as its files may change within one tick of the clock. */
function settleClock(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 300));
}
