import * as z from 'zod/mini';
import {
  bridgeCodeOf,
  BridgeError,
  bridgeRefusal,
  bridgeValue,
  type BridgeResult,
} from '../../../../protocol/src/bridge.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { limits } from '../../../../protocol/src/limits.ts';
import { NotPlain, parsePlainJson } from '../../../../protocol/src/plainJson.ts';
import type { FrequentActs } from '../../gate/frequentActs.ts';
import type { AppStorage } from '../../plugins/appStorage.ts';
import type { Generate } from '../../plugins/generate.ts';
import { toBytes, toContent } from '../../plugins/hostFunctions/content.ts';
import { storageAct } from '../../plugins/storageAct.ts';
import type { AppLibrary, RunningApp } from '../appLibrary.ts';
import { issueTexts } from '../issueText.ts';
import type { ModelList } from '../generate/modelList.ts';
import { storageLimitBytes } from '../quota.ts';
import { bridgeTable, type EngineMethod, type EngineParams } from './bridgeTable.ts';
import { CallBudget } from './callBudget.ts';
import { gatherChunks } from './gatherChunks.ts';
import type { ProjectResults } from './projectResults.ts';

export interface BridgeOptions {
  readonly library: Pick<AppLibrary, 'open'>;
  readonly storage: AppStorage;
  readonly acts: Pick<FrequentActs, 'pass'>;
  readonly generate: Generate;
  readonly models: ModelList;
  readonly results: ProjectResults;
  /** A function of a plugin of this app. Rejects with `BridgeError`. */
  readonly callPlugin: (
    call: {
      readonly app: string;
      readonly plugin: string;
      readonly functionName: string;
      readonly input: unknown;
    },
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly onChunk: (app: string, callId: string, text: string) => void;
  readonly onProblem: (error: unknown) => void;
  readonly monotonic: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

export interface BridgeCall {
  /** Set by the extension from the webview object. */
  readonly app: string;
  readonly method: string;
  /** JSON text from a stranger. */
  readonly params: string;
  readonly callId?: string | undefined;
}

type Handlers = {
  readonly [M in EngineMethod]: (
    running: RunningApp,
    params: EngineParams<M>,
    call: { readonly signal: AbortSignal; readonly onText: ((piece: string) => void) | undefined },
  ) => Promise<BridgeResult<M>> | BridgeResult<M>;
};

/** Largest JSON text of a call's parameters, in UTF-16 units. */
const paramsLength = 3 * 1024 * 1024;
const paramsDepth = 40;
/** An answer is one message. */
const answerLength = limits.messageBytes - 64 * 1024;

/**
 * Answers calls of apps' pages: the JSON text of a `bridgeAnswer`, also for every refusal. Each is checked against the
 * engine's own table and the rights that a person accepted, whatever was checked before it came here.
 */
export function createBridgeCalls(
  options: BridgeOptions,
): (call: BridgeCall, signal: AbortSignal) => Promise<string> {
  const { library, onChunk, onProblem, monotonic, setTimer } = options;
  const handlers = createHandlers(options);
  const budgets = new Map<string, CallBudget>();
  const budgetOf = (app: string) => {
    const known = budgets.get(app) ?? new CallBudget(monotonic);
    budgets.set(app, known);
    return known;
  };

  return async ({ app, method, params, callId }, signal) => {
    let leave: (() => void) | undefined;
    try {
      if (!isMethod(method))
        throw new BridgeError('not-allowed', `There is no method ${method.slice(0, 64)}.`);
      const row = bridgeTable[method];
      if (params.length > paramsLength) throw new BridgeError('too-large', 'The parameters are too large.');
      const running = library.open(app);
      if (row.needs !== null && !row.needs(running.rights.app))
        throw new BridgeError('not-allowed', `This app has no permission for ${method}.`);
      leave = budgetOf(app).enter(row.budget);
      const parsed = z.safeParse(row.params, parse(params));
      if (!parsed.success) throw new BridgeError('bad-params', `${method}: ${issueTexts(parsed.error)}`);
      const chunks =
        callId === undefined ? undefined : gatherChunks((text) => onChunk(app, callId, text), setTimer);
      const run = handlers[method] as (
        running: RunningApp,
        params: unknown,
        call: { signal: AbortSignal; onText: ((piece: string) => void) | undefined },
      ) => Promise<unknown>;
      const value = await run(running, parsed.data, { signal, onText: chunks?.add });
      chunks?.flush();
      signal.throwIfAborted();
      const answer = bridgeValue(value);
      if (answer.length > answerLength) throw new BridgeError('too-large', 'The answer is too large.');
      return answer;
    } catch (error) {
      return toRefusal(error, signal, onProblem);
    } finally {
      leave?.();
    }
  };
}

function createHandlers(options: BridgeOptions): Handlers {
  const { storage, acts, generate, models, results, callPlugin } = options;
  const ask =
    <K extends 'text' | 'image' | 'speech' | 'embedding'>(kind: K) =>
    (
      { app }: RunningApp,
      params: Parameters<typeof generate<K>>[2],
      call: { signal: AbortSignal; onText: ((piece: string) => void) | undefined },
    ) =>
      generate(`app:${app.id}`, kind, params, {
        signal: call.signal,
        ...(call.onText && { onText: call.onText }),
      });
  const limitOf = ({ rights }: RunningApp) => storageLimitBytes({ ...rights, plugins: {} });
  const store = <R>(
    running: RunningApp,
    tool: EngineMethod,
    use: (app: string, limitBytes: number) => R,
  ): R => {
    const { id } = running.app;
    const limitBytes = limitOf(running);
    return acts.pass(storageAct(`app:${id}`, id, tool, limitBytes), () => use(id, limitBytes));
  };
  return {
    'plugin.call': async ({ app, content }, { plugin, function: functionName, input }, { signal }) => {
      if (!content.plugins.has(plugin))
        throw new BridgeError('not-allowed', `This app has no plugin ${plugin}.`);
      return { output: await callPlugin({ app: app.id, plugin, functionName, input }, signal) };
    },
    'generate.text': ask('text'),
    'generate.image': ask('image'),
    'generate.speech': ask('speech'),
    'generate.embedding': ask('embedding'),
    'files.get': (running, { path, encoding }) =>
      store(running, 'files.get', (app) => {
        const file = storage.get(app, path);
        if (!file) throw new BridgeError('not-found', 'There is no such file.');
        return { ...toContent(file.bytes, encoding), bytes: file.sizeBytes, modifiedAt: file.modifiedAt };
      }),
    'files.put': (running, { path, content, encoding }) =>
      store(running, 'files.put', (app, limitBytes) =>
        shown(storage.put(app, path, toBytes({ content, encoding }), limitBytes)),
      ),
    'files.list': (running, { prefix }) =>
      store(running, 'files.list', (app) => ({ files: storage.list(app, prefix).map(shown) })),
    'files.delete': (running, { path }) =>
      store(running, 'files.delete', (app) => ({ found: storage.delete(app, path) })),
    'files.quota': (running) =>
      store(running, 'files.quota', (app, limitBytes) => ({
        usedBytes: storage.usage(app).usedBytes,
        limitBytes,
      })),
    'models.list': (_, { kind }) => ({ models: models.list(kind) }),
    'voices.list': () => ({ voices: models.voices() }),
    'results.list': () => ({ projects: results.list() }),
    'results.read': (_, wanted) => results.read(wanted),
  };
}

function isMethod(name: string): name is EngineMethod {
  return Object.hasOwn(bridgeTable, name);
}

function parse(text: string): unknown {
  try {
    return parsePlainJson(text, paramsDepth);
  } catch (error) {
    if (error instanceof NotPlain) throw new BridgeError('bad-params', error.message);
    throw error;
  }
}

/** An app is told what it may do about a failure, never what it is: paths, addresses and keys stay here. */
function toRefusal(error: unknown, signal: AbortSignal, onProblem: (error: unknown) => void): string {
  if (signal.aborted) return bridgeRefusal('cancelled', 'Cancelled.');
  if (error instanceof BridgeError) return bridgeRefusal(error.code, error.message);
  onProblem(error);
  const code = error instanceof UserError ? bridgeCodeOf(error.code) : 'internal';
  return bridgeRefusal(code, refusals[code] ?? 'Sallyport could not do that.');
}

const refusals: Partial<Record<ReturnType<typeof bridgeCodeOf>, string>> = {
  'not-found': 'It is not there.',
  'not-allowed': 'This is not allowed here.',
  'too-large': 'It is too large.',
  unavailable: 'Sallyport’s engine is ending.',
  timeout: 'It took too long.',
};

function shown({ path, sizeBytes, modifiedAt }: { path: string; sizeBytes: number; modifiedAt: number }) {
  return { path, bytes: sizeBytes, modifiedAt };
}
