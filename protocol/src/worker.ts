import * as z from 'zod/mini';
import { notification, request } from './contract.ts';
import { portType } from './manifests.ts';

/**
 * Engine ↔ sandbox worker (one worker thread, one QuickJS instance, one card run). Only strings, JSON and bytes cross.
 * The worker holds no authority: it evaluates code and returns what the code returned. What the engine hears from it
 * comes from inside the sandbox and is data.
 */

/** What a worker thread is started with (`workerData`). */
export interface SandboxWorkerData<WasmModule = unknown> {
  /** QuickJS, a `WebAssembly.Module` compiled once by the engine and shared by all its workers. */
  readonly wasmModule: WasmModule;
  /** The source of `sandbox-worker/src/guest.js`, run inside the sandbox before any card's code. */
  readonly guestSource: string;
  /** The most memory that the instance can grow to, in WebAssembly pages of 64 KiB. */
  readonly memoryPages: number;
}

const text = z.strictObject({ type: portType, text: z.string() });
const bytes = z.strictObject({ type: portType, bytes: z.instanceof(Uint8Array) });

export const jsCardJob = z.strictObject({
  cardId: z.string(),
  /** Source text of every `.js` and `.mjs` file of the card's folder, by relative path; `entry` is one of them. */
  modules: z.record(z.string(), z.string()),
  entry: z.string(),
  /** By port: text for `json`, `text`, `table`, `html`, `vega-lite`, `plotly`; bytes for `file` and `image`. */
  inputs: z.record(z.string(), z.union([text, bytes])),
  outputs: z.array(z.strictObject({ port: z.string(), type: portType, optional: z.boolean() })),
  /** JSON text of the resolved parameters. */
  params: z.string(),
  /** Deadline in milliseconds for the interrupt; the engine terminates the worker soon after. */
  deadlineMs: z.int(),
  /** The most bytes of all outputs together, and of log kept; more log is counted and left out. */
  outputBytes: z.int(),
  logBytes: z.int(),
});
export type JsCardJob = z.infer<typeof jsCardJob>;

export const jsCardResult = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('ok'),
    /** Declared ports only. One that the card left out is absent. */
    outputs: z.record(z.string(), z.union([z.string(), z.instanceof(Uint8Array)])),
    logCutBytes: z.int(),
  }),
  z.strictObject({
    kind: z.literal('error'),
    code: z.enum(['exception', 'timeout', 'memory', 'stack', 'output-too-large', 'bad-output', 'bad-entry']),
    /** Text from inside the sandbox: data, shown escaped. */
    message: z.string(),
    logCutBytes: z.int(),
  }),
]);
export type JsCardResult = z.infer<typeof jsCardResult>;

export const workerSide = {
  requests: {
    'card/run': request(jsCardJob, jsCardResult, { timeoutMs: 0 }),
  },
  notifications: {},
} as const;

export const workerEvents = {
  requests: {},
  notifications: {
    /** The instance is ready: standby until a job comes. */
    'worker/ready': notification(z.strictObject({})),
    'card/log': notification(z.strictObject({ stream: z.enum(['stdout', 'stderr']), text: z.string() })),
    'card/progress': notification(z.strictObject({ fraction: z.number(), text: z.string() })),
  },
} as const;
