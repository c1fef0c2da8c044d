import type { StoredItem, StoredImage } from '../conversations/itemRecords.ts';
import type { WireOf } from '../conversations/wire.ts';
import type { Prompt, PromptMessage, ProviderOptions } from '../providers/model.ts';
import { estimateTokens, tokensPerImage } from './tokens.ts';

export interface PromptParts {
  readonly system: string;
  /** Rows since the last summary, with it, in any order. */
  readonly items: readonly StoredItem[];
  /** Images of the message in this row; empty where the model takes none. */
  readonly imagesOf: (seq: number) => readonly StoredImage[];
  readonly connection: string;
  readonly model: string;
  readonly cacheMark: ProviderOptions | undefined;
}

/** Base64 bytes of images that one request carries; the latest ones come first. */
const imageBytes = 4 * 1024 * 1024;

/** The conversation as the model is told it. Rows of one step become one answer with the results of its calls. */
export function toPrompt(parts: PromptParts): Prompt {
  const messages = toMessages(inOrder(parts.items), parts, chooseImages(parts));
  const system: PromptMessage = {
    role: 'system',
    content: parts.system,
    ...(parts.cacheMark && { providerOptions: parts.cacheMark }),
  };
  const last = messages.at(-1);
  if (last && parts.cacheMark) messages[messages.length - 1] = { ...last, providerOptions: parts.cacheMark };
  return [system, ...messages];
}

/** About how many tokens a prompt takes, with its pictures and calls; for deciding when to compact, not for billing. */
export function estimatePrompt(prompt: Prompt): number {
  let tokens = 0;
  for (const message of prompt) {
    if (message.role === 'system') {
      tokens += estimateTokens(message.content);
      continue;
    }
    for (const part of message.content) {
      if (part.type === 'file') tokens += tokensPerImage;
      else if (part.type === 'text' || part.type === 'reasoning') tokens += estimateTokens(part.text);
      else tokens += estimateTokens(JSON.stringify(part));
    }
  }
  return tokens;
}

/** Rows as the model sees their order: a queued message comes where it was told. */
export function inOrder(items: readonly StoredItem[]): StoredItem[] {
  return items
    .filter(({ row }) => !(row.kind === 'person' && row.isQueued))
    .map((item) => ({ item, at: placeOf(item) }))
    .sort((a, b) => a.at - b.at || a.item.row.seq - b.item.row.seq)
    .map(({ item }) => item);
}

/** A summary stands for everything before, so it comes first; a message comes after the row it was told after. */
export function placeOf({ row, wire }: StoredItem): number {
  if (wire.kind === 'summary') return 0;
  return wire.kind === 'person' && wire.after > row.seq ? wire.after + 0.5 : row.seq;
}

function toMessages(
  items: readonly StoredItem[],
  parts: PromptParts,
  images: ReadonlyMap<number, readonly StoredImage[]>,
): PromptMessage[] {
  const messages: PromptMessage[] = [];
  let step: StoredItem[] = [];
  const endStep = () => {
    messages.push(...toStep(step, parts));
    step = [];
  };
  for (const item of items) {
    const { row, wire } = item;
    if (row.kind === 'answer' || row.kind === 'tool') {
      if (step.length > 0 && step[0]?.step !== item.step) endStep();
      step.push(item);
      continue;
    }
    if (row.kind === 'notice') continue;
    endStep();
    if (row.kind === 'summary' && wire.kind === 'summary')
      messages.push(userText(summaryText(row.markdown, wire)));
    if (row.kind === 'person' && wire.kind === 'person') {
      const own = images.get(row.seq) ?? [];
      const left = row.images - own.length;
      const note = left > 0 ? `\n\n[${left} image(s) are not sent]` : '';
      messages.push({
        role: 'user',
        content: [
          ...textPart(`${row.text}${wire.expanded}${note}`),
          ...own.map(({ mediaType, base64 }) => ({
            type: 'file' as const,
            mediaType,
            data: { type: 'data' as const, data: base64 },
          })),
        ],
      });
    }
  }
  endStep();
  return messages;
}

function userText(text: string): PromptMessage {
  return { role: 'user', content: textPart(text) };
}

/** Providers refuse text without anything in it, and halves of characters that a cut left. */
function textPart(text: string): { type: 'text'; text: string }[] {
  return text.trim() === '' ? [] : [{ type: 'text', text: text.toWellFormed() }];
}

/** A name that a model made up may be one that a provider does not take back. */
function toolName(name: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : 'unknown_tool';
}

function summaryText(markdown: string, { lastMessage }: WireOf<'summary'>): string {
  const said = lastMessage === '' ? '' : `\n\nThe person’s last message was:\n${lastMessage}`;
  return `The conversation so far was replaced by this summary:\n\n${markdown}${said}`;
}

type AssistantPart = Extract<PromptMessage, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<PromptMessage, { role: 'tool' }>['content'][number];

function toStep(step: readonly StoredItem[], { connection, model }: PromptParts): PromptMessage[] {
  const said: AssistantPart[] = [];
  const results: ToolPart[] = [];
  for (const { row, wire } of step) {
    const isSame = 'model' in wire && wire.model === model && wire.connection === connection;
    if (row.kind === 'answer' && wire.kind === 'answer') {
      if (isSame)
        for (const { text, metadata } of wire.reasoning) {
          if (metadata !== null)
            said.push({ type: 'reasoning', text, providerOptions: metadata as ProviderOptions });
        }
      said.push(...textPart(row.markdown));
    }
    if (row.kind === 'tool' && wire.kind === 'tool' && !wire.isProviders) {
      const call = { toolCallId: wire.callId, toolName: toolName(row.tool) };
      said.push({
        type: 'tool-call',
        ...call,
        input: toObject(wire.args),
        ...(isSame && wire.metadata !== null && { providerOptions: wire.metadata as ProviderOptions }),
      });
      const value = (wire.result ?? 'Not run.').toWellFormed();
      results.push({
        type: 'tool-result',
        ...call,
        output: { type: wire.isError ? 'error-text' : 'text', value },
      });
    }
  }
  // Thinking alone is no answer that a provider takes back.
  if (!said.some(({ type }) => type !== 'reasoning')) return [];
  const messages: PromptMessage[] = [{ role: 'assistant', content: said }];
  if (results.length > 0) messages.push({ role: 'tool', content: results });
  return messages;
}

/** What a provider gets back as arguments must be an object, whatever the model wrote. */
function toObject(args: string): Record<string, unknown> {
  try {
    const value = JSON.parse(args, (_, each: unknown) =>
      typeof each === 'string' ? each.toWellFormed() : each,
    ) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Said in the result.
  }
  return {};
}

function chooseImages({ items, imagesOf }: PromptParts): ReadonlyMap<number, readonly StoredImage[]> {
  const chosen = new Map<number, readonly StoredImage[]>();
  let left = imageBytes;
  for (const { row } of [...items].reverse()) {
    if (row.kind !== 'person' || row.images === 0) continue;
    const fitting = imagesOf(row.seq).filter(({ base64 }) => (left -= base64.length) >= 0);
    chosen.set(row.seq, fitting);
  }
  return chosen;
}
