import type { ConnectedModel } from '../providers/models.ts';
import type { FinishReason, ModelPart, ModelUsage, Prompt, ModelTool } from '../providers/model.ts';
import { ProviderFailure, toFailure } from '../providers/failures.ts';

/** A call as the model wrote it. Nothing in it has been checked. */
export interface WrittenCall {
  /** The model's own id of the call; unique only within its answer, and not even there for sure. */
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly metadata: unknown;
  /** Run by the provider (its own web search), so never by Sallyport. */
  readonly isProviders: boolean;
}

export interface Answer {
  readonly reasoning: readonly { readonly text: string; readonly metadata: unknown }[];
  readonly finish: FinishReason['unified'];
  readonly usage: ModelUsage;
}

/** What is heard while an answer comes. */
export interface AnswerListener {
  text(append: string): void;
  /** A call began to be written; its arguments are not there yet. */
  callBegan(id: string, name: string): void;
  call(call: WrittenCall): void;
}

/** Watches the wire of one request. */
export interface WireState {
  /** True once a byte of the answer's body has come. */
  hasOutput: boolean;
  tail: string | null;
}

/**
 * Asks a model once and reads its answer to the end. Rejects with `ProviderFailure` for whatever is not a whole
 * answer, or with the signal's reason. Calls that were heard before a rejection must not be run.
 */
export async function readAnswer(
  connected: ConnectedModel,
  prompt: Prompt,
  tools: readonly ModelTool[],
  wire: WireState,
  listener: AnswerListener,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const { stream } = await connected.model.doStream({
      prompt,
      ...(tools.length > 0 && { tools: [...tools], toolChoice: { type: 'auto' } }),
      ...(connected.maxOutputTokens !== undefined && { maxOutputTokens: connected.maxOutputTokens }),
      providerOptions: connected.options,
      abortSignal: signal,
    });
    return await readStream(stream, connected, wire, listener, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw toFailure(error);
  }
}

async function readStream(
  stream: ReadableStream<ModelPart>,
  connected: ConnectedModel,
  wire: WireState,
  listener: AnswerListener,
  signal: AbortSignal,
): Promise<Answer> {
  const reasoning = new Map<string, { text: string; metadata: unknown }>();
  let finish: Extract<ModelPart, { type: 'finish' }> | undefined;
  let problem: { readonly error: unknown } | undefined;
  for await (const part of stream) {
    signal.throwIfAborted();
    switch (part.type) {
      case 'text-delta':
        if (part.delta !== '') {
          wire.hasOutput = true;
          listener.text(part.delta);
        }
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end': {
        wire.hasOutput = true;
        const known = reasoning.get(part.id) ?? { text: '', metadata: null };
        if (part.type === 'reasoning-delta') known.text += part.delta;
        if (part.providerMetadata) known.metadata = part.providerMetadata;
        reasoning.set(part.id, known);
        break;
      }
      case 'tool-input-start':
        wire.hasOutput = true;
        if (part.providerExecuted !== true) listener.callBegan(part.id, part.toolName);
        break;
      case 'tool-call':
        wire.hasOutput = true;
        listener.call({
          id: part.toolCallId,
          name: part.toolName,
          args: part.input,
          metadata: part.providerMetadata ?? null,
          isProviders: part.providerExecuted === true,
        });
        break;
      case 'error':
        problem ??= { error: part.error };
        break;
      case 'finish':
        finish = part;
        break;
      default:
        break;
    }
  }
  signal.throwIfAborted();
  if (problem) throw toFailure(problem.error);
  const end = wire.tail === null ? 'whole' : connected.readEnd(wire.tail);
  if (end instanceof ProviderFailure) throw end;
  if (!finish || isCut(finish.finishReason)) throw new ProviderFailure('cut', '');
  if (finish.finishReason.unified === 'error') throw new ProviderFailure('malformed', '');
  return {
    reasoning: [...reasoning.values()],
    finish: end === 'limit' ? 'length' : finish.finishReason.unified,
    usage: finish.usage,
  };
}

/** The packages say this where a stream ended without its end. */
function isCut({ unified, raw }: FinishReason): boolean {
  return unified === 'other' && raw === undefined;
}
