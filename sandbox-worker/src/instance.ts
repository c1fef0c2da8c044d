import ngReleaseSync from '@jitl/quickjs-ng-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import type { SandboxWorkerData } from '../../protocol/src/worker.ts';
import { OutOfMemory } from './guestValues.ts';

/** Well below the thread's own stack (`stackSizeMb` of the worker): running out must end in QuickJS, never in V8. */
const stackBytes = 256 * 1024;
const pageBytes = 65_536;
/** First pages of the instance, as the module declares them. */
const initialPages = 256;
/** Below this share of its memory an instance that failed without a word did not fail for want of memory. */
const fullShare = 0.9;
/** Promise jobs between two looks at the clock. */
export const jobsPerBatch = 64;

/**
 * One QuickJS instance: its own WebAssembly module instance and memory. The memory has a maximum of its own, which is
 * what bounds it: QuickJS's own memory limit does not count everything. It is never disposed of: freeing a damaged heap
 * can abort, so the thread that holds it ends instead.
 */
export interface Instance {
  readonly runtime: QuickJSRuntime;
  readonly maximumBytes: number;
  /** Bytes that the memory has grown to. */
  readonly memoryBytes: number;
  /** True where the memory is as good as used up. */
  readonly isFull: boolean;
}

export type InstanceOptions = Pick<SandboxWorkerData<WebAssembly.Module>, 'wasmModule' | 'memoryPages'>;

/** Makes an instance without any code in it. Rejects where there is no memory for one. */
export async function createInstance({ wasmModule, memoryPages }: InstanceOptions): Promise<Instance> {
  const memory = new WebAssembly.Memory({ initial: initialPages, maximum: memoryPages });
  const variant = newVariant(guarded(ngReleaseSync), { wasmModule, wasmMemory: memory });
  const quickjs = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(stackBytes);
  const maximumBytes = memoryPages * pageBytes;
  return {
    runtime,
    maximumBytes,
    get memoryBytes() {
      return memory.buffer.byteLength;
    },
    get isFull() {
      return memory.buffer.byteLength >= maximumBytes * fullShare;
    },
  };
}

/** What the engine itself threw: no memory, V8's stack ran out, a trap, an abort. The instance may be damaged. */
export function describeHostError(error: unknown): {
  code: 'memory' | 'stack' | 'exception';
  message: string;
} {
  if (error instanceof OutOfMemory) return { code: 'memory', message: 'out of memory' };
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return { code: 'stack', message: 'The code went too deep' };
  const text = error instanceof WebAssembly.RuntimeError ? error.message : 'an error outside of its code';
  return { code: 'exception', message: `QuickJS stopped: ${text.slice(0, 200)}` };
}

/** Nothing is printed, and the C library's environment does not name this program's path. */
const quiet = { print: () => undefined, printErr: () => undefined, thisProgram: 'card' };

/**
 * The library writes where `malloc` points without looking: at 0, over the instance's own data, where there is no memory
 * left. Here it throws.
 */
function guarded(variant: QuickJSSyncVariant): QuickJSSyncVariant {
  return {
    ...variant,
    importModuleLoader: async () => {
      const imported = await variant.importModuleLoader();
      const load = ('default' in imported ? imported.default : imported) as EmscriptenLoader;
      return async (options) => {
        // The very object that was given: the library reads from it what the loader leaves there.
        const module = await load(Object.assign(options ?? {}, quiet));
        const malloc = module._malloc.bind(module);
        module._malloc = (size: number) => {
          const pointer = malloc(size);
          if (pointer === 0) throw new OutOfMemory();
          return pointer;
        };
        return module;
      };
    },
  };
}

type Loaded = Awaited<ReturnType<QuickJSSyncVariant['importModuleLoader']>>;
type EmscriptenLoader = Exclude<Loaded, { default: unknown }>;
