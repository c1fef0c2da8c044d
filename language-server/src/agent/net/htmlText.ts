/**
 * The text of an HTML page for a model: no scripts, styles or comments, a line for each block, addresses of links behind
 * their words. It is text extraction, not parsing: what it makes is never shown as HTML. Linear in the input.
 */
export function htmlText(html: string): string {
  const out: string[] = [];
  const links: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) {
      out.push(decode(html.slice(at)));
      break;
    }
    out.push(decode(html.slice(at, open)));
    if (html.startsWith('<!--', open)) {
      at = after(html, '-->', open + 4);
      continue;
    }
    const match = tagName.exec(html.slice(open, open + 40));
    if (!match) {
      out.push('<');
      at = open + 1;
      continue;
    }
    const end = tagEnd(html, open + 1);
    const name = (match[2] ?? '').toLowerCase();
    const isEnd = match[1] === '/';
    if (!isEnd && silent.has(name)) {
      at = afterClosing(html, name, end);
      continue;
    }
    if (blocks.has(name)) out.push('\n');
    if (name === 'li' && !isEnd) out.push('- ');
    if ((name === 'td' || name === 'th') && isEnd) out.push('\t');
    if (name === 'a') {
      if (isEnd) out.push(linkText(links.pop()));
      else links.push(hrefOf(html.slice(open, Math.min(end, open + 4096))));
    }
    at = end;
  }
  return out
    .join('')
    .split('\n')
    .map((line) => line.replace(/[ \u00a0\r\f]+/g, ' ').trim())
    .filter((line, index, lines) => line !== '' || (index > 0 && lines[index - 1] !== ''))
    .join('\n')
    .trim();
}

const tagName = /^<(\/?)([a-z][a-z0-9-]*)/i;
const silent: ReadonlySet<string> = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'title',
]);
const blocks: ReadonlySet<string> = new Set(
  'address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section table tr ul'.split(
    ' ',
  ),
);

/** Behind the `>` that ends a tag: one in a quoted value does not. */
function tagEnd(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at++) {
    const character = html[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at + 1;
  }
  return html.length;
}

function after(html: string, text: string, from: number): number {
  const found = html.indexOf(text, from);
  return found === -1 ? html.length : found + text.length;
}

function afterClosing(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}[\\s>/]`, 'gi');
  closing.lastIndex = from;
  const match = closing.exec(html);
  return match ? tagEnd(html, match.index + 1) : html.length;
}

function hrefOf(tag: string): string {
  const match = /\shref\s*=\s*("([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag);
  return decode(match?.[2] ?? match?.[3] ?? match?.[4] ?? '');
}

function linkText(href: string | undefined): string {
  return href !== undefined && /^https?:/i.test(href) ? ` (${href})` : '';
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
  euro: '€',
};

function decode(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return named[entity.toLowerCase()] ?? whole;
    const code = /^#x/i.test(entity) ? parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '\uFFFD';
  });
}
