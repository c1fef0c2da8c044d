import * as z from 'zod/mini';
import { notification, request } from './contract.ts';

/**
 * Engine ↔ plugin worker: one worker thread, one QuickJS instance, one plugin for as long as it lives. Only strings
 * cross, and those that carry values are JSON text (RFC 8259). The worker holds no authority: what a plugin asks for is
 * asked of the engine, which knows by the thread whose plugin it is. What the engine hears is data from a stranger.
 */

export const pluginLimits = {
  /** Of the JSON text of an input, an output, and what a host function takes and gives, in UTF-16 units. */
  textLength: 4 * 1024 * 1024,
  /** Values within values of an input and an output. */
  depth: 32,
  /** Running time of one call: what the interrupt allows, and what the engine's own clock does. */
  interruptMs: 9500,
  callMs: 10_000,
  /** From the start of a call to its end, host functions that it waits for included. */
  wallMs: 120_000,
  /** Calls of one plugin at once, and host functions that one plugin waits for at once. */
  calls: 8,
  hostCalls: 32,
  /** Host functions that one plugin asks for while it has calls under way. */
  hostCallsPerCall: 10_000,
  /** Characters and lines that one call logs; what is more is counted. */
  logLength: 32 * 1024,
  logLines: 200,
  messageLength: 2000,
  moduleFiles: 2000,
  moduleBytes: 8 * 1024 * 1024,
  randomBytes: 1024,
} as const;

const jsonText = z.string();

export const pluginEndCode = z.enum([
  /** The plugin threw, or waits for what nothing will settle. */
  'exception',
  /** The function's result is no JSON. */
  'bad-output',
  'too-large',
  /** The module can't be imported, or exports no such function. */
  'bad-entry',
  /** These three end the worker: it ran too long, has no memory left, or can't be trusted to be whole. */
  'timeout',
  'memory',
  'broken',
]);
export type PluginEndCode = z.infer<typeof pluginEndCode>;

/** How one call of a function ended. */
export const pluginEnd = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ok'), output: jsonText }),
  /** `message` is text from inside the sandbox. */
  z.strictObject({ kind: z.literal('error'), code: pluginEndCode, message: z.string() }),
]);
export type PluginEnd = z.infer<typeof pluginEnd>;

export const logLevel = z.enum(['info', 'warning', 'error']);
export type LogLevel = z.infer<typeof logLevel>;

/** Answered by the worker. */
export const pluginWorkerSide = {
  requests: {
    /** Gives the worker its plugin, once. Nothing of it runs yet. `modules` is source text by relative path. */
    'plugin/load': request(
      z.strictObject({ modules: z.record(z.string(), z.string()), entry: z.string() }),
      z.strictObject({ problem: z.nullable(z.string()) }),
    ),
    /** `seq` counts what the engine sent that lets the plugin run: calls and answers. */
    'plugin/call': request(
      z.strictObject({
        functionName: z.string(),
        input: jsonText,
        /** Running time in milliseconds after which the interrupt ends it. */
        interruptMs: z.number(),
        seq: z.int(),
      }),
      pluginEnd,
      { timeoutMs: 0 },
    ),
  },
  notifications: {
    'host/answer': notification(
      z.strictObject({
        id: z.int(),
        seq: z.int(),
        /** JSON text of the value, or of `{ code, message }` with a code of `bridgeErrorCodes`. */
        ok: z.boolean(),
        text: jsonText,
      }),
    ),
  },
} as const;

/** Heard by the engine. */
export const pluginWorkerEvents = {
  requests: {},
  notifications: {
    'worker/ready': notification(z.strictObject({})),
    'host/call': notification(z.strictObject({ id: z.int(), name: z.string(), params: jsonText })),
    /** Nothing of the plugin runs until the engine sends something; `seq` is the last that was heard. */
    'plugin/waiting': notification(z.strictObject({ seq: z.int() })),
    'plugin/log': notification(z.strictObject({ level: logLevel, text: z.string() })),
  },
} as const;
