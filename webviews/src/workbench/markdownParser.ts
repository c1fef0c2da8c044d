import createParser, { type RendererRule, type Token } from 'markdown-it';

/** A block at the top level: the line it starts at, and its code where it is a fenced or indented one. */
export interface TopLevel {
  readonly fromLine: number;
  readonly code: string | null;
  readonly language: string;
}

/** Markdown as Sallyport reads it. */
export interface MarkdownIt {
  topLevel(source: string): TopLevel[];
  /** Markup that must still go through the sanitiser. */
  render(source: string): string;
}

const webAddress = /^https?:\/\/[^\s]/i;

/** The kinds of address that an answer may name as a link. Everything else stays text. */
export function isWebAddress(address: string): boolean {
  return webAddress.test(address) && URL.canParse(address);
}

/**
 * CommonMark with tables and bare addresses, without HTML. A picture becomes a link in words, for no picture is loaded.
 * Addresses are shown as they are written: decoding them would let one look like another.
 */
export function createMarkdownParser(): MarkdownIt {
  const parser = createParser({ html: false, linkify: true, breaks: false, typographer: false });
  parser.validateLink = isWebAddress;
  parser.normalizeLinkText = (address) => address;
  for (const scheme of ['//', 'ftp:', 'mailto:']) parser.linkify.add(scheme, null);
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  parser.renderer.rules['image'] = (tokens, index) => {
    const token = tokens[index];
    const address = String(token?.attrGet('src') ?? '');
    const { escapeHtml } = parser.utils;
    return `<a href="${escapeHtml(address)}">[picture: ${escapeHtml(token?.content ?? '')}]</a>`;
  };
  // The policy allows no style attribute, so a column's alignment is an attribute of its own.
  const cell: RendererRule = (tokens, index, options, _env, self) => {
    const token = tokens[index];
    const side = /left|right|center/.exec(String(token?.attrGet('style') ?? ''))?.[0];
    if (token) token.attrs = side === undefined ? null : [['align', side]];
    return self.renderToken(tokens, index, options);
  };
  parser.renderer.rules['th_open'] = cell;
  parser.renderer.rules['td_open'] = cell;
  return {
    topLevel: (source) => {
      const tokens: Token[] = [];
      parser.block.parse(source, parser, {}, tokens);
      return tokens
        .filter(({ level, nesting, map }) => level === 0 && nesting >= 0 && map !== null)
        .map((token) => {
          const isCode = token.type === 'fence' || token.type === 'code_block';
          return {
            fromLine: token.map?.[0] ?? 0,
            code: isCode ? token.content : null,
            language: token.type === 'fence' ? (token.info.trim().split(/\s+/)[0] ?? '') : '',
          };
        });
    },
    render: (source) => parser.render(source),
  };
}
