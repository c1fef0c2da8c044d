import { readAnswer, type WireState } from '../../agent/loop/answer.ts';
import type { Model, ModelOptions, Prompt } from '../../agent/providers/model.ts';
import { openModel } from '../../agent/providers/models.ts';
import type { GenerateParams, GenerateResult } from '../../plugins/generate.ts';
import type { ProviderCall } from './createGenerate.ts';

/** Asks a model for text. Rejects with `ProviderFailure` where no whole answer came. */
export async function askText(
  params: GenerateParams<'text'>,
  { chosen, person, watch, signal, onText }: ProviderCall,
): Promise<GenerateResult<'text'>> {
  const wire: WireState = { hasOutput: false, tail: null };
  const { connection, modelId, id } = chosen;
  const connected = await openModel(person, connection, modelId, {
    ...watch,
    ended: (tail) => {
      if (connection.kind !== 'vscode') wire.tail = tail;
    },
  });
  const { maxTokens, temperature } = params;
  const settings = {
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
  };
  let text = '';
  const { finish } = await readAnswer(
    { ...connected, model: withSettings(connected.model, settings) },
    toPrompt(params),
    [],
    wire,
    {
      text: (piece) => {
        text += piece;
        onText?.(piece);
      },
      callBegan: () => undefined,
      call: () => undefined,
    },
    signal,
  );
  const stop = finish === 'length' ? 'length' : finish === 'content-filter' ? 'refused' : 'end';
  return { text, model: id.slice(0, 200), stop };
}

function toPrompt({ system, messages }: GenerateParams<'text'>): Prompt {
  return [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    ...messages.map(({ role, text }) => ({ role, content: [{ type: 'text' as const, text }] })),
  ];
}

function withSettings(model: Model, settings: Partial<ModelOptions>): Model {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate({ ...options, ...settings }),
    doStream: (options) => model.doStream({ ...options, ...settings }),
  };
}
