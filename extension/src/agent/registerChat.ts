import { randomUUID } from 'node:crypto';
import { vscodeApi } from '../connections/vscodeApi.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { answerInChat } from './chatParticipant.ts';
import { editorProblems, editorSymbols } from './editorInsight.ts';
import { contributedTools, toolPrefix } from './externalTools.ts';
import { GatedTool } from './gatedTool.ts';

/** What the agent learns of the editor, and, where this VS Code has chat, the gated tools and `@sallyport`. */
export function registerChat({ engine, manifest, picker }: Services): Disposable {
  const { lm, chat } = vscodeApi;
  const tools = contributedTools(manifest).map((name) => ({
    name,
    tool: new GatedTool(name, engine, picker, () => randomUUID()),
  }));
  return together(
    engine.handle({
      'editor/problems': ({ root }) => editorProblems(root),
      'editor/symbols': ({ path }) => editorSymbols(path),
    }),
    ...(lm ? tools.map(({ name, tool }) => lm.registerTool(toolPrefix + name, tool)) : []),
    ...(chat && lm ? [chat.createChatParticipant('sallyport.chat', answerInChat)] : []),
  );
}
