import type { Mention } from '../../../../protocol/src/agent.ts';
import { errorMessage } from '../../../../protocol/src/errors.ts';
import { resolvePath } from '../../gate/paths.ts';
import { readBounded } from './boundedFile.ts';

/** What a mention of a card or a run is told as. Throws where there is none. */
export interface MentionSources {
  card(root: string, card: string): string;
  run(root: string, runId: string): string;
}

const mentionBytes = 48 * 1024;
const allBytes = 160 * 1024;
const mostMentions = 40;
/** Lines around the place of a problem or a symbol. */
const contextLines = 30;

/** The text that a person's mentions stand for, to be put after the message. What can't be told is said. */
export function expandMentions(root: string, mentions: readonly Mention[], sources: MentionSources): string {
  let left = allBytes;
  const parts = mentions.slice(0, mostMentions).map((mention) => {
    const text = expandOne(root, mention, sources);
    const kept = text.slice(0, Math.max(0, Math.min(mentionBytes, left))).toWellFormed();
    left -= kept.length;
    const cut = kept.length < text.length ? `\n[… ${text.length - kept.length} characters left out …]` : '';
    return `<mention ${labelOf(mention)}>\n${kept}${cut}\n</mention>`;
  });
  if (mentions.length > mostMentions)
    parts.push(`[${mentions.length - mostMentions} more mentions are left out]`);
  return parts.length === 0 ? '' : `\n\n${parts.join('\n')}`;
}

function expandOne(root: string, mention: Mention, sources: MentionSources): string {
  try {
    switch (mention.kind) {
      case 'file':
        return readInside(root, mention.path);
      case 'selection':
        return mention.text;
      case 'problem':
        return `${mention.text}\n\n${around(readInside(root, mention.path), mention.line)}`;
      case 'symbol':
        return around(readInside(root, mention.path), mention.line);
      case 'card':
        return sources.card(root, mention.card);
      case 'run':
        return sources.run(root, mention.runId);
    }
  } catch (error) {
    return `[can’t be told: ${errorMessage(error)}]`;
  }
}

function readInside(root: string, path: string): string {
  const resolved = resolvePath(root, path);
  if (resolved.isOutside) throw new Error('it lies outside the project');
  const read = readBounded(resolved.real, mentionBytes);
  if (!read) throw new Error('it is not a file that can be read');
  if (read.text.includes('\0')) throw new Error(`it is not text (${read.sizeBytes} bytes)`);
  return read.isCut ? `${read.text}\n[… ${read.sizeBytes - mentionBytes} bytes left out …]` : read.text;
}

/** Numbered lines around a place; `line` counts from 1. */
function around(text: string, line: number): string {
  const lines = text.split('\n');
  const from = Math.max(0, line - 1 - contextLines);
  return lines
    .slice(from, line + contextLines)
    .map((each, index) => `${from + index + 1}: ${each}`)
    .join('\n');
}

function labelOf(mention: Mention): string {
  switch (mention.kind) {
    case 'file':
      return `file=${JSON.stringify(mention.path)}`;
    case 'selection':
      return `selection=${JSON.stringify(`${mention.path}:${mention.fromLine}-${mention.toLine}`)}`;
    case 'problem':
      return `problem=${JSON.stringify(`${mention.path}:${mention.line}`)}`;
    case 'symbol':
      return `symbol=${JSON.stringify(`${mention.name} in ${mention.path}:${mention.line}`)}`;
    case 'card':
      return `card=${JSON.stringify(mention.card)}`;
    case 'run':
      return `run=${JSON.stringify(mention.runId)}`;
  }
}
