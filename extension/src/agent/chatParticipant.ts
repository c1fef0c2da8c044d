import {
  ChatRequestTurn,
  ChatResponseMarkdownPart,
  LanguageModelChatMessage,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  type CancellationToken,
  type ChatContext,
  type ChatRequest,
  type ChatResponseStream,
  type LanguageModelToolInformation,
} from 'vscode';
import { chatWords } from '../agentMessages.ts';
import { vscodeApi } from '../connections/vscodeApi.ts';
import { toolTag } from './externalTools.ts';

/** Rounds of tool calls in one answer. */
const mostRounds = 25;
const keptTurns = 20;

/**
 * `@sallyport`: hands the request to the model that is chosen in VS Code's chat, with the gated tools and nothing else. The
 * tools are called through VS Code, so its own questions show too.
 */
export async function answerInChat(
  request: ChatRequest,
  context: ChatContext,
  stream: ChatResponseStream,
  token: CancellationToken,
): Promise<void> {
  const { lm } = vscodeApi;
  const tools = lm?.tools.filter(({ tags }) => tags.includes(toolTag)) ?? [];
  if (!lm || tools.length === 0) {
    stream.markdown(chatWords.noProject());
    return;
  }
  const messages = [
    LanguageModelChatMessage.User(chatWords.instructions()),
    ...history(context),
    LanguageModelChatMessage.User(request.prompt),
  ];
  for (let round = 0; round < mostRounds && !token.isCancellationRequested; round++) {
    const response = await request.model.sendRequest(messages, { tools: tools.map(toChatTool) }, token);
    const calls: LanguageModelToolCallPart[] = [];
    const said: (LanguageModelTextPart | LanguageModelToolCallPart)[] = [];
    for await (const part of response.stream) {
      if (part instanceof LanguageModelTextPart) {
        stream.markdown(part.value);
        said.push(part);
      } else if (part instanceof LanguageModelToolCallPart) {
        calls.push(part);
        said.push(part);
      }
    }
    if (calls.length === 0) return;
    messages.push(LanguageModelChatMessage.Assistant(said));
    const results: LanguageModelToolResultPart[] = [];
    for (const { callId, name, input } of calls) {
      const isOurs = tools.some((tool) => tool.name === name);
      const content = isOurs
        ? (await lm.invokeTool(name, { input, toolInvocationToken: request.toolInvocationToken }, token))
            .content
        : [new LanguageModelTextPart(chatWords.unknownTool(name))];
      results.push(new LanguageModelToolResultPart(callId, content));
    }
    messages.push(LanguageModelChatMessage.User(results));
  }
  if (!token.isCancellationRequested) stream.markdown(chatWords.tooManyRounds(mostRounds));
}

/** What was said before in this chat with the participant, as text. */
function history({ history: turns }: ChatContext): LanguageModelChatMessage[] {
  return turns.slice(-keptTurns).map((turn) => {
    if (turn instanceof ChatRequestTurn) return LanguageModelChatMessage.User(turn.prompt);
    const parts = turn.response.filter((part) => part instanceof ChatResponseMarkdownPart);
    return LanguageModelChatMessage.Assistant(parts.map((part) => part.value.value).join('') || '…');
  });
}

function toChatTool({ name, description, inputSchema }: LanguageModelToolInformation) {
  return { name, description, ...(inputSchema !== undefined && { inputSchema }) };
}
