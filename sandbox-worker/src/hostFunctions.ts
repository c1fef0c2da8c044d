import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core';
import type { JsCardJob, JsCardResult } from '../../protocol/src/worker.ts';
import { newString, OutOfMemory, readString } from './guestValues.ts';

/** What is told while the card runs. */
export interface CardEvents {
  log(stream: 'stdout' | 'stderr', text: string): void;
  progress(fraction: number, text: string): void;
  /** Called often while the card computes. */
  tick(): void;
}

export type CardErrorCode = Extract<JsCardResult, { kind: 'error' }>['code'];

/** How the card ended, as the guest or a bound of the host said it. The first word counts. */
export type Verdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'error'; readonly code: CardErrorCode; readonly message: string };

/** The longest JSON literal of one `send`: 32,768 characters, each at most `\uXXXX`, and the quotation marks. */
const longestLiteral = 32_768 * 6 + 2;
const longestName = 64;
const longestProgressText = 200;
const guestCodes: readonly string[] = ['exception', 'memory', 'stack', 'bad-output', 'bad-entry'];

/**
 * The host's side of one card: takes what `send` brings and gives what `receive` asks for. Everything from the guest is
 * hostile: types and lengths are looked at before a string is copied out, and no guest object is ever looked into.
 */
export class HostFunctions {
  readonly #job: JsCardJob;
  readonly #events: CardEvents;
  readonly #isFull: () => boolean;
  readonly #outputs = new Map<string, { text: string[]; bytes: Uint8Array[] }>();
  readonly #ports: ReadonlySet<string>;
  #outputBytes = 0;
  #logBytes = 0;
  #logCutBytes = 0;
  #verdict: Verdict | undefined;

  /** `isFull` tells whether the instance's memory is used up. */
  constructor(job: JsCardJob, events: CardEvents, isFull: () => boolean) {
    this.#job = job;
    this.#isFull = isFull;
    this.#events = events;
    this.#ports = new Set(job.outputs.map((output) => output.port));
  }

  /** Present once the card is at its end: nothing it does after that counts. */
  get verdict(): Verdict | undefined {
    return this.#verdict;
  }

  get logCutBytes(): number {
    return this.#logCutBytes;
  }

