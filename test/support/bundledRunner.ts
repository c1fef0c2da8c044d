import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync, type BuildOptions } from 'esbuild';

const repository = join(import.meta.dirname, '../..');
let built: string | undefined;

const { targets } = (await import(join(repository, 'scripts/build.mjs'))) as {
  targets: (BuildOptions & { entryPoints: Record<string, string> })[];
};

/** The runner as one file, built from the sources as they are; once for each process of tests. */
export function bundledRunner(): string {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-runner-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const target of targets.filter(({ entryPoints }) => 'remote-agent' in entryPoints))
    buildSync({ ...target, absWorkingDir: repository, outdir: folder, sourcemap: false, metafile: false });
  built = join(folder, 'remote-agent.cjs');
  return built;
}
