import * as z from 'zod/mini';
import { notification, request } from './contract.ts';
import { portType } from './manifests.ts';

/**
 * Engine ↔ sandbox worker (one worker thread, one QuickJS instance, one card run). Only strings and JSON cross; files
 * cross as bytes. The worker holds no authority: it evaluates code and returns what the code returned.
 */

export const jsCardJob = z.strictObject({
  cardId: z.string(),
  /** Source text of every `.js` and `.mjs` file of the card's folder, by relative path; `entry` is one of them. */
  modules: z.record(z.string(), z.string()),
  entry: z.string(),
  /** Text ports by name: `json`, `text`, `table`, `html`, `vega-lite`, `plotly`. */
  inputs: z.record(z.string(), z.strictObject({ type: portType, text: z.string() })),
  outputs: z.array(z.strictObject({ port: z.string(), type: portType, optional: z.boolean() })),
  params: z.string(),
  /** Deadline in milliseconds for the interrupt; the engine terminates the worker soon after. */
  deadlineMs: z.int(),
  outputBytes: z.int(),
  logBytes: z.int(),
});
export type JsCardJob = z.infer<typeof jsCardJob>;

export const jsCardResult = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ok'), outputs: z.record(z.string(), z.string()), logCutBytes: z.int() }),
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
