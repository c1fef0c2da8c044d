import { copyFileSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';

const repository = join(import.meta.dirname, '../..');
/**
 * Builds the programs that run cards (engine, command line, QuickJS workers, runner) as the release is built. Returns a
 * folder that is the caller's to remove: `dist` in it holds the programs, beside the package's manifest.
 */
export async function buildPrograms(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'sallyport-built-'));
  const folder = join(root, 'dist');
  const { targets } = (await import(join(repository, 'scripts/build.mjs'))) as {
    targets: (BuildOptions & { entryPoints: Record<string, string> })[];
  };
  const wanted = ['engine', 'sandbox-worker', 'shell-worker', 'build-worker', 'git-job', 'remote-agent'];
  await Promise.all(
    targets
      .filter(({ entryPoints }) => wanted.some((name) => name in entryPoints))
      .map((target) =>
        build({ ...target, absWorkingDir: repository, outdir: folder, sourcemap: false, metafile: false }),
      ),
  );
  const variant = createRequire(import.meta.url).resolve(
    '@jitl/quickjs-ng-wasmfile-release-sync/package.json',
  );
  copyFileSync(join(dirname(variant), 'dist/emscripten-module.wasm'), join(folder, 'quickjs.wasm'));
  copyFileSync(join(repository, 'node_modules/esbuild-wasm/esbuild.wasm'), join(folder, 'esbuild.wasm'));
  copyFileSync(join(repository, 'sandbox-worker/src/guest.js'), join(folder, 'quickjs-guest.js'));
  copyFileSync(
    join(repository, 'sandbox-worker/src/pluginGuest.js'),
    join(folder, 'quickjs-plugin-guest.js'),
  );
  copyFileSync(join(repository, 'package.json'), join(root, 'package.json'));
  return root;
}
