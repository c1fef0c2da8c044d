import { randomFillSync } from 'node:crypto';
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';
import {
  pluginEndCode,
  pluginLimits,
  type LogLevel,
  type PluginEnd,
  type PluginEndCode,
} from '../../protocol/src/plugin.ts';
import type { SandboxWorkerData } from '../../protocol/src/worker.ts';
import { newString, readString } from './guestValues.ts';
import { createInstance, describeHostError, jobsPerBatch, type Instance } from './instance.ts';
import { guestName, ImportRefused, resolveModule } from './modulePath.ts';

/** What a plugin says while it runs. Everything in it comes from inside the sandbox. */
export interface PluginEvents {
  /** Asks for a host function; `answer` is to be called with this id. */
  hostCall(id: number, name: string, params: string): void;
  log(level: LogLevel, text: string): void;
  /** No call of it runs until something is entered; it waits for host functions. */
  waiting(): void;
}

export interface PluginSandboxOptions extends SandboxWorkerData<WebAssembly.Module> {
  readonly events: PluginEvents;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly date: () => number;
}

/** What a plugin is told where it asks for too much at once. */
const tooMany = JSON.stringify({
  code: 'too-many',
  message: `A plugin waits for at most ${pluginLimits.hostCalls} host functions at once`,
});
/** Of a kind and of the name of a host function. */
const longestWord = 64;

interface Call {
  readonly interruptMs: number;
  usedMs: number;
  logLength: number;
  logLines: number;
  settle(end: PluginEnd): void;
}

interface Answer {
  readonly id: number;
  readonly ok: boolean;
  readonly text: string;
}

/**
 * An instance that one plugin has for as long as it lives. The host enters it for a call or an answer, lets it run until
 * it waits or is done, and leaves; nothing of it runs in between. Whatever leaves it in doubt (an interrupt, no memory,
 * an error of the host) ends every call and spends it: the thread must end then.
 */
export class PluginSandbox {
  readonly #instance: Instance;
  readonly #context: QuickJSContext;
  readonly #enter: QuickJSHandle;
  readonly #options: PluginSandboxOptions;
  readonly #calls = new Map<number, Call>();
  readonly #asked = new Set<number>();
  /** Answers that came while no call was under way: the plugin does not run on its own. */
  readonly #held: Answer[] = [];
  /** Host functions that were one too many, answered before the plugin is left. */
  readonly #refused: number[] = [];
  /** Calls that came to their end; they are told once the plugin is left. */
  readonly #ended: { readonly call: Call; readonly end: PluginEnd }[] = [];
  #modules: ReadonlyMap<string, string> = new Map();
  #nextCall = 1;
  #deadline = Infinity;
  #spent: { code: PluginEndCode; message: string } | undefined;

