import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';

const repository = join(import.meta.dirname, '../..');

/** Builds the thread that builds pages, as the release is built. The folder is the caller's to remove. */
export async function buildCompiler(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-compiler-'));
  const { targets } = (await import(join(repository, 'scripts/build.mjs'))) as {
    targets: (BuildOptions & { entryPoints: Record<string, string> })[];
  };
  for (const target of targets.filter(({ entryPoints }) => 'build-worker' in entryPoints))
    await build({ ...target, absWorkingDir: repository, outdir: folder, sourcemap: false, metafile: false });
  copyFileSync(join(repository, 'node_modules/esbuild-wasm/esbuild.wasm'), join(folder, 'esbuild.wasm'));
  return folder;
}
