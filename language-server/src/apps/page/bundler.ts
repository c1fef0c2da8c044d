import { Worker } from 'node:worker_threads';
import { UserError } from '../../../../protocol/src/errors.ts';
import { showHidden } from '../../../../protocol/src/text.ts';
import type { BuildEntry, FromWorker, Loader, ToWorker } from './buildMessages.ts';
import type { ReadCompiler } from './compiler.ts';
import { resolveModule, type ModuleFiles } from './resolveModule.ts';

/** Makes one classic script of a module and all that it imports, styles included. Rejects with `bad-app`, `timeout`. */
export type Bundle = (entry: BuildEntry, files: ModuleFiles, signal: AbortSignal) => Promise<string>;

export interface BundlerOptions {
  /** The built `build-worker.mjs`. */
  readonly script: string;
  readonly readCompiler: ReadCompiler;
  readonly timeoutMs?: number;
}

/** A bundler whose compiler lives in a thread of its own for each build. */
export function createBundler({ script, readCompiler, timeoutMs = 60_000 }: BundlerOptions): Bundle {
  let compiled: Promise<WebAssembly.Module> | undefined;
  /** Brought for all builds at once, so that one that is stopped takes it from no other. */
  const moduleOf = (): Promise<WebAssembly.Module> => {
    compiled ??= readCompiler().then((bytes) => WebAssembly.compile(new Uint8Array(bytes)));
    compiled.catch(() => (compiled = undefined));
    return compiled;
  };
  return async (entry, files, signal) => {
    const module = await unlessAborted(moduleOf(), signal);
    const worker = new Worker(script, {
      env: {},
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 64 },
    });
    worker.stdout.resume();
    worker.stderr.resume();
    try {
      return await converse(
        worker,
        { kind: 'build', module, entry },
        files,
        AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      );
    } finally {
      await worker.terminate();
    }
  };
}

function converse(worker: Worker, first: ToWorker, files: ModuleFiles, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const give = (message: ToWorker) => worker.postMessage(message);
    const onAbort = () => {
      const isTimeout = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
      reject(
        isTimeout
          ? new UserError('timeout', 'The app took too long to build.')
          : new UserError('cancelled', 'Cancelled'),
      );
    };
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('error', (error: Error) =>
      reject(new UserError('bad-app', `The app can’t be built: ${error.message}`)),
    );
    worker.once('exit', () =>
      reject(new UserError('bad-app', 'The app can’t be built: the compiler ended.')),
    );
    worker.on('message', (message: FromWorker) => {
      switch (message.kind) {
        case 'resolve': {
          const { id, specifier, importer, isRequire } = message;
          const path = resolveModule(files, specifier, importer, isRequire ? 'require' : 'import');
          return give({ kind: 'resolved', id, path: path ?? null, isEmpty: path === null });
        }
        case 'load':
          return give(load(files, message.id, message.path));
        case 'failed': {
          const text = message.problems.map(showHidden).join('; ');
          return reject(new UserError('bad-app', `The app can’t be built: ${text}`));
        }
        case 'done':
          return resolve(message.css === '' ? message.code : `${styleScript(message.css)}\n${message.code}`);
      }
    });
    give(first);
  });
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new UserError('cancelled', 'Cancelled'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function load(files: ModuleFiles, id: number, path: string): ToWorker {
  try {
    return {
      kind: 'loaded',
      id,
      contents: files.has(path) ? files.read(path) : null,
      loader: loaderOf(path),
    };
  } catch {
    return { kind: 'loaded', id, contents: null, loader: 'empty' };
  }
}

function loaderOf(path: string): Loader {
  return loaders[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'dataurl';
}

const loaders: Readonly<Record<string, Loader>> = {
  cjs: 'js',
  css: 'css',
  cts: 'ts',
  js: 'js',
  json: 'json',
  jsx: 'jsx',
  md: 'text',
  mjs: 'js',
  mts: 'ts',
  ts: 'ts',
  tsx: 'tsx',
  txt: 'text',
  wasm: 'binary',
};

/** Styles that a module imports come with its script, as text of a style element. */
function styleScript(css: string): string {
  return `document.head.append(Object.assign(document.createElement('style'), { textContent: ${JSON.stringify(css)} }));`;
}
