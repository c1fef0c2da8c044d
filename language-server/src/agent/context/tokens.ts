import type { Connection, Usage } from '../../../../protocol/src/agent.ts';
import type { ModelUsage } from '../providers/model.ts';

/** Bytes of UTF-8 for one token: an average of English and code, on the low side so that the meter does not flatter. */
const bytesPerToken = 3.5;
/** What an image of ordinary size costs with the providers that say so. */
export const tokensPerImage = 1600;

/** An estimate, used where a provider has not counted yet. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

export type ModelInfo = Connection['models'][number];

/** Ollama keeps as much context as it is told to, in the memory of this machine; its own default is too little to work with. */
const ollamaContext = { usual: 16_384, most: 32_768 };

/** Tokens that a model reads at most through this connection; null where nobody says. */
export function contextLimitOf({ kind, models }: Connection, modelId: string | null): number | null {
  const limit = models.find(({ id }) => id === modelId)?.contextTokens ?? null;
  return kind === 'ollama' ? Math.min(limit ?? ollamaContext.usual, ollamaContext.most) : limit;
}

/** What a request cost. Cached input is counted at the full price, so this is never less than the bill. */
export function toUsage(reported: ModelUsage | null, estimated: Usage, model: ModelInfo | undefined): Usage {
  const inputTokens = reported?.inputTokens.total ?? estimated.inputTokens;
  const outputTokens = reported?.outputTokens.total ?? estimated.outputTokens;
  return {
    inputTokens,
    outputTokens,
    cachedTokens: reported?.inputTokens.cacheRead ?? 0,
    cost: costOf(inputTokens, outputTokens, model),
  };
}

function costOf(inputTokens: number, outputTokens: number, model: ModelInfo | undefined): number | null {
  if (!model || model.inputPrice === null || model.outputPrice === null) return null;
  return (inputTokens * model.inputPrice + outputTokens * model.outputPrice) / 1_000_000;
}
