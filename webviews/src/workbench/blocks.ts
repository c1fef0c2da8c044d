import type { MarkdownIt } from './markdownParser.ts';

/** A top-level block of Markdown: a fenced code block, or the source of anything else. */
export interface Block {
  readonly kind: 'code' | 'markdown';
  readonly text: string;
  /** Of code: what stands after the fence. Empty otherwise. */
  readonly language: string;
}

/**
 * Cuts Markdown that grows at its end into top-level blocks. Those that are over can change no more, so each addition
 * costs only the reading of the last one. A reference to a definition that comes later stays text.
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
    const placed = blocksOf(this.#parser, open);
    // A block is over once the next one stands in a line that is whole: `2` may still become `2. more of the list`.
    const lastLineAt = open.lastIndexOf('\n') + 1;
    const over = Math.max(
      0,
      placed.findLastIndex(({ at }) => at < lastLineAt),
    );
    const blocks = [...this.#settled, ...placed.map(({ block }) => block)];
    this.#settled = blocks.slice(0, this.#settled.length + over);
    this.#openAt += placed[over]?.at ?? 0;
    return blocks;
  }
}

/** A block that is longer than this is shown as plain text. */
export const longestBlock = 32 * 1024;

function blocksOf(parser: MarkdownIt, source: string): { readonly at: number; readonly block: Block }[] {
  const tops = parser.topLevel(source);
  const starts = lineStarts(source);
  const placeOf = (line: number | undefined) => starts[line ?? starts.length] ?? source.length;
  return tops.map(({ fromLine, code, language }, index) => {
    const at = placeOf(fromLine);
    const text = code ?? source.slice(at, placeOf(tops[index + 1]?.fromLine)).trimEnd();
    return { at, block: { kind: code === null ? 'markdown' : 'code', text, language } };
  });
}

function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
