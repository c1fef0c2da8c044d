import * as z from 'zod/mini';
import { cardState, runState } from './engine.ts';
import type { ErrorCode } from './errors.ts';
import { generateKind, portType } from './manifests.ts';

/**
 * What an app's page may ask for: the whole list. A call is checked twice, from two separately written tables: by the
 * shell around the frame (`webviews/src/appHost/shellTable.ts`) and by the side that has the effect, which is the engine
 * (`language-server/src/apps`), or the extension for what only a person's window can do. This file is what both are
 * tested against. Whose app it is never stands in a message: it comes from the webview object.
 *
 * Parameters and answers travel as JSON text (RFC 8259), so that a size is known before anything is read.
 */

const appPath = z
  .string()
  .check(z.regex(/^(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\/){0,15}[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/));
const id = z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}$/));
const short = z.string().check(z.maxLength(200));
const name = z.string().check(z.minLength(1), z.maxLength(200));
const empty = z.strictObject({});
const timeMs = z.int().check(z.nonnegative());
const count = z.int().check(z.nonnegative());
/** A name from `models.list` or `voices.list`; absent takes what the person chose for this kind. */
const choice = z.optional(name);

/** How the bytes of a file stand in a message: as they are, or base64 (RFC 4648 §4, padded). */
export const fileEncoding = z.enum(['text', 'base64']);
export type FileEncoding = z.infer<typeof fileEncoding>;

/** The bounds of the bridge. Both tables keep to them. */
export const bridgeLimits = {
  /** Of the JSON text of one call's parameters, in UTF-16 units. */
  paramsCharacters: 3 * 1024 * 1024,
  /** Of one file, before its encoding. */
  fileBytes: 2 * 1024 * 1024,
  filesPerApp: 10_000,
  /** Of a result of a run that is read whole, before its encoding. */
  resultBytes: 4 * 1024 * 1024,
  promptCharacters: 500_000,
  messages: 400,
  speechCharacters: 20_000,
  embeddingTexts: 256,
  embeddingCharacters: 200_000,
  urlCharacters: 2000,
  /** Of one file that is saved by a person, before its encoding. */
  downloadBytes: 2 * 1024 * 1024,
  /** Calls of one app under way at once; `generate.*` and `plugin.call` have their own, lower, numbers. */
  callsAtOnce: 32,
  generatesAtOnce: 4,
  pluginCallsAtOnce: 8,
  /** Calls of one app in any 10 seconds. */
  callsPerWindow: 2000,
  generatesPerWindow: 60,
  windowMs: 10_000,
  /** Pieces of a streamed text are joined so that no more come in a second. */
  chunksPerSecond: 30,
} as const;

const message = z.strictObject({
  role: z.enum(['user', 'assistant']),
  text: z.string().check(z.maxLength(bridgeLimits.promptCharacters)),
});

const stored = z.strictObject({ path: appPath, bytes: count, modifiedAt: timeMs });

/** Bytes that a model made. */
const made = z.strictObject({
  /** `image/png`, `audio/mpeg`, … */
  mime: z.string().check(z.maxLength(100)),
  base64: z.string(),
  model: short,
});

interface BridgeMethod<P extends z.ZodMiniType, R extends z.ZodMiniType> {
  readonly params: P;
  readonly result: R;
  /** The permission without which it is refused, by name. */
  readonly needs?: 'generate' | 'storage' | 'models' | 'results' | undefined;
  /** Who answers, after the shell has checked. */
  readonly answeredBy: 'engine' | 'extension' | 'shell';
}

function method<P extends z.ZodMiniType, R extends z.ZodMiniType>(
  params: P,
  result: R,
  answeredBy: BridgeMethod<P, R>['answeredBy'],
  needs?: BridgeMethod<P, R>['needs'],
): BridgeMethod<P, R> {
  return { params, result, answeredBy, needs };
}

/** The theme as an app gets it: `--vscode-*` variables and what they stand for. */
export const appTheme = z.strictObject({
  kind: z.enum(['light', 'dark', 'high-contrast', 'high-contrast-light']),
  reducedMotion: z.boolean(),
  /** True where VS Code knows of a screen reader. */
  screenReader: z.boolean(),
  /** CSS custom properties by name (`--vscode-editor-background`), values of CSS properties. */
  variables: z.record(
    z.string().check(z.regex(/^--vscode-[A-Za-z0-9-]{1,100}$/)),
    z.string().check(z.maxLength(1000)),
  ),
});
export type AppTheme = z.infer<typeof appTheme>;

