import type { Connection } from '../../../../protocol/src/agent.ts';
import { createBrokerFetch, type BrokerWatch } from './brokerFetch.ts';
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
  /** False where the stream's last part shows that it was cut. */
  isWhole(tail: string): boolean;
}

/** The packages that speak a wire format are read when a connection of their kind is first used. */
export async function openModel(
  person: PersonSide,
  { id, kind }: Connection,
  modelId: string,
  watch: BrokerWatch,
): Promise<ConnectedModel> {
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
        isWhole: (tail) => tail.includes('message_stop'),
      };
    case 'openai':
      return {
        ...plain,
        model,
        options: { openai: { store: false } },
        webSearch: { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} },
        isWhole: (tail) => /response\.(completed|incomplete|failed)|"type":\s*"error"/.test(tail),
      };
    case 'openai-compatible':
      return { ...plain, model };
    case 'ollama':
      return {
        ...plain,
        model,
        isWhole: (tail) => /(?<!\\)"done":\s*true/.test(tail) || /(?<!\\)"error":/.test(tail),
      };
  }
}

const plain = {
  options: {},
  cacheMark: undefined,
  maxOutputTokens: undefined,
  webSearch: undefined,
  isWhole: () => true,
} as const;
