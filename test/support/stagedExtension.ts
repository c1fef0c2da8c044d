import { build } from 'esbuild';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packExtension, stageExtension } from '../../scripts/package.mjs';

const root = join(import.meta.dirname, '../..');
const out = join(root, 'out/integration');

let staged: Promise<string> | undefined;
let packed: Promise<{ vsixPath: string; sizeBytes: number; files: string[] }> | undefined;
let bundled: Promise<unknown> | undefined;

/** The extension exactly as it is shipped, in a folder; built once in a test run. */
export function stagedExtension(): Promise<string> {
  return (staged ??= stageExtension(join(out, 'extension')));
}

/** The VSIX of it. */
export function packedExtension(): Promise<{ vsixPath: string; sizeBytes: number; files: string[] }> {
  return (packed ??= stagedExtension().then((folder) => packExtension(folder, join(out, 'sallyport.vsix'))));
}

const hostBundles = ['bridge', 'lazySuite', 'projectSuite', 'activateBench'] as const;
export type HostBundle = (typeof hostBundles)[number];

/** Bundles test/integration/host and gives the path of one of its files as the extension host loads it. */
export async function hostBundle(name: HostBundle): Promise<string> {
  await (bundled ??= build({
    absWorkingDir: root,
    entryPoints: hostBundles.map((each) => `test/integration/host/${each}.ts`),
    outdir: join(out, 'host'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    external: ['vscode', 'mocha'],
    logLevel: 'warning',
  }));
  return join(out, 'host', `${name}.cjs`);
}

/** A copy of a fixture project in a folder of its own, so that runs and edits touch no fixture. */
export async function copyOfProject(name: string): Promise<{ folder: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'sallyport-project-'));
  const folder = join(parent, name);
  await cp(join(root, 'test-fixtures/projects', name), folder, { recursive: true });
  return {
    folder,
    remove: () => rm(parent, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
