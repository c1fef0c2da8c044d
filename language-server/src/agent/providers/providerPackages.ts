import type { Connection } from '../../../../protocol/src/agent.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { placeholderOrigin } from './brokerFetch.ts';
import type { Model } from './model.ts';

/** A package insists on a key; this one satisfies it and never leaves the engine (`brokerFetch.ts`). */
const placeholderKey = 'kept-by-the-extension';

/**
 * A model that speaks the wire format of its connection through `fetch`. Built to `dist/providers.mjs`; each package is
 * read when a connection of its kind is first used.
 */
export async function loadModel(
  kind: Exclude<Connection['kind'], 'vscode'>,
  modelId: string,
  fetch: typeof globalThis.fetch,
): Promise<Model> {
  const settings = { baseURL: placeholderOrigin, apiKey: placeholderKey, fetch };
  switch (kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return asModel(createAnthropic(settings).languageModel(modelId));
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return asModel(createOpenAI(settings).responses(modelId));
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const provider = createOpenAICompatible({ ...settings, name: 'compatible', includeUsage: true });
      return asModel(provider.chatModel(modelId));
    }
    case 'ollama': {
      const { createOllama } = await import('ollama-ai-provider-v2');
      return asModel(createOllama({ baseURL: placeholderOrigin, fetch }).chat(modelId));
    }
  }
}

/** A package of another interface version would be driven wrongly: refused loudly. */
function asModel(model: { readonly specificationVersion: string }): Model {
  if (model.specificationVersion !== 'v4')
    throw new UserError('internal', `The provider speaks ${model.specificationVersion}, not v4`);
  return model as Model;
}
