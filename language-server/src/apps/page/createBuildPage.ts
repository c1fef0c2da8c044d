import { join } from 'node:path';
import type { AppFiles } from '../appFiles.ts';
import type { BuildPage } from '../installer.ts';
import { createPackageCache } from '../packages/packageCache.ts';
import { createRegistry, defaultRegistry } from '../packages/registry.ts';
import { createBundler } from './bundler.ts';
import { createReadCompiler } from './compiler.ts';
import { createPageBuilder } from './pageBuilder.ts';

export interface BuildPageOptions {
  readonly files: Pick<AppFiles, 'blobs' | 'packages'>;
  /** The folder that holds the built programs. */
  readonly programs: string;
  /** Where packages come from; absent is the public registry. */
  readonly registry: string | undefined;
}

/** Composes what builds the page of an app: packages, the compiler's thread, and the document. */
export function createBuildPage(options: BuildPageOptions): BuildPage {
  const { files, programs, registry = defaultRegistry } = options;
  const fetchPackages = createRegistry({
    registry: () => registry,
    cache: createPackageCache(files.packages),
    fetch: globalThis.fetch,
  });
  return createPageBuilder({
    blobs: files.blobs,
    bundle: createBundler({
      script: join(programs, 'build-worker.mjs'),
      readCompiler: createReadCompiler(join(programs, 'esbuild.wasm'), fetchPackages),
    }),
    fetchPackages,
  });
}
