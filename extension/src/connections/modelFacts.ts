import * as z from 'zod/mini';
import type { Connection } from '../../../protocol/src/agent.ts';

export type ModelView = Connection['models'][number];

/** What is known of a model beside its name. Prices are US dollars for a million tokens. */
export const modelFacts = z.strictObject({
  contextTokens: z.optional(z.int().check(z.positive())),
  inputPrice: z.optional(z.number().check(z.nonnegative())),
  outputPrice: z.optional(z.number().check(z.nonnegative())),
  images: z.optional(z.boolean()),
});
export type ModelFacts = z.infer<typeof modelFacts>;

/** By the beginning of a model's name; the longest that fits counts. */
export type FactTable = Readonly<Record<string, ModelFacts>>;

const facts = (contextTokens: number, inputPrice: number, outputPrice: number): ModelFacts => ({
  contextTokens,
  inputPrice,
  outputPrice,
  images: true,
});

/**
 * What providers asked for at the end of 2025, as far as known; prices change, so a cost is an estimate. A model that is not here has no price and no limit shown, never a
 * guessed one; the setting `sallyport.modelFacts` adds and corrects.
 */
const knownModels: FactTable = {
  'claude-opus-4-5': facts(200_000, 5, 25),
  'claude-opus-4-1': facts(200_000, 15, 75),
  'claude-opus-4-20': facts(200_000, 15, 75),
  'claude-sonnet-4-5': facts(200_000, 3, 15),
  'claude-sonnet-4-20': facts(200_000, 3, 15),
  'claude-haiku-4-5': facts(200_000, 1, 5),
  'gpt-5.1': facts(400_000, 1.25, 10),
  'gpt-5-20': facts(400_000, 1.25, 10),
  'gpt-5-mini': facts(400_000, 0.25, 2),
  'gpt-5-nano': facts(400_000, 0.05, 0.4),
  'gpt-4.1-20': facts(1_047_576, 2, 8),
  'gpt-4.1-mini': facts(1_047_576, 0.4, 1.6),
  'gpt-4.1-nano': facts(1_047_576, 0.1, 0.4),
  'gpt-4o-20': facts(128_000, 2.5, 10),
  'gpt-4o-mini': facts(128_000, 0.15, 0.6),
  'o3-20': facts(200_000, 2, 8),
  'o4-mini': facts(200_000, 1.1, 4.4),
};

/** A model with what the tables say of it; `overrides` counts before what is built in. */
export function toModelView(id: string, name: string, overrides: FactTable): ModelView {
  const found = { ...lookUp(knownModels, id), ...lookUp(overrides, id) };
  return {
    id,
    name,
    contextTokens: found.contextTokens ?? null,
    inputPrice: found.inputPrice ?? null,
    outputPrice: found.outputPrice ?? null,
    images: found.images ?? true,
  };
}

/** `gpt-5` itself fits the entry `gpt-5-20`, which stands for its dated names and not for `gpt-5-mini`. */
function lookUp(table: FactTable, id: string): ModelFacts | undefined {
  const fitting = Object.keys(table).filter((start) => id.startsWith(start) || `${id}-20` === start);
  const longest = fitting.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : table[longest];
}
