import ngReleaseSync from '@jitl/quickjs-ng-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import type { JsCardJob, JsCardResult, SandboxWorkerData } from '../../protocol/src/worker.ts';
import {
  HostFunctions,
  makeHostFunctions,
  OutOfMemory,
  type CardErrorCode,
  type CardEvents,
} from './hostFunctions.ts';
import { guestName, ImportRefused, resolveModule } from './modulePath.ts';

/** Well below the thread's own stack (`stackSizeMb` of the worker): running out must end in QuickJS, never in V8. */
const stackBytes = 256 * 1024;
/** Promise jobs between two looks at the clock. */
const jobsPerBatch = 64;
const pageBytes = 65_536;
/** First pages of the instance, as the module declares them. */
const initialPages = 256;
/** No card's module can have this name, as it has no extension: QuickJS keeps what it once loaded. */
const warmUpModule = `${guestName}/warm-up`;

/**
 * A card of our own that goes through what a real one will go through, so that no code of the thread or the instance is
 * compiled while a person waits.
 */
export const warmUpJob: JsCardJob = {
  cardId: 'warm-up',
  modules: {
    [warmUpModule]:
      'export default async ({ inputs, params, log }) => { log(params); return { a: inputs.a, b: inputs.b }; };',
  },
  entry: warmUpModule,
  inputs: { a: { type: 'json', text: '[1]' }, b: { type: 'table', text: 'x\n1\n' } },
  outputs: [
    { port: 'a', type: 'json', optional: false },
    { port: 'b', type: 'table', optional: false },
  ],
  params: '{}',
  deadlineMs: 10_000,
  outputBytes: 1000,
  logBytes: 1000,
};

/** Below this share of its memory an instance that failed without a word did not fail for want of memory. */
const fullShare = 0.9;

export interface SandboxOptions extends SandboxWorkerData<WebAssembly.Module> {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/**
 * One QuickJS instance for one card. Its memory is a `WebAssembly.Memory` with a maximum of its own, which is what
 * bounds it: QuickJS's own memory limit does not count everything. It is never disposed of: freeing a damaged heap can
 * abort, so the thread that holds it ends instead.
 */
export class Sandbox {
  readonly #memory: WebAssembly.Memory;
  readonly #maximumBytes: number;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #runCard: QuickJSHandle;
  readonly #now: () => number;
  #modules: ReadonlyMap<string, string> = new Map();
  #host: HostFunctions | undefined;
  #deadline = Infinity;
  #used = false;

  /** Use `createSandbox`. */
  constructor(runtime: QuickJSRuntime, memory: WebAssembly.Memory, options: SandboxOptions) {
    this.#memory = memory;
    this.#maximumBytes = options.memoryPages * pageBytes;
    this.#now = options.now;
    this.#runtime = runtime;
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => {
      this.#host?.tick();
      return this.#host?.verdict !== undefined || this.#now() >= this.#deadline;
    });
    runtime.setModuleLoader(
      (name) => this.#modules.get(name) ?? { error: new ImportRefused(name) },
      (base, request) => resolveModule(this.#modules, base, request),
    );
    this.#context = runtime.newContext();
    const { send, receive } = makeHostFunctions(this.#context, () => this.#host);
    const guest = this.#context.unwrapResult(
      this.#context.evalCode(options.guestSource, guestName, { type: 'global', strict: true }),
    );
    this.#runCard = this.#context.unwrapResult(
      this.#context.callFunction(guest, this.#context.undefined, send, receive),
    );
  }

  /** Bytes that the instance's memory has grown to. */
  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /**
   * Runs a card to its end on this thread. Never throws; whatever went wrong is in the result. Only once: the instance
   * is spent afterwards, and so is the thread where a native loop keeps it beyond the deadline.
   */
  run(job: JsCardJob, events: CardEvents): JsCardResult {
    if (this.#used) throw new TypeError('Failed to run a card: this sandbox has run one');
    this.#used = true;
    const host = new HostFunctions(job, events, () => this.#isFull());
    this.#host = host;
    this.#modules = new Map(Object.entries(job.modules));
    this.#deadline = this.#now() + job.deadlineMs;
    try {
      const nul = [...this.#modules].find(([, source]) => source.includes('\0'));
      if (!this.#modules.has(job.entry))
        host.fail('bad-entry', `The card's folder has no ${job.entry}; a js card is a .js or .mjs file`);
      else if (nul) host.fail('bad-entry', `${nul[0]} has a NUL character: it is not JavaScript`);
      else this.#evaluate(job);
    } catch (error) {
      const { code, message } = describeHostError(error);
      host.fail(code, message);
    }
    const verdict = host.verdict ?? this.#silentEnd(job);
    const { logCutBytes } = host;
    if (verdict.kind === 'error') return { ...verdict, logCutBytes };
    return { kind: 'ok', outputs: host.outputs(), logCutBytes };
  }

  #evaluate(job: JsCardJob): void {
    const context = this.#context;
    const spec = JSON.stringify({
      entry: job.entry,
      params: JSON.parse(job.params) as unknown,
      inputs: Object.fromEntries(Object.entries(job.inputs).map(([port, { type }]) => [port, type])),
      outputs: Object.fromEntries(job.outputs.map(({ port, type }) => [port, type])),
    });
    const argument = context.newString(spec);
    if (context.typeof(argument) !== 'string') throw new OutOfMemory();
    context.callFunction(this.#runCard, context.undefined, argument);
    while (this.#host?.verdict === undefined && this.#now() < this.#deadline && this.#runtime.hasPendingJob())
      this.#runtime.executePendingJobs(jobsPerBatch);
  }

  #isFull(): boolean {
    return this.memoryBytes >= this.#maximumBytes * fullShare;
  }

  /** The guest came to an end without saying how: interrupted, out of memory, or waiting for what never comes. */
  #silentEnd(job: JsCardJob): { kind: 'error'; code: CardErrorCode; message: string } {
    const end = (code: CardErrorCode, message: string) => ({ kind: 'error', code, message }) as const;
    if (this.#now() >= this.#deadline) return end('timeout', `The card ran longer than ${job.deadlineMs} ms`);
    if (this.#isFull())
      return end('memory', `The card needs more than ${this.#maximumBytes / 1024 / 1024} MiB`);
    return end('exception', 'The card waits for a promise that nothing will settle');
  }

  /** Makes the instance ready for its one card again after `warmUpJob`, which leaves nothing that a card could name. */
  reset(): void {
    this.#host = undefined;
    this.#modules = new Map();
    this.#deadline = Infinity;
    this.#used = false;
  }
}

/** Makes an instance with the guest's prelude loaded: a standby sandbox without a card. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const memory = new WebAssembly.Memory({ initial: initialPages, maximum: options.memoryPages });
  const variant = newVariant(guarded(ngReleaseSync), {
    wasmModule: options.wasmModule,
    wasmMemory: memory,
  });
  const quickjs = await newQuickJSWASMModuleFromVariant(variant);
  return new Sandbox(quickjs.newRuntime(), memory, options);
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

/** What the engine itself threw: V8's stack ran out, a trap, an abort. The instance may be damaged. */
function describeHostError(error: unknown): { code: CardErrorCode; message: string } {
  if (error instanceof OutOfMemory) return { code: 'memory', message: 'out of memory' };
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return { code: 'stack', message: 'The card went too deep' };
  const text = error instanceof WebAssembly.RuntimeError ? error.message : 'an error outside of the card';
  return { code: 'exception', message: `QuickJS stopped: ${text.slice(0, 200)}` };
}
