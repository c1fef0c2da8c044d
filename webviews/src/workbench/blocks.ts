import type { MarkdownIt } from './markdownParser.ts';

/** A top-level block of Markdown: a fenced code block, or the source of anything else. */
export interface Block {
  readonly kind: 'code' | 'markdown';
  readonly text: string;
  /** Of code: what stands after the fence. Empty otherwise. */
  readonly language: string;
}

/**
 * Cuts Markdown that grows at its end into top-level blocks. All blocks but the last can change no more, so each
 * addition costs only the reading of the last one. A reference to a definition that comes later stays text.
 */
export class BlockSplitter {
  readonly #parser: MarkdownIt;
  #source = '';
  /** Where the block that may still grow begins. */
  #openAt = 0;
  #settled: readonly Block[] = [];

  constructor(parser: MarkdownIt) {
    this.#parser = parser;
  }

  /** All blocks of the text. Costs little where it begins with the text of the call before. */
  read(source: string): readonly Block[] {
    if (!source.startsWith(this.#source)) {
      this.#openAt = 0;
      this.#settled = [];
    }
    this.#source = source;
    const open = source.slice(this.#openAt);
    const { blocks, lastAt } = blocksOf(this.#parser, open);
    const last = blocks.at(-1);
    if (!last) return this.#settled;
    this.#settled = [...this.#settled, ...blocks.slice(0, -1)];
    this.#openAt += lastAt;
    return [...this.#settled, last];
  }
}

/** A block that is longer than this is shown as plain text. */
export const longestBlock = 32 * 1024;

function blocksOf(parser: MarkdownIt, source: string): { blocks: Block[]; lastAt: number } {
  const tops = parser.topLevel(source);
  const starts = lineStarts(source);
  const blocks: Block[] = [];
  let lastAt = 0;
  for (const [index, top] of tops.entries()) {
    const from = starts[top.fromLine] ?? source.length;
    const end = tops[index + 1]?.fromLine;
    const to = end === undefined ? source.length : (starts[end] ?? source.length);
    lastAt = from;
    blocks.push(
      top.code === null
        ? { kind: 'markdown', text: source.slice(from, to).trimEnd(), language: '' }
        : { kind: 'code', text: top.code, language: top.language },
    );
  }
  return { blocks, lastAt };
}

function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
