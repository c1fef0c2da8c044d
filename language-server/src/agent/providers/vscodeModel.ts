import { UserError } from '../../../../protocol/src/errors.ts';
import type { BrokerWatch } from './brokerFetch.ts';
import { ProviderFailure } from './failures.ts';
import type { Model, ModelPart, Prompt } from './model.ts';
import type { PersonSide } from './personSide.ts';

/** JSON text of `lm/open`: what `vscode.lm`'s `sendRequest` needs, in the order of the conversation. */
export interface VscodeModelRequest {
  readonly messages: readonly VscodeMessage[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: unknown;
  }[];
}

/** `vscode.lm` has no system role: the system prompt is the first `user` message. */
export interface VscodeMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly VscodePart[];
}

export type VscodePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'toolCall'; readonly callId: string; readonly name: string; readonly args: string }
  | { readonly kind: 'toolResult'; readonly callId: string; readonly text: string };

/** A model that VS Code offers, through the extension host's `vscode.lm`. It has no usage figures: they are estimated. */
export function createVscodeModel(person: PersonSide, modelId: string, watch: BrokerWatch): Model {
  return {
    specificationVersion: 'v4',
    provider: 'vscode',
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new UserError('internal', 'Models of VS Code are only streamed')),
    doStream: async ({ prompt, tools = [], abortSignal }) => {
      const request: VscodeModelRequest = {
        messages: prompt.map(toMessage),
        tools: tools.flatMap((tool) =>
          tool.type === 'function'
            ? [{ name: tool.name, description: tool.description ?? '', inputSchema: tool.inputSchema }]
            : [],
        ),
      };
      const body = JSON.stringify(request);
      watch.sent({ path: `vscode.lm/${modelId}`, body });
      const { stream } = await person
        .ask('lm/open', { model: modelId, request: body }, abortSignal)
        .catch((error: unknown) => {
          if (abortSignal?.aborted) throw abortSignal.reason;
          throw error instanceof UserError
            ? new ProviderFailure('connection', error.message, { cause: error })
            : error;
        });
      return { stream: readParts(person, stream, watch, abortSignal) };
    },
  };
}

function readParts(
  person: PersonSide,
  stream: string,
  watch: BrokerWatch,
  signal: AbortSignal | undefined,
): ReadableStream<ModelPart> {
  let hasText = false;
  let hasCalls = false;
  const close = async () => {
    await person.ask('provider/close', { stream }).catch(() => undefined);
  };
  return new ReadableStream<ModelPart>(
    {
      pull: async (controller) => {
        const { parts, done } = await person
          .ask('lm/read', { stream }, signal)
          .catch(async (error: unknown) => {
            await close();
            if (signal?.aborted) throw signal.reason;
            throw new ProviderFailure('cut', error instanceof UserError ? error.message : '', {
              cause: error,
            });
          });
        for (const part of parts) {
          if (part.kind === 'text') {
            watch.received(Buffer.byteLength(part.text));
            if (!hasText) controller.enqueue({ type: 'text-start', id: 'text' });
            hasText = true;
            controller.enqueue({ type: 'text-delta', id: 'text', delta: part.text });
          } else {
            hasCalls = true;
            watch.received(Buffer.byteLength(part.args));
            controller.enqueue({
              type: 'tool-call',
              toolCallId: part.callId,
              toolName: part.name,
              input: part.args,
            });
          }
        }
        if (done) {
          if (hasText) controller.enqueue({ type: 'text-end', id: 'text' });
          controller.enqueue({
            type: 'finish',
            finishReason: { unified: hasCalls ? 'tool-calls' : 'stop', raw: 'done' },
            usage: unknownUsage,
          });
          watch.ended('');
          controller.close();
        } else if (parts.length === 0) {
          controller.enqueue({ type: 'ping' });
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}

const unknownUsage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function toMessage(message: Prompt[number]): VscodeMessage {
  if (message.role === 'system') return { role: 'user', parts: [{ kind: 'text', text: message.content }] };
  const parts: VscodePart[] = [];
  for (const part of message.content) {
    if (part.type === 'text') parts.push({ kind: 'text', text: part.text });
    else if (part.type === 'file' && part.data.type === 'data' && typeof part.data.data === 'string')
      parts.push({ kind: 'image', mediaType: part.mediaType, base64: part.data.data });
    else if (part.type === 'tool-call')
      parts.push({
        kind: 'toolCall',
        callId: part.toolCallId,
        name: part.toolName,
        args: JSON.stringify(part.input),
      });
    else if (part.type === 'tool-result' && 'value' in part.output)
      parts.push({
        kind: 'toolResult',
        callId: part.toolCallId,
        text: typeof part.output.value === 'string' ? part.output.value : JSON.stringify(part.output.value),
      });
  }
  return { role: message.role === 'assistant' ? 'assistant' : 'user', parts };
}