/** Every method. Those for the engine go there in `bridge/call`. */
export const bridgeMethods = {
  /** A function of one of the app's own plugins. `input` and `output` fit the function's schemas in `plugin.json`. */
  'plugin.call': method(
    z.strictObject({
      plugin: id,
      function: z.string().check(z.regex(/^[a-z][A-Za-z0-9]{0,63}$/)),
      input: z.unknown(),
    }),
    z.strictObject({ output: z.unknown() }),
    'engine',
  ),
  /** `messages` ends with one of the user. Pieces come before the answer where the call asked for them. */
  'generate.text': method(
    z.strictObject({
      messages: z.array(message).check(z.minLength(1), z.maxLength(bridgeLimits.messages)),
      system: z.optional(z.string().check(z.maxLength(bridgeLimits.promptCharacters))),
      model: choice,
      maxTokens: z.optional(z.int().check(z.minimum(1), z.maximum(64_000))),
      temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
    }),
    z.strictObject({ text: z.string(), model: short, stop: z.enum(['end', 'length', 'refused']) }),
    'engine',
    'generate',
  ),
  'generate.image': method(
    z.strictObject({
      prompt: z.string().check(z.minLength(1), z.maxLength(bridgeLimits.promptCharacters)),
      /** Pixels: `1024x1024`. */
      size: z.optional(z.string().check(z.regex(/^[1-9][0-9]{1,3}x[1-9][0-9]{1,3}$/))),
      model: choice.check(),
    }),
    made,
    'engine',
    'generate',
  ),
  'generate.speech': method(
    z.strictObject({
      text: z.string().check(z.minLength(1), z.maxLength(bridgeLimits.speechCharacters)),
      voice: choice.check(),
      model: choice.check(),
    }),
    made.check(),
    'engine',
    'generate',
  ),
  /** One vector for each text, in order. */
  'generate.embedding': method(
    z.strictObject({
      texts: z
        .array(z.string().check(z.maxLength(bridgeLimits.embeddingCharacters)))
        .check(z.minLength(1), z.maxLength(bridgeLimits.embeddingTexts)),
      model: choice.check(),
    }),
    z.strictObject({ vectors: z.array(z.array(z.number())), model: short }),
    'engine',
    'generate',
  ),
  /** Rejects with `not-found`; with `bad-params` where `text` is asked for and the bytes are not UTF-8. */
  'files.get': method(
    z.strictObject({ path: appPath, encoding: fileEncoding }),
    z.strictObject({ content: z.string(), encoding: fileEncoding, bytes: count, modifiedAt: timeMs }),
    'engine',
    'storage',
  ),
  /** Writes the whole file. Rejects with `quota`, and then nothing has changed. */
  'files.put': method(
    z.strictObject({ path: appPath, content: z.string(), encoding: fileEncoding }),
    stored,
    'engine',
    'storage',
  ),
  /** In order of path. `prefix` is the beginning of a path. */
  'files.list': method(
    z.strictObject({ prefix: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._/-]{0,200}$/))) }),
    z.strictObject({ files: z.array(stored) }),
    'engine',
    'storage',
  ),
  'files.delete': method(
    z.strictObject({ path: appPath }),
    z.strictObject({ found: z.boolean() }),
    'engine',
    'storage',
  ),
  /** What the app and its plugins store together. */
  'files.quota': method(empty, z.strictObject({ usedBytes: count, limitBytes: count }), 'engine', 'storage'),
  'models.list': method(
    z.strictObject({ kind: z.optional(generateKind) }),
    z.strictObject({ models: z.array(z.strictObject({ id: name, name: short, kind: generateKind })) }),
    'engine',
    'models',
  ),
  'voices.list': method(
    empty,
    z.strictObject({ voices: z.array(z.strictObject({ id: name, name: short })) }),
    'engine',
    'models',
  ),
  /** The latest run of each open project. `project` is a name for `results.read`, not a path. */
  'results.list': method(
    empty,
    z.strictObject({
      projects: z.array(
        z.strictObject({
          project: name,
          name: short,
          run: z.nullable(
            z.strictObject({ run: name, state: runState, startedAt: timeMs, endedAt: z.nullable(timeMs) }),
          ),
          cards: z.array(
            z.strictObject({
              card: name,
              title: short,
              state: z.nullable(cardState),
              cached: z.boolean(),
              tookMs: z.nullable(z.number()),
              outputs: z.array(z.strictObject({ port: name, type: portType, bytes: count })),
            }),
          ),
        }),
      ),
    }),
    'engine',
    'results',
  ),
  /** One output of the latest run, whole. Rejects with `not-found`, or `too-large` above `resultBytes`. */
  'results.read': method(
    z.strictObject({ project: name, card: name, port: name, encoding: fileEncoding }),
    z.strictObject({ content: z.string(), encoding: fileEncoding, type: portType, bytes: count }),
    'engine',
    'results',
  ),
  /** `http:` and `https:` only. A person is shown the whole address first. */
  'link.open': method(
    z.strictObject({ url: z.string().check(z.minLength(1), z.maxLength(bridgeLimits.urlCharacters)) }),
    z.strictObject({ opened: z.boolean() }),
    'extension',
  ),
  /** A person chooses where; the app never learns it. */
  'download.save': method(
    z.strictObject({
      name: z.string().check(z.minLength(1), z.maxLength(100)),
      content: z.string(),
      encoding: fileEncoding,
    }),
    z.strictObject({ saved: z.boolean() }),
    'extension',
  ),
  'theme.get': method(empty, appTheme, 'shell'),
} as const;

