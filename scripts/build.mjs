// Builds every target with esbuild. `--watch` keeps building, `--production` leaves source maps out.
import { build, context } from 'esbuild';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { argv, exit, pid } from 'node:process';
import { loadHelpers } from '../remote-agent/src/helpers.ts';
import { readTemplate } from './newApp.mjs';

const watch = argv.includes('--watch');
const production = argv.includes('--production');
const outdir = 'dist';

const common = {
  bundle: true,
  outdir,
  minify: true,
  keepNames: true,
  sourcemap: production ? false : 'linked',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};
const nodeTarget = { ...common, platform: 'node', target: 'node22', mainFields: ['module', 'main'] };
const browserTarget = {
  ...common,
  platform: 'browser',
  format: 'iife',
  target: 'chrome130',
  keepNames: false,
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.ttf': 'file' },
  assetNames: 'webviews/[name]',
};
const requireBanner = {
  js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
};

/** What `file` imports is a file of its own beside the one that imports it, read when it is first needed. */
const apart = (file, built) => ({
  name: `${built} apart`,
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/${file}\\.ts$`) }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${built}`, external: true } : undefined,
    );
  },
});

/**
 * What just-bash brings and the shell never reaches: its own HTTP client (requests go to the engine), its database,
 * JavaScript and HTML commands, and compressors that need native code.
 */
const shellLeavesOut = {
  name: 'shell-leaves-out',
  setup({ onResolve, onLoad }) {
    const unused = /^(undici|turndown|sql\.js|quickjs-emscripten|@mongodb-js\/zstd|node-liblzma)$/;
    onResolve({ filter: unused }, ({ path }) => ({ path, namespace: 'left-out' }));
    onResolve({ filter: /^\.\/(.*\/)?undici-[A-Z0-9]+\.js$/ }, () => ({
      path: 'undici',
      namespace: 'left-out',
    }));
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'module.exports = {};',
      loader: 'js',
    }));
  },
};

/** The optional native part of ssh2 that looks at the processor: requiring it fails, as ssh2 expects. */
const nativeLeftOut = {
  name: 'native-left-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cpu-features$/ }, ({ path }) => ({ path, namespace: 'native' }));
    onLoad({ filter: /.*/, namespace: 'native' }, () => ({
      contents: 'throw new Error("There is no native code in Sallyport");',
      loader: 'js',
    }));
  },
};

/** What ssh2 encrypts packets with: ours in place of its native part, and `crypto` with keys that are made ready once. */
const packetCiphers = {
  name: 'packet-ciphers',
  setup({ onResolve }) {
    const folder = join(import.meta.dirname, '../language-server/src/runners/ssh');
    const ours = { crypto: 'keptKeys.ts', './crypto/build/Release/sshcrypto.node': 'gcmCipher.ts' };
    onResolve({ filter: /^crypto$|\/sshcrypto\.node$/ }, ({ path, importer }) =>
      /[/\\]ssh2[/\\]lib[/\\]protocol[/\\]crypto\.js$/.test(importer)
        ? { path: join(folder, ours[path]) }
        : undefined,
    );
  },
};

