import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The card that card `index` takes its input from: a tree in which every card feeds two. */
function sourceOf(index: number): number | null {
  return index === 0 ? null : Math.floor((index - 1) / 2);
}

/** Writes a project of `count` cards, each a small shell script that reads its source and writes a line. */
export function writeGraphProject(root: string, count: number): void {
  mkdirSync(join(root, 'cards'), { recursive: true });
  writeFileSync(
    join(root, 'sallyport.json'),
    JSON.stringify({ version: 1, name: 'graph', cards: ['cards/*'] }),
  );
  for (let index = 0; index < count; index++) {
    const source = sourceOf(index);
    const folder = join(root, 'cards', `c${index}`);
    mkdirSync(folder);
    writeFileSync(
      join(folder, '_card.json'),
      JSON.stringify({
        version: 1,
        title: `Card ${index}`,
        runtime: 'shell',
        entry: 'main.sh',
        inputs: source === null ? {} : { above: { type: 'text', from: `c${source}/out` } },
        outputs: { out: { type: 'text' } },
      }),
    );
    writeFileSync(join(folder, 'main.sh'), `echo ${index} > "$SALLYPORT_OUTPUTS/out"\n`);
  }
}

/** The equal graph for GNU make: one script and one output for each card. */
export function writeMakeProject(root: string, count: number): void {
  writeSources(root, count);
  const rules = each(count, (index, needs) => `out/${index}: ${needs}\n\t@echo ${index} > out/${index}\n`);
  const all = `all: ${each(count, (index) => `out/${index}`).join(' ')}\n.PHONY: all\n`;
  writeFileSync(join(root, 'Makefile'), all + rules.join(''));
}

/** The equal graph for Snakemake. */
export function writeSnakemakeProject(root: string, count: number): void {
  writeSources(root, count);
  const list = (names: string) =>
    names
      .split(' ')
      .map((name) => JSON.stringify(name))
      .join(', ');
  const rules = each(
    count,
    (index, needs) =>
      `rule r${index}:\n    input: ${list(needs)}\n    output: "out/${index}"\n    shell: "echo ${index} > {output}"\n`,
  );
  const all = `rule all:\n    input: ${each(count, (index) => `"out/${index}"`).join(', ')}\n`;
  writeFileSync(join(root, 'Snakefile'), all + rules.join(''));
}

function each(count: number, make: (index: number, needs: string) => string): string[] {
  return Array.from({ length: count }, (_, index) => {
    const source = sourceOf(index);
    return make(index, source === null ? `src/${index}.sh` : `src/${index}.sh out/${source}`);
  });
}

function writeSources(root: string, count: number): void {
  for (const folder of ['src', 'out']) mkdirSync(join(root, folder), { recursive: true });
  for (let index = 0; index < count; index++)
    writeFileSync(join(root, 'src', `${index}.sh`), `echo ${index}\n`);
}