export type BridgeMethods = typeof bridgeMethods;
export type BridgeMethodName = keyof BridgeMethods;
export type BridgeParams<M extends BridgeMethodName> = z.infer<BridgeMethods[M]['params']>;
export type BridgeResult<M extends BridgeMethodName> = z.infer<BridgeMethods[M]['result']>;

/** Why a call was not done. An app may show `message`: it holds no path, key or address of this machine. */
export const bridgeErrorCodes = [
  /** Not on the list, or the app has no permission for it. */
  'not-allowed',
  'bad-params',
  'too-large',
  /** Too many calls at once or in a short time. Wait and try again. */
  'too-many',
  'not-found',
  'quota',
  /** No connection for this kind of model. */
  'no-model',
  /** A person said no, or is being asked something else. */
  'declined',
  /** The plugin threw, or its answer does not fit its schema. */
  'plugin-failed',
  /** The plugin is switched off or removed. */
  'plugin-off',
  'cancelled',
  'timeout',
  /** Sallyport's engine is not there, or went. */
  'unavailable',
  'internal',
] as const;
export const bridgeErrorCode = z.enum(bridgeErrorCodes);
export type BridgeErrorCode = z.infer<typeof bridgeErrorCode>;

/** The longest message of an error, in UTF-16 units. */
export const bridgeMessageCharacters = 2000;

/** What the JSON text of an answer holds, whoever answered: `bridge/call` resolves with it, also for a refusal. */
export const bridgeAnswer = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), value: z.unknown() }),
  z.strictObject({
    ok: z.literal(false),
    code: bridgeErrorCode,
    message: z.string().check(z.maxLength(bridgeMessageCharacters)),
  }),
]);
export type BridgeAnswer = z.infer<typeof bridgeAnswer>;

/** Thrown on the way to an answer; `toBridgeAnswer` makes it one. */
export class BridgeError extends Error {
  readonly code: BridgeErrorCode;

  constructor(code: BridgeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BridgeError';
    this.code = code;
  }
}

/** The JSON text of a refusal. */
export function bridgeRefusal(code: BridgeErrorCode, message: string): string {
  const answer: BridgeAnswer = { ok: false, code, message: message.slice(0, bridgeMessageCharacters) };
  return JSON.stringify(answer);
}

/** The JSON text of a value. */
export function bridgeValue(value: unknown): string {
  return JSON.stringify({ ok: true, value } satisfies BridgeAnswer);
}

/** What an app is told of an error between the processes. */
export function bridgeCodeOf(code: ErrorCode): BridgeErrorCode {
  switch (code) {
    case 'cancelled':
    case 'timeout':
    case 'too-large':
    case 'not-found':
      return code;
    case 'permission-needed':
    case 'not-trusted':
      return 'not-allowed';
    case 'bad-message':
      return 'bad-params';
    case 'closed':
      return 'unavailable';
    default:
      return 'internal';
  }
}