/** One entry a target: name, esbuild options. The names are the files of dist/. */
export const targets = [
  {
    ...nodeTarget,
    entryPoints: {
      extension: 'extension/src/extension.ts',
      languageClient: 'extension/src/languageClientConnection.ts',
      passkeys: 'extension/src/presence/verifyPasskey.ts',
    },
    format: 'cjs',
    external: ['vscode'],
    // vscode-languageclient and the check of passkeys are most of the extension.
    plugins: [
      apart('languageClientConnection', 'languageClient.cjs'),
      apart('verifyPasskey', 'passkeys.cjs'),
    ],
    outExtension: { '.js': '.cjs' },
  },
  {
    ...nodeTarget,
    entryPoints: { engine: 'language-server/src/main.ts', cli: 'language-server/src/cli.ts' },
    format: 'esm',
    // What is imported when it is first needed stays in a file of its own until then.
    splitting: true,
    chunkNames: 'engine-[name]-[hash]',
    // The providers bring the whole of zod, which would end in what the engine reads at its start.
    plugins: [apart('providerPackages', 'providers.mjs'), nativeLeftOut, packetCiphers],
    outExtension: { '.js': '.mjs' },
    // ssh2 looks for files beside itself that no build of ours has.
    banner: { js: `${requireBanner.js}const __dirname=import.meta.dirname;` },
    target: 'node22',
  },
  {
    ...nodeTarget,
    entryPoints: { providers: 'language-server/src/agent/providers/providerPackages.ts' },
    format: 'esm',
    splitting: true,
    chunkNames: 'providers-[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    banner: requireBanner,
  },
  {
    ...nodeTarget,
    entryPoints: {
      'sandbox-worker': 'sandbox-worker/src/worker.ts',
      'plugin-worker': 'sandbox-worker/src/pluginWorker.ts',
    },
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: requireBanner,
  },
  {
    ...nodeTarget,
    entryPoints: { 'shell-worker': 'language-server/src/agent/shell/shellWorker.ts' },
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: requireBanner,
    plugins: [shellLeavesOut],
  },
  {
    ...nodeTarget,
    entryPoints: { 'build-worker': 'language-server/src/apps/page/buildWorker.ts' },
    format: 'esm',
    outExtension: { '.js': '.mjs' },
  },
  {
    ...nodeTarget,
    entryPoints: { 'git-job': 'language-server/src/apps/sources/job/gitJob.ts' },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // It runs with the system's own Node, which may be older.
    target: 'node20',
  },
  {
    ...nodeTarget,
    entryPoints: { vault: 'extension/src/vault/run/main.ts' },
    format: 'esm',
    outExtension: { '.js': '.mjs' },
  },
  {
    ...nodeTarget,
    entryPoints: { 'remote-agent': 'remote-agent/src/main.ts' },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    target: 'node20',
    define: { bundledHelpers: JSON.stringify(loadHelpers()), 'import.meta.dirname': '__dirname' },
  },
  {
    ...browserTarget,
    entryPoints: {
      'webviews/canvas': 'webviews/src/canvas/main.tsx',
      'webviews/run': 'webviews/src/run/main.tsx',
      'webviews/page': 'webviews/src/page/main.ts',
      'webviews/workbench': 'webviews/src/workbench/main.tsx',
      'webviews/appHost': 'webviews/src/appHost/main.ts',
      'webviews/presence': 'webviews/src/presence/main.ts',
    },
  },
  {
    ...browserTarget,
    entryPoints: {
      'webviews/view': 'webviews/src/view/main.ts',
      'webviews/appFrame': 'webviews/src/appFrame/main.ts',
      'webviews/vega': 'webviews/src/view/vega.ts',
      'webviews/plotly': 'webviews/src/view/plotly.ts',
    },
    sourcemap: false,
  },
];

async function copyAssets(folder) {
  const require = createRequire(import.meta.url);
  await mkdir(`${folder}/webviews`, { recursive: true });
  const variant = require
    .resolve('@jitl/quickjs-ng-wasmfile-release-sync/package.json')
    .replace('package.json', 'dist/emscripten-module.wasm');
  await copyFile(variant, `${folder}/quickjs.wasm`);
  await copyFile(require.resolve('esbuild-wasm/esbuild.wasm'), `${folder}/esbuild.wasm`);
  await copyFile('sandbox-worker/src/guest.js', `${folder}/quickjs-guest.js`);
  await copyFile('sandbox-worker/src/pluginGuest.js', `${folder}/quickjs-plugin-guest.js`);
  await writeFile(`${folder}/newApp.json`, JSON.stringify(await readTemplate()));
}

/**
 * Builds into `options.outdir`, in place of what was there; other options go to esbuild. What was there stays until
 * everything is built. Resolves to the files that the bundles were made of.
 */
export async function buildAll(options = {}) {
  const folder = options.outdir ?? outdir;
  const work = `${folder}.${pid}`;
  try {
    const built = await Promise.all(targets.map((target) => build({ ...target, ...options, outdir: work })));
    await copyAssets(work);
    await rm(folder, { recursive: true, force: true });
    await rename(work, folder);
    return built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

if (import.meta.filename === argv[1]) {
  if (watch) {
    const contexts = await Promise.all(targets.map((target) => context(target)));
    await Promise.all(contexts.map((each) => each.watch()));
    await copyAssets(outdir);
  } else {
    await buildAll().catch(() => exit(1));
  }
}
