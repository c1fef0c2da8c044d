import {
  CancellationTokenSource,
  LanguageModelChatMessage,
  LanguageModelChatMessageRole,
  LanguageModelDataPart,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  type LanguageModelChat,
  type LanguageModelChatTool,
} from 'vscode';
import * as z from 'zod/mini';
import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import type { providerRequests } from '../../../protocol/src/agent.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { brokerWords } from '../agentMessages.ts';
import type { ListedModel } from './modelList.ts';
import { vscodeApi } from './vscodeApi.ts';

type Read = ResultOf<(typeof providerRequests)['lm/read']>;
type Part = Read['parts'][number];

const part = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({ kind: z.literal('image'), mediaType: z.string(), base64: z.string() }),
  z.strictObject({ kind: z.literal('toolCall'), callId: z.string(), name: z.string(), args: z.string() }),
  z.strictObject({ kind: z.literal('toolResult'), callId: z.string(), text: z.string() }),
]);
/** `VscodeModelRequest` of language-server/src/agent/providers/vscodeModel.ts. */
const modelRequest = z.strictObject({
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), parts: z.array(part) })),
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      inputSchema: z.record(z.string(), z.unknown()),
    }),
  ),
});
type ModelRequest = z.infer<typeof modelRequest>;

const mostStreams = 16;
const mostPartsAtOnce = 64;

/** The models that VS Code offers now; none where it has no such thing. */
export async function listVscodeModels(): Promise<(ListedModel & { readonly contextTokens: number })[]> {
  const models = (await vscodeApi.lm?.selectChatModels()) ?? [];
  return models.map((model) => ({
    id: modelId(model),
    name: `${model.name} (${model.vendor})`,
    contextTokens: model.maxInputTokens,
  }));
}

/** Answers the engine's questions about VS Code's own models. VS Code asks the person before the first use. */
export class VscodeModels {
  readonly #createId: () => string;
  readonly #isConnected: () => boolean;
  readonly #streams = new Map<string, ModelStream>();

  /** `isConnected`: a person has connected VS Code's models; without that none is used. */
  constructor(createId: () => string, isConnected: () => boolean) {
    this.#createId = createId;
    this.#isConnected = isConnected;
  }

  /** Rejects with `UserError` in words. The stream is closed by `close` or at its end. */
  async open(
    { model: wanted, request }: { readonly model: string; readonly request: string },
    signal: AbortSignal,
  ): Promise<{ stream: string }> {
    if (!this.#isConnected()) throw new UserError('not-found', brokerWords.noConnection());
    const parsed = z.safeParse(modelRequest, parseJson(request));
    if (!parsed.success) throw new UserError('bad-message', z.prettifyError(parsed.error));
    if (this.#streams.size >= mostStreams) throw new UserError('too-large', brokerWords.tooMany(mostStreams));
    const models = (await vscodeApi.lm?.selectChatModels()) ?? [];
    const model = models.find((each) => modelId(each) === wanted);
    if (!model) throw new UserError('not-found', brokerWords.modelGone(wanted));
    const cancellation = new CancellationTokenSource();
    const onAbort = () => cancellation.cancel();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const response = await model.sendRequest(
        parsed.data.messages.map(toMessage),
        { tools: parsed.data.tools.map(toTool) },
        cancellation.token,
      );
      const stream = this.#createId();
      this.#streams.set(stream, new ModelStream(response.stream, cancellation));
      return { stream };
    } catch (error) {
      cancellation.dispose();
      if (signal.aborted) throw new UserError('cancelled', 'The request was cancelled');
      throw new UserError('unreadable', brokerWords.modelRefused(model.name, errorCode(error)));
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async read({ stream }: ParamsOf<(typeof providerRequests)['lm/read']>, signal: AbortSignal): Promise<Read> {
    const found = this.#streams.get(stream);
    if (!found) throw new UserError('not-found', brokerWords.noStream());
    const onAbort = () => this.close(stream);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const read = await found.read();
      if (read.done) this.close(stream);
      return read;
    } catch (error) {
      this.close(stream);
      throw new UserError('closed', brokerWords.unreachable(errorCode(error)));
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  close(stream: string): void {
    this.#streams.get(stream)?.close();
    this.#streams.delete(stream);
  }

  closeAll(): void {
    for (const stream of [...this.#streams.keys()]) this.close(stream);
  }
}

/** One answer of a model. VS Code pushes; only what was asked for is taken on. */
class ModelStream {
  readonly #parts: AsyncIterator<unknown>;
  readonly #cancellation: CancellationTokenSource;
  #next: Promise<IteratorResult<unknown>> | undefined;

  constructor(stream: AsyncIterable<unknown>, cancellation: CancellationTokenSource) {
    this.#parts = stream[Symbol.asyncIterator]();
    this.#cancellation = cancellation;
  }

  /** Waits for one part and takes what else is there already. */
  async read(): Promise<Read> {
    const parts: Part[] = [];
    let result: IteratorResult<unknown> | undefined = await this.#pull();
    while (result) {
      this.#next = undefined;
      if (result.done) return { parts, done: true };
      const value = toPart(result.value);
      if (value) parts.push(value);
      if (parts.length >= mostPartsAtOnce) break;
      result = await Promise.race([this.#pull(), Promise.resolve(undefined)]);
    }
    return { parts, done: false };
  }

  close(): void {
    this.#cancellation.cancel();
    this.#cancellation.dispose();
  }

  #pull(): Promise<IteratorResult<unknown>> {
    if (!this.#next) {
      this.#next = this.#parts.next();
      this.#next.catch(() => undefined);
    }
    return this.#next;
  }
}

function modelId({ vendor, id }: LanguageModelChat): string {
  return `${vendor}/${id}`;
}

function toPart(value: unknown): Part | undefined {
  if (value instanceof LanguageModelTextPart) return { kind: 'text', text: value.value };
  if (value instanceof LanguageModelToolCallPart) {
    return { kind: 'tool', callId: value.callId, name: value.name, args: JSON.stringify(value.input) };
  }
  return undefined;
}

function toMessage({ role, parts }: ModelRequest['messages'][number]): LanguageModelChatMessage {
  const content = parts.map((each) => {
    switch (each.kind) {
      case 'text':
        return new LanguageModelTextPart(each.text);
      case 'image':
        return LanguageModelDataPart.image(Buffer.from(each.base64, 'base64'), each.mediaType);
      case 'toolCall':
        return new LanguageModelToolCallPart(each.callId, each.name, toInput(each.args));
      case 'toolResult':
        return new LanguageModelToolResultPart(each.callId, [new LanguageModelTextPart(each.text)]);
    }
  });
  return new LanguageModelChatMessage(
    LanguageModelChatMessageRole[role === 'user' ? 'User' : 'Assistant'],
    content,
  );
}

function toTool({ name, description, inputSchema }: ModelRequest['tools'][number]): LanguageModelChatTool {
  return { name, description, inputSchema };
}

function toInput(args: string): object {
  const value = parseJson(args);
  return typeof value === 'object' && value !== null ? value : {};
}

function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code !== '')
    return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