  outputs(): Record<string, string | Uint8Array<ArrayBuffer>> {
    return Object.fromEntries(
      [...this.#outputs].map(([port, { text, bytes }]) => [
        port,
        // Copied: a Buffer may be a view of a pool, and cloning a view clones what is under it.
        bytes.length > 0 ? new Uint8Array(Buffer.concat(bytes)) : text.join(''),
      ]),
    );
  }

  /** Called by the interrupt handler. */
  tick(): void {
    this.#events.tick();
  }

  /** Ends the card from the host's side. */
  fail(code: CardErrorCode, message: string): void {
    this.#verdict ??= { kind: 'error', code, message };
  }

  /** `send(kind, name, json)` of guest.js. */
  send(kind: string, name: string, text: string): void {
    if (this.#verdict !== undefined) return;
    switch (kind) {
      case 'stdout':
      case 'stderr':
        this.#log(kind, text);
        return;
      case 'progress': {
        const fraction = Number(name);
        if (Number.isFinite(fraction))
          this.#events.progress(Math.min(1, Math.max(0, fraction)), text.slice(0, longestProgressText));
        return;
      }
      case 'open':
        if (this.#ports.has(name)) this.#outputs.set(name, { text: [], bytes: [] });
        else this.fail('exception', brokenProtocol);
        return;
      case 'text':
        this.#take(name, Buffer.byteLength(text), (output) => output.text.push(text));
        return;
      case 'bytes':
        this.#take(name, text.length, (output) => output.bytes.push(Buffer.from(text, 'latin1')));
        return;
      case 'end':
        this.#verdict =
          name === 'ok' ? { kind: 'ok' } : { kind: 'error', code: this.#toCode(name), message: text };
        return;
      default:
        this.fail('exception', brokenProtocol);
    }
  }

  /** `receive(port, as)` of guest.js: the input, or undefined where the card has none of that name. */
  receive(port: string, as: string | undefined): string | Uint8Array | undefined {
    const input = Object.hasOwn(this.#job.inputs, port) ? this.#job.inputs[port] : undefined;
    if (input === undefined) return undefined;
    if ('text' in input) return input.text;
    return as === 'text' ? Buffer.from(input.bytes).toString() : input.bytes;
  }

  #toCode(name: string): CardErrorCode {
    if (name === 'nothing') return this.#isFull() ? 'memory' : 'exception';
    return guestCodes.includes(name) ? (name as CardErrorCode) : 'exception';
  }

  #log(stream: 'stdout' | 'stderr', text: string): void {
    const size = Buffer.byteLength(text);
    if (this.#logCutBytes > 0 || this.#logBytes + size > this.#job.logBytes) this.#logCutBytes += size;
    else {
      this.#logBytes += size;
      this.#events.log(stream, text);
    }
  }

  #take(port: string, size: number, keep: (output: { text: string[]; bytes: Uint8Array[] }) => void): void {
    const output = this.#outputs.get(port);
    this.#outputBytes += size;
    if (this.#outputBytes > this.#job.outputBytes)
      this.fail('output-too-large', `The outputs are larger than ${this.#job.outputBytes} bytes`);
    else if (output === undefined) this.fail('exception', brokenProtocol);
    else keep(output);
  }
}

const brokenProtocol = 'The card broke the protocol of its sandbox';

/**
 * Makes `send` and `receive` in a context. They take strings only; a wrong type, an overlong string or text that is not
 * one JSON string literal ends the card.
 */
export function makeHostFunctions(
  context: QuickJSContext,
  current: () => HostFunctions | undefined,
): { readonly send: QuickJSHandle; readonly receive: QuickJSHandle } {
  const send = context.newFunction('send', (kind, name, literal) =>
    guarded(current(), (host) => {
      const text = parseLiteral(readString(context, literal, longestLiteral));
      const kindText = readString(context, kind, longestName);
      const nameText = readString(context, name, longestName);
      if (text === undefined || kindText === undefined || nameText === undefined)
        host.fail('exception', brokenProtocol);
      else host.send(kindText, nameText, text);
      return undefined;
    }),
  );
  const receive = context.newFunction('receive', (port, as) =>
    guarded(current(), (host) => {
      const name = readString(context, port, longestName);
      const input = name === undefined ? undefined : host.receive(name, readString(context, as, longestName));
      if (input === undefined) return { error: context.newError('This card has no such input') };
      return typeof input === 'string' ? newText(context, input) : newBytes(context, input);
    }),
  );
  return { send, receive };
}

type Answer = QuickJSHandle | { error: QuickJSHandle } | undefined;

/** What the host itself throws ends the card, whatever the guest makes of the error. */
function guarded(host: HostFunctions | undefined, act: (host: HostFunctions) => Answer): Answer {
  if (host === undefined) return undefined;
  try {
    return act(host);
  } catch (error) {
    if (error instanceof OutOfMemory) host.fail('memory', error.message);
    else host.fail('exception', 'The sandbox failed while it served the card');
    throw error;
  }
}

function parseLiteral(literal: string | undefined): string | undefined {
  if (!literal?.startsWith('"')) return undefined;
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Strings go in as C strings, which end at the first NUL: a text with one goes in as its UTF-16 units. */
function newText(context: QuickJSContext, text: string): QuickJSHandle {
  if (text.includes('\0')) return newBytes(context, Buffer.from(text, 'utf16le'));
  return newString(context, text);
}

function newBytes(context: QuickJSContext, bytes: Uint8Array): QuickJSHandle {
  const copy = new Uint8Array(bytes);
  const handle = context.newArrayBuffer(copy.buffer);
  if (context.typeof(handle) !== 'object') throw new OutOfMemory();
  return handle;
}
