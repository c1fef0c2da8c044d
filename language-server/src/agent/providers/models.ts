import type { Connection } from '../../../../protocol/src/agent.ts';
import { contextLimitOf } from '../context/tokens.ts';
import { createBrokerFetch, type BrokerWatch } from './brokerFetch.ts';
import { ProviderFailure, toFailure } from './failures.ts';
import type { Model, ModelTool, ProviderOptions } from './model.ts';
import type { PersonSide } from './personSide.ts';
import { createVscodeModel } from './vscodeModel.ts';

/** A model of a connection, with what its wire format needs beside the prompt. */
export interface ConnectedModel {
  readonly model: Model;
  readonly options: ProviderOptions;
  /** Marks a message up to which a provider may cache. */
  readonly cacheMark: ProviderOptions | undefined;
  readonly maxOutputTokens: number | undefined;
  /** The provider's own search, where it has one; offered only where a person switched it on. */
  readonly webSearch: ModelTool | undefined;
  /** What the stream's last part shows, which the packages do not always tell. */
  readEnd(tail: string): StreamEnd;
}

/** How a stream ended: whole, whole and at the output limit, or not as an answer. */
export type StreamEnd = 'whole' | 'limit' | ProviderFailure;

/** The packages that speak a wire format are read when a connection of their kind is first used. */
export async function openModel(
  person: PersonSide,
  connection: Connection,
  modelId: string,
  watch: BrokerWatch,
): Promise<ConnectedModel> {
  const { id, kind } = connection;
  if (kind === 'vscode') {
    return { ...plain, model: createVscodeModel(person, modelId, watch) };
  }
  const { loadModel } = await import('./providerPackages.ts');
  const model = await loadModel(kind, modelId, createBrokerFetch(person, id, watch));
  switch (kind) {
    case 'anthropic':
      return {
        ...plain,
        model,
        cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        maxOutputTokens: 16_384,
        webSearch: {
          type: 'provider',
          id: 'anthropic.web_search_20250305',
          name: 'web_search',
          args: { maxUses: 5 },
        },
        readEnd: (tail) => (tail.includes('message_stop') ? 'whole' : cut()),
      };
    case 'openai':
      return {
        ...plain,
        model,
        options: { openai: { store: false } },
        webSearch: { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} },
        readEnd: (tail) =>
          /response\.(completed|incomplete|failed)|"type":\s*"error"/.test(tail) ? 'whole' : cut(),
      };
    case 'openai-compatible':
      return { ...plain, model };
    case 'ollama':
      return {
        ...plain,
        model,
        options: { ollama: { options: { num_ctx: contextLimitOf(connection, modelId) } } },
        readEnd: readOllamaEnd,
      };
  }
}

const plain = {
  options: {},
  cacheMark: undefined,
  maxOutputTokens: undefined,
  webSearch: undefined,
  readEnd: (): StreamEnd => 'whole',
} as const;

function cut(): ProviderFailure {
  return new ProviderFailure('cut', '');
}

/** Ollama ends with a line that says why. An error is a line too, and its package passes over it. */
function readOllamaEnd(tail: string): StreamEnd {
  try {
    const last = JSON.parse(tail.trimEnd().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>;
    if (typeof last['error'] === 'string') return toFailure(new Error(last['error']));
    if (last['done'] === true) return last['done_reason'] === 'length' ? 'limit' : 'whole';
  } catch {
    // Half a line.
  }
  return cut();
}