  /** Use `createPluginSandbox`. */
  constructor(instance: Instance, options: PluginSandboxOptions) {
    this.#instance = instance;
    this.#options = options;
    const { runtime } = instance;
    runtime.setInterruptHandler(() => this.#spent !== undefined || options.now() >= this.#deadline);
    runtime.setModuleLoader(
      (name) => this.#modules.get(name) ?? { error: new ImportRefused(name, 'a plugin') },
      (base, request) => resolveModule(this.#modules, base, request),
    );
    const context = runtime.newContext();
    this.#context = context;
    const send = context.newFunction('send', (kind, id, text, name) =>
      this.#guard(() => this.#send(kind, id, text, name)),
    );
    const now = context.newFunction('now', () => context.newNumber(options.date()));
    const random = context.newFunction('random', (count) => this.#guard(() => this.#random(count)));
    const guest = context.unwrapResult(
      context.evalCode(options.guestSource, guestName, { type: 'global', strict: true }),
    );
    this.#enter = context.unwrapResult(context.callFunction(guest, context.undefined, send, now, random));
  }

  /** Bytes that the instance's memory has grown to. */
  get memoryBytes(): number {
    return this.#instance.memoryBytes;
  }

  /** Gives it its plugin; nothing of it runs. Returns why it can't be one, or null. */
  load(modules: Readonly<Record<string, string>>, entry: string): string | null {
    if (this.#modules.size > 0) return 'This worker has a plugin';
    const found = new Map(Object.entries(modules));
    if (!found.has(entry)) return `The plugin has no ${entry}`;
    const nul = [...found].find(([path, source]) => path.includes('\0') || source.includes('\0'));
    if (nul) return `${nul[0].replaceAll('\0', '')} has a NUL character: it is not JavaScript`;
    this.#modules = found;
    this.#run(() => this.#enterWith(['load', entry]));
    return this.#spent?.message ?? null;
  }

  /** Calls an exported function with JSON text. Settles with how it ended; never rejects. */
  call(functionName: string, input: string, interruptMs: number): Promise<PluginEnd> {
    return new Promise((settle) => {
      if (this.#spent) {
        settle({ kind: 'error', ...this.#spent });
        return;
      }
      const id = this.#nextCall++;
      this.#calls.set(id, { interruptMs, usedMs: 0, logLength: 0, logLines: 0, settle });
      const held = this.#held.splice(0);
      this.#run(() => {
        for (const answer of held) this.#give(answer);
        this.#enterWith(['call', id, functionName, input]);
      });
    });
  }

  /** Brings what a host function gave: JSON text of its value, or of why there is none. */
  answer(answer: Answer): void {
    if (!this.#asked.delete(answer.id) || this.#spent) return;
    if (this.#calls.size === 0) this.#held.push(answer);
    else this.#run(() => this.#give(answer));
  }

  /**
   * One stretch of running: enters, then runs jobs until there are none, and accounts for the time. Ends are told only
   * after it, so that a call that leaves a loop behind has run too long.
   */
  #run(enter: () => void): void {
    const { now } = this.#options;
    const startedAt = now();
    const left = [...this.#calls.values()].map((call) => call.interruptMs - call.usedMs);
    this.#deadline = startedAt + Math.min(...left, pluginLimits.interruptMs);
    try {
      enter();
      this.#pump();
    } catch (error) {
      this.#spendBy(error);
    }
    const ranMs = now() - startedAt;
    for (const call of this.#calls.values()) call.usedMs += ranMs;
    if (now() >= this.#deadline) this.#spend('timeout', 'It ran too long');
    this.#deadline = Infinity;
    const isIdle = this.#asked.size === 0;
    if (this.#spent) this.#endAll({ kind: 'error', ...this.#spent });
    else if (isIdle) this.#endAll(neverSettles);
    else if (this.#calls.size > 0) this.#options.events.waiting();
    for (const { call, end } of this.#ended.splice(0))
      call.settle(this.#spent ? { kind: 'error', ...this.#spent } : end);
  }

  #pump(): void {
    const { runtime } = this.#instance;
    while (!this.#spent && this.#options.now() < this.#deadline) {
      const refused = this.#refused.pop();
      if (refused !== undefined) this.#give({ id: refused, ok: false, text: tooMany });
      else if (runtime.hasPendingJob()) runtime.executePendingJobs(jobsPerBatch).dispose();
      else return;
    }
  }

  #give({ id, ok, text }: Answer): void {
    this.#enterWith(['answer', id, ok, text]);
  }

  #enterWith(values: readonly (string | number | boolean)[]): void {
    const context = this.#context;
    const handles = values.map((value) => this.#toHandle(value));
    const result = context.callFunction(this.#enter, context.undefined, ...handles);
    for (const handle of handles) handle.dispose();
    if (result.error) {
      result.error.dispose();
      // guest.js throws nothing: it was interrupted, or there was no memory for what it does.
      if (this.#options.now() < this.#deadline) this.#spend('memory', 'out of memory');
    } else result.value.dispose();
  }

  #toHandle(value: string | number | boolean): QuickJSHandle {
    if (typeof value === 'string') return newString(this.#context, value);
    if (typeof value === 'number') return this.#context.newNumber(value);
    return value ? this.#context.true : this.#context.false;
  }

  /** `send` of pluginGuest.js. Types and lengths are looked at before a string is copied out. */
  #send(...handles: readonly (QuickJSHandle | undefined)[]): undefined {
    if (this.#spent) return;
    const [kindHandle, idHandle, textHandle, nameHandle] = handles;
    const kind = readString(this.#context, kindHandle, longestWord);
    const id = this.#readNumber(idHandle);
    const text = readString(this.#context, textHandle, pluginLimits.textLength);
    if (kind === undefined || !Number.isSafeInteger(id)) this.#break();
    else if (kind === 'host') this.#ask(id, readString(this.#context, nameHandle, longestWord), text);
    else if (kind === 'end') this.#end(id, text === undefined ? tooLarge : { kind: 'ok', output: text });
    else if (text === undefined) this.#break();
    else if (kind === 'fail') this.#fail(id, text);
    else if (kind === 'info' || kind === 'warning' || kind === 'error') this.#log(kind, text);
    else this.#break();
  }

  #ask(id: number, name: string | undefined, params: string | undefined): void {
    if (this.#asked.has(id) || id < 1 || name === undefined) return this.#break();
    if (this.#asked.size >= pluginLimits.hostCalls) this.#refused.push(id);
    else {
      this.#asked.add(id);
      // The engine refuses what is no JSON.
      this.#options.events.hostCall(id, name, params ?? '');
    }
  }

  #fail(id: number, text: string): void {
    const { code, message } = readObject(text);
    const words = typeof message === 'string' ? message.slice(0, pluginLimits.messageLength) : '';
    const known = pluginEndCode.safeParse(code);
    // A full instance would fail each further call: a fresh one takes its place.
    if (code === 'memory' || (code === 'nothing' && this.#instance.isFull))
      this.#spend('memory', words === '' ? 'out of memory' : words);
    else {
      const isOwn = known.success && !endsWorker.has(known.data);
      this.#end(id, { kind: 'error', code: isOwn ? known.data : 'exception', message: words });
    }
  }

  #end(id: number, end: PluginEnd): void {
    const call = this.#calls.get(id);
    if (this.#calls.delete(id) && call) this.#ended.push({ call, end });
  }

  #endAll(end: PluginEnd): void {
    for (const id of [...this.#calls.keys()]) this.#end(id, end);
  }

  #log(level: LogLevel, text: string): void {
    const line = parseText(text);
    // The latest call pays; a line between calls can't be, as nothing runs then.
    const call = [...this.#calls.values()].at(-1);
    if (line === undefined) return this.#break();
    if (!call || call.logLines >= pluginLimits.logLines || call.logLength >= pluginLimits.logLength) return;
    call.logLines++;
    call.logLength += line.length;
    this.#options.events.log(level, line);
  }

  #random(countHandle: QuickJSHandle | undefined): QuickJSHandle {
    const count = Math.min(
      Math.max(0, Math.trunc(this.#readNumber(countHandle)) || 0),
      pluginLimits.randomBytes,
    );
    let text = '';
    // Beyond the first 256 code units: none of them is NUL.
    for (const byte of randomFillSync(new Uint8Array(count))) text += String.fromCharCode(byte + 256);
    return newString(this.#context, text);
  }

  #readNumber(handle: QuickJSHandle | undefined): number {
    return handle && this.#context.typeof(handle) === 'number' ? this.#context.getNumber(handle) : Number.NaN;
  }

  #break(): void {
    this.#spend('broken', 'The plugin broke the protocol of its sandbox');
  }

  #spend(code: PluginEndCode, message: string): void {
    this.#spent ??= { code, message };
  }

  /** What the host itself threw: the instance may be damaged. */
  #spendBy(error: unknown): void {
    const { code, message } = describeHostError(error);
    this.#spend(code === 'memory' ? 'memory' : 'broken', message);
  }

  /** What the host throws while it serves the plugin spends the instance, whatever the plugin makes of the error. */
  #guard<T extends QuickJSHandle | undefined>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.#spendBy(error);
      throw error;
    }
  }
}

const endsWorker: ReadonlySet<PluginEndCode> = new Set(['timeout', 'memory', 'broken']);
const tooLarge: PluginEnd = {
  kind: 'error',
  code: 'too-large',
  message: `A result has at most ${pluginLimits.textLength} characters of JSON`,
};

const neverSettles: PluginEnd = {
  kind: 'error',
  code: 'exception',
  message: 'It waits for a promise that nothing will settle',
};

/** Makes an instance with the prelude loaded: a standby sandbox without a plugin. */
export async function createPluginSandbox(options: PluginSandboxOptions): Promise<PluginSandbox> {
  return new PluginSandbox(await createInstance(options), options);
}

/** The members of a JSON object, or none: the text is the guest's. */
function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function parseText(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
