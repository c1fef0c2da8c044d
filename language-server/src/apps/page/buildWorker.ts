import { parentPort } from 'node:worker_threads';
import type { BuildFailure, OnLoadResult, OnResolveResult, Plugin } from 'esbuild-wasm/esm/browser.js';
import { errorMessage } from '../../../../protocol/src/errors.ts';
import type { BuildEntry, FromWorker, ToWorker } from './buildMessages.ts';

/**
 * The thread in which the compiler runs, for one build. The compiler is a WebAssembly module that gets what the names
 * below give and nothing else of this program; it asks the engine for every file. Code of an app and of its packages is
 * text here: nothing of it is run. Built to `dist/build-worker.mjs`.
 */
const given = [
  'Array',
  'DataView',
  'Date',
  'Error',
  'Map',
  'Math',
  'Object',
  'Promise',
  'Reflect',
  'Set',
  'String',
  'Symbol',
  'TextDecoder',
  'TextEncoder',
  'Uint8Array',
  'Uint8ClampedArray',
  'WebAssembly',
  'clearTimeout',
  'crypto',
  'performance',
  'setTimeout',
] as const;

const port = parentPort;
if (port) listen(port);

type Port = NonNullable<typeof parentPort>;

function listen(to: Port): void {
  const waiting = new Map<number, (message: ToWorker) => void>();
  let last = 0;
  const ask = (make: (id: number) => FromWorker): Promise<ToWorker> =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      to.postMessage(make(id));
    });
  to.on('message', (message: ToWorker) => {
    if (message.kind === 'build') void build(message.module, message.entry, to, ask);
    else {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
}

async function build(
  module: WebAssembly.Module,
  entry: BuildEntry,
  to: Port,
  ask: (make: (id: number) => FromWorker) => Promise<ToWorker>,
): Promise<void> {
  const answer = (message: FromWorker) => to.postMessage(message);
  try {
    shutIn();
    const { initialize, build: compile } = await import('esbuild-wasm/esm/browser.js');
    await initialize({ wasmModule: module, worker: false });
    const result = await compile({
      ...(entry.kind === 'file'
        ? { entryPoints: [entry.path] }
        : { stdin: { contents: entry.code, loader: 'ts' as const, sourcefile: entry.from } }),
      bundle: true,
      write: false,
      outdir: '/',
      format: 'iife',
      target: 'chrome130',
      platform: 'browser',
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      treeShaking: true,
      define: { 'process.env.NODE_ENV': '"production"' },
      plugins: [appFiles(entry, ask)],
    });
    const textOf = (ending: string) =>
      result.outputFiles
        .filter(({ path }) => path.endsWith(ending))
        .map(({ text }) => text)
        .join('\n');
    answer({ kind: 'done', code: textOf('.js'), css: textOf('.css') });
  } catch (error) {
    answer({ kind: 'failed', problems: problemsOf(error) });
  }
}

/** What the compiler sees as the global object. */
function shutIn(): void {
  const inside = Object.create(null) as Record<string, unknown>;
  for (const name of given) inside[name] = (globalThis as Record<string, unknown>)[name];
  inside['console'] = { log: () => undefined, warn: () => undefined, error: () => undefined };
  (globalThis as Record<string, unknown>)['self'] = inside;
}

function appFiles(entry: BuildEntry, ask: (make: (id: number) => FromWorker) => Promise<ToWorker>): Plugin {
  return {
    name: 'app-files',
    setup: (compiler) => {
      compiler.onResolve(
        { filter: /.*/ },
        async ({ path, importer, kind, namespace }): Promise<OnResolveResult> => {
          if (kind === 'entry-point') return { path, namespace: 'app' };
          const from = namespace === 'app' ? importer : entry.kind === 'inline' ? entry.from : entry.path;
          const isRequire = kind === 'require-call' || kind === 'require-resolve';
          const answer = await ask((id) => ({
            kind: 'resolve',
            id,
            specifier: path,
            importer: from,
            isRequire,
          }));
          if (answer.kind !== 'resolved') return { errors: [{ text: 'no answer' }] };
          if (answer.isEmpty) return { path, namespace: 'empty' };
          if (answer.path !== null) return { path: answer.path, namespace: 'app' };
          if (kind === 'url-token') return { path, external: true };
          return { errors: [{ text: `“${path}” is not in the app and in none of its packages` }] };
        },
      );
      compiler.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: '', loader: 'js' }));
      compiler.onLoad({ filter: /.*/, namespace: 'app' }, async ({ path }): Promise<OnLoadResult> => {
        const answer = await ask((id) => ({ kind: 'load', id, path }));
        if (answer.kind !== 'loaded' || answer.contents === null) return { errors: [{ text: `no ${path}` }] };
        return { contents: answer.contents, loader: answer.loader };
      });
    },
  };
}

function problemsOf(error: unknown): string[] {
  const failure = error as Partial<BuildFailure>;
  if (!failure.errors) return [errorMessage(error)];
  return failure.errors
    .slice(0, mostProblems)
    .map(({ text, location }) => (location ? `${location.file}:${location.line}: ${text}` : text));
}

const mostProblems = 10;
