import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { cardManifest } from '../../protocol/src/manifests.ts';
import { ProjectState } from '../../language-server/src/project/projectState.ts';
import { limitRow, measureInTurns, median, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'manifests';
const rounds = 7;

/** Checking a project, seeing an edit, and finding that nothing changed. */
export async function manifestsBench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  try {
    const large = writeCards(join(folder, 'large'), 2000);
    const middling = writeCards(join(folder, 'middling'), 1000);
    // Past the step of the file system's clock, so that signatures count.
    await sleep(100);
    const times = await measureInTurns(rounds, {
      ours: () => new ProjectState(large).refresh(),
      peer: () => parseAll(large, 2000),
    });
    return [
      limitRow({ group, name: 'check 2,000 cards from disk', ours: times.ours, unit: 'ms' }, 1000),
      ratioRow(
        {
          group,
          name: 'the same, against reading, JSON.parse and zod alone',
          ours: times.ours,
          peer: times.peer,
          unit: 'ms',
          goal: '',
        },
        null,
      ),
      limitRow({ group, name: 'edit of one card among 2,000', ours: editMs(large), unit: 'ms' }, 50),
      limitRow(
        { group, name: 'refresh of 1,000 unchanged cards', ours: refreshMs(middling), unit: 'ms' },
        15,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function editMs(root: string): number {
  const path = join(root, 'cards/card-7/_card.json');
  const saved = readFileSync(path, 'utf8');
  let open: string | undefined;
  const state = new ProjectState(root, (file) => (file === path ? open : undefined));
  state.refresh();
  return medianOf((round) => {
    open = saved.replace('"out"', `"out-${round}"`);
    if (!state.update(path)) throw new Error('the edit was not seen');
  });
}

function refreshMs(root: string): number {
  const state = new ProjectState(root);
  state.refresh();
  return medianOf(() => {
    if (state.refresh()) throw new Error('something changed');
  });
}

function medianOf(work: (round: number) => void): number {
  const times: number[] = [];
  for (let round = 0; round < 3 * rounds; round++) {
    const startedAt = performance.now();
    work(round);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

function parseAll(root: string, count: number): void {
  for (let index = 0; index < count; index++) {
    const text = readFileSync(join(root, 'cards', `card-${index}`, '_card.json'), 'utf8');
    if (!z.safeParse(cardManifest, JSON.parse(text)).success) throw new Error('a card does not parse');
  }
}

/** A project in which each card takes from the one before and from the tenth before. */
function writeCards(root: string, count: number): string {
  mkdirSync(root);
  writeFileSync(join(root, 'sallyport.json'), '{ "version": 1, "name": "bench", "cards": ["cards/*"] }');
  for (let index = 0; index < count; index++) {
    const folder = join(root, 'cards', `card-${index}`);
    mkdirSync(folder, { recursive: true });
    const from = (step: number) => ({ type: 'table', from: `card-${index - step}/out` });
    const manifest = {
      version: 1,
      title: `Card ${index}`,
      runtime: 'python',
      entry: 'main.py',
      inputs: { ...(index >= 1 ? { a: from(1) } : {}), ...(index >= 10 ? { b: from(10) } : {}) },
      outputs: { out: { type: 'table' }, chart: { type: 'vega-lite' } },
      params: { year: { type: 'integer', default: 2012, minimum: 2012, maximum: 2015 } },
      limits: { seconds: 60, memoryMB: 512 },
      permissions: { network: ['api.example.org:443'] },
      view: { output: 'chart' },
    };
    writeFileSync(join(folder, '_card.json'), JSON.stringify(manifest, null, 2));
    writeFileSync(join(folder, 'main.py'), '');
  }
  return root;
}
