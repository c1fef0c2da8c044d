import {
  LanguageModelTextPart,
  LanguageModelToolResult,
  MarkdownString,
  type CancellationToken,
  type LanguageModelTool,
  type LanguageModelToolInvocationOptions,
  type LanguageModelToolInvocationPrepareOptions,
  type PreparedToolInvocation,
} from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';
import { showHiddenLines } from '../../../protocol/src/text.ts';
import { chatWords } from '../agentMessages.ts';
import type { Engine } from '../engine.ts';
import type { ProjectPicker } from '../project/pickProject.ts';

/**
 * One tool of the engine for the agents of VS Code. The engine takes every call for one of `external-agent`: the same gate,
 * the same approvals. What VS Code asks before it is no approval, and says so.
 */
export class GatedTool implements LanguageModelTool<object> {
  readonly #name: string;
  readonly #engine: Engine;
  readonly #picker: ProjectPicker;
  readonly #createId: () => string;

  constructor(name: string, engine: Engine, picker: ProjectPicker, createId: () => string) {
    this.#name = name;
    this.#engine = engine;
    this.#picker = picker;
    this.#createId = createId;
  }

  prepareInvocation({ input }: LanguageModelToolInvocationPrepareOptions<object>): PreparedToolInvocation {
    const message = new MarkdownString(chatWords.confirm());
    message.appendCodeblock(showHiddenLines(JSON.stringify(input, null, 2)), 'text');
    return {
      invocationMessage: chatWords.running(this.#name),
      confirmationMessages: { title: chatWords.confirmTitle(this.#name), message },
    };
  }

  async invoke(
    { input }: LanguageModelToolInvocationOptions<object>,
    token: CancellationToken,
  ): Promise<LanguageModelToolResult> {
    const controller = new AbortController();
    const subscription = token.onCancellationRequested(() => controller.abort());
    try {
      const { root } = await this.#picker.project({});
      const { text, isError } = await this.#engine.call(
        'tool/call',
        { root, opId: `vscode-${this.#createId()}`, tool: this.#name, args: JSON.stringify(input) },
        controller.signal,
      );
      return answer(isError ? chatWords.failed(text) : text);
    } catch (error) {
      if (!(error instanceof UserError) || error.code === 'cancelled') throw error;
      return answer(chatWords.failed(error.message));
    } finally {
      subscription.dispose();
    }
  }
}

function answer(text: string): LanguageModelToolResult {
  return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
}
