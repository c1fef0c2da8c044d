import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { never, TestEngine } from '../support/testEngine.ts';
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
      engine.told.length = 0;
      const runId = await engine.start();
      await engine.services.whenFinished(runId);
      const { runs } = await engine.handlers['run/list']({ root, limit: 1 }, never);
      if (runs[0]?.cachedCards !== count) throw new Error(`not all cached: ${JSON.stringify(runs[0])}`);
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
    const times = await measureInTurns(11, { warm, make, makePlain: () => make('-r') });
    const scale = await measureInTurns(5, { warm, warmTen });
    const snakemake = prepareSnakemake(folder);
    const slow = snakemake && (await measureInTurns(3, { warm, snakemake }));
    const name = `re-run of ${cards} cards, engine up`;
    return [
      ratioRow(
        {
          group,
          name: `${name}; peer make`,
          ours: times.warm,
          peer: times.make,
          unit: 'ms',
          goal: goals.make,
        },
        3,
      ),
      ratioRow(
        {
          group,
          name: `${name}; peer make -r, without its built-in rules`,
          ours: times.warm,
          peer: times.makePlain,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
      slow
        ? ratioRow(
            {
              group,
              name: `${name}; peer Snakemake`,
              ours: slow.warm,
              peer: slow.snakemake,
              unit: 'ms',
              goal: goals.snakemake,
            },
            1 / 20,
          )
        : missingRow(group, `${name}; peer Snakemake`, goals.snakemake),
      ratioRow(
        {
          group,
          name: `re-run of ${10 * cards} cards, engine up; peer ours with ${cards}`,
          ours: scale.warmTen,
          peer: scale.warm,
          unit: 'ms',
          goal: '≤ 12 × a tenth of the cards',
        },
        12,
      ),
      ...(await processRows(folder, make, snakemake)),
    ];
  } finally {
    for (const engine of engines) await engine.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

const goals = { make: '≤ 3 × GNU make', snakemake: '≤ 1/20 of Snakemake' };

/**
 * The command line as a whole: start of Node, every manifest read and checked, the runner's probe, the run. It is shown
 * beside the peers, which are whole processes too; the goals are for the engine that a window keeps.
 */
async function processRows(
  folder: string,
  make: () => void,
  snakemake: (() => void) | undefined,
): Promise<BenchRow[]> {
  const name = `re-run of ${cards} cards, whole process of the command line`;
  if (!existsSync(cli)) return [missingRow(group, `${name}: dist/cli.mjs, see npm run build`, '')];
  const root = join(folder, 'cards-cli');
  writeGraphProject(root, cards);
  const environment = { ...process.env, SALLYPORT_HOME: join(folder, 'home-cli') };
  const ours = () => {
    const { status, stderr } = spawnSync(process.execPath, [cli, 'run', root, '--json'], {
      env: environment,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(`sallyport run ended with ${String(status)}: ${stderr.slice(-2000)}`);
  };
  await settleClock();
  ours();
  const work: Record<string, () => unknown> = snakemake ? { ours, make, snakemake } : { ours, make };
  const times = await measureInTurns(5, work);
  const row = (peerName: string, peer: number | undefined) =>
    peer === undefined
      ? missingRow(group, `${name}; peer ${peerName}`, '')
      : ratioRow(
          {
            group,
            name: `${name}; peer ${peerName}`,
            ours: times['ours'] ?? NaN,
            peer,
            unit: 'ms',
            goal: '',
          },
          null,
        );
  return [row('make', times['make']), row('Snakemake', times['snakemake'])];
}

/** A Snakemake project that has nothing to do; undefined where there is no Snakemake. */
function prepareSnakemake(folder: string): (() => void) | undefined {
  if (!installed('snakemake')) return undefined;
  const root = join(folder, 'snakemake');
  writeSnakemakeProject(root, cards);
  const run = (...args: string[]) =>
    runQuietly('snakemake', ['--cores', '2', '--quiet', 'all', '--nolock', ...args], root);
  // Its first run would start a thousand shells; touching its outputs in order stands for having run.
  touchOutputs(root);
  run('--touch');
  return run;
}

function touchOutputs(root: string): void {
  for (const name of readdirSync(join(root, 'src'))) {
    const index = name.replace('.sh', '');
    writeFileSync(join(root, 'out', index), `${index}\n`);
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
