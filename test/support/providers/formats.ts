import type { Connection } from '../../../protocol/src/agent.ts';
import { anthropicFormat } from './anthropic.ts';
import { chatCompletionsFormat } from './chatCompletions.ts';
import { ollamaFormat } from './ollama.ts';
import { openaiResponsesFormat } from './openaiResponses.ts';
import type { WireFormat } from './script.ts';

/** The four wire formats by the kind of connection that speaks them. */
export const wireFormats: readonly (readonly [Exclude<Connection['kind'], 'vscode'>, WireFormat])[] = [
  ['anthropic', anthropicFormat],
  ['openai', openaiResponsesFormat],
  ['openai-compatible', chatCompletionsFormat],
  ['ollama', ollamaFormat],
];
