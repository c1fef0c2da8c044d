import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';
import type { JsCardJob, JsCardResult, SandboxWorkerData } from '../../protocol/src/worker.ts';
import { newString } from './guestValues.ts';
import { HostFunctions, makeHostFunctions, type CardErrorCode, type CardEvents } from './hostFunctions.ts';
import { createInstance, describeHostError, jobsPerBatch, type Instance } from './instance.ts';
import { guestName, ImportRefused, resolveModule } from './modulePath.ts';

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

export interface SandboxOptions extends SandboxWorkerData<WebAssembly.Module> {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** An instance for one card. */
export class Sandbox {
  readonly #instance: Instance;
  readonly #context: QuickJSContext;
  readonly #runCard: QuickJSHandle;
  readonly #now: () => number;
  #modules: ReadonlyMap<string, string> = new Map();
  #host: HostFunctions | undefined;
  #deadline = Infinity;
  #used = false;

  /** Use `createSandbox`. */
  constructor(instance: Instance, options: Pick<SandboxOptions, 'guestSource' | 'now'>) {
    const { runtime } = instance;
    this.#instance = instance;
    this.#now = options.now;
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
    return this.#instance.memoryBytes;
  }

  /**
   * Runs a card to its end on this thread. Never throws; whatever went wrong is in the result. Only once: the instance
   * is spent afterwards, and so is the thread where a native loop keeps it beyond the deadline.
   */
  run(job: JsCardJob, events: CardEvents): JsCardResult {
    if (this.#used) throw new TypeError('Failed to run a card: this sandbox has run one');
    this.#used = true;
    const host = new HostFunctions(job, events, () => this.#instance.isFull);
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
    const { runtime } = this.#instance;
    context.callFunction(this.#runCard, context.undefined, newString(context, spec));
    while (this.#host?.verdict === undefined && this.#now() < this.#deadline && runtime.hasPendingJob())
      runtime.executePendingJobs(jobsPerBatch);
  }

  /** The guest came to an end without saying how: interrupted, out of memory, or waiting for what never comes. */
  #silentEnd(job: JsCardJob): { kind: 'error'; code: CardErrorCode; message: string } {
    const end = (code: CardErrorCode, message: string) => ({ kind: 'error', code, message }) as const;
    if (this.#now() >= this.#deadline) return end('timeout', `The card ran longer than ${job.deadlineMs} ms`);
    const { isFull, maximumBytes } = this.#instance;
    if (isFull) return end('memory', `The card needs more than ${maximumBytes / 1024 / 1024} MiB`);
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
  return new Sandbox(await createInstance(options), options);
}
