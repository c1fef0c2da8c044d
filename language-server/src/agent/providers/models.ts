import { UserError } from '../../../../protocol/src/errors.ts';
import type { Connection } from '../../../../protocol/src/agent.ts';
import { createBrokerFetch, placeholderOrigin, type BrokerWatch } from './brokerFetch.ts';
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

/** A package insists on a key; this one satisfies it and never leaves the engine (`brokerFetch.ts`). */
const placeholderKey = 'kept-by-the-extension';

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
  const settings = {
    baseURL: placeholderOrigin,
    apiKey: placeholderKey,
    fetch: createBrokerFetch(person, id, watch),
  };
  switch (kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const provider = createAnthropic(settings);
      return {
        ...plain,
        model: asModel(provider.languageModel(modelId)),
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
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return {
        ...plain,
        model: asModel(createOpenAI(settings).responses(modelId)),
        options: { openai: { store: false } },
        webSearch: { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} },
        isWhole: (tail) => /response\.(completed|incomplete|failed)|"type":\s*"error"/.test(tail),
      };
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const provider = createOpenAICompatible({ ...settings, name: 'compatible', includeUsage: true });
      return { ...plain, model: asModel(provider.chatModel(modelId)) };
    }
    case 'ollama': {
      const { createOllama } = await import('ollama-ai-provider-v2');
      const provider = createOllama({ baseURL: settings.baseURL, fetch: settings.fetch });
      return {
        ...plain,
        model: asModel(provider.chat(modelId)),
        isWhole: (tail) => /(?<!\\)"done":\s*true/.test(tail) || /(?<!\\)"error":/.test(tail),
      };
    }
  }
}

const plain = {
  options: {},
  cacheMark: undefined,
  maxOutputTokens: undefined,
  webSearch: undefined,
  isWhole: () => true,
} as const;

/** A package of another interface version would be driven wrongly: refused loudly. */
function asModel(model: { readonly specificationVersion: string }): Model {
  if (model.specificationVersion !== 'v4')
    throw new UserError('internal', `The provider speaks ${model.specificationVersion}, not v4`);
  return model as Model;
}
