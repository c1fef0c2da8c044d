import type { LanguageModel } from 'ai';

/**
 * The model interface of the `ai` package (LanguageModelV4), which its providers speak. Sallyport drives it directly:
 * retries, tools and steps are its own, because each of them is an effect that the gate must see.
 */
export type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>;
export type ModelOptions = Parameters<Model['doStream']>[0];
export type Prompt = ModelOptions['prompt'];
export type PromptMessage = Prompt[number];
export type ModelTool = NonNullable<ModelOptions['tools']>[number];
export type ModelPart =
  Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;
type Finish = Extract<ModelPart, { type: 'finish' }>;
export type FinishReason = Finish['finishReason'];
export type ModelUsage = Finish['usage'];
export type ProviderOptions = NonNullable<ModelOptions['providerOptions']>;
