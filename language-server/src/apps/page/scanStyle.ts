/** A place in a style sheet that names a file. Offsets are in UTF-16 units, end exclusive. */
export interface StylePart {
  readonly kind: 'url' | 'import';
  readonly start: number;
  readonly end: number;
  readonly address: string;
  /** Of an import: what stands between the address and the semicolon. */
  readonly conditions: string;
}

/**
 * The `url()`s and `@import`s of a style sheet, in order, by the token rules of CSS Syntax Level 3 as far as they are
 * needed to tell them from comments and strings. Takes time linear in the sheet.
 */
export function scanStyle(css: string): StylePart[] {
  const parts: StylePart[] = [];
  // Where no parenthesis closes any more, none is looked for again: that would take the square of the time.
  const lastClose = css.lastIndexOf(')');
  let at = 0;
  while (at < css.length) {
    const unit = css[at];
    if (unit === '/' && css[at + 1] === '*') at = after(css, '*/', at + 2);
    else if (unit === '"' || unit === "'") at = readString(css, at).end;
    else if (unit === '\\') at += 2;
    else if (unit === '@' && isWord(css, at + 1, 'import')) {
      const part = readImport(css, at);
      if (part) parts.push(part);
      at = part?.end ?? at + 7;
    } else if ((unit === 'u' || unit === 'U') && at < lastClose && isFunction(css, at)) {
      const part = readUrl(css, at);
      if (part) parts.push(part);
      at = part?.end ?? at + 4;
    } else at++;
  }
  return parts;
}

function isFunction(css: string, at: number): boolean {
  return css.slice(at, at + 4).toLowerCase() === 'url(' && !/[\w-]/.test(css[at - 1] ?? ' ');
}

function isWord(css: string, at: number, word: string): boolean {
  return (
    css.slice(at, at + word.length).toLowerCase() === word && !/[\w-]/.test(css[at + word.length] ?? ' ')
  );
}

function readUrl(css: string, start: number): StylePart | undefined {
  let at = skipSpace(css, start + 4);
  if (css[at] === '"' || css[at] === "'") {
    const { value, end } = readString(css, at);
    at = skipSpace(css, end);
    return css[at] === ')' ? { kind: 'url', start, end: at + 1, address: value, conditions: '' } : undefined;
  }
  const end = css.indexOf(')', at);
  if (end < 0) return undefined;
  return { kind: 'url', start, end: end + 1, address: unescape(css.slice(at, end).trim()), conditions: '' };
}

function readImport(css: string, start: number): StylePart | undefined {
  const at = skipSpace(css, start + '@import'.length);
  const named =
    css[at] === '"' || css[at] === "'"
      ? { address: readString(css, at).value, end: readString(css, at).end }
      : isFunction(css, at)
        ? readUrl(css, at)
        : undefined;
  if (!named) return undefined;
  const semicolon = css.indexOf(';', named.end);
  const end = semicolon < 0 ? css.length : semicolon;
  return {
    kind: 'import',
    start,
    end: Math.min(css.length, end + 1),
    address: named.address,
    conditions: css.slice(named.end, end).trim(),
  };
}

function readString(css: string, start: number): { value: string; end: number } {
  const quote = css[start];
  let at = start + 1;
  while (at < css.length && css[at] !== quote && css[at] !== '\n') at += css[at] === '\\' ? 2 : 1;
  return { value: unescape(css.slice(start + 1, at)), end: Math.min(css.length, at + 1) };
}

function unescape(text: string): string {
  return text.replace(/\\(?:([0-9a-f]{1,6})\s?|(\n)|(.))/gi, (_, hex: string, line: string, plain: string) =>
    hex ? codePoint(Number.parseInt(hex, 16)) : line ? '' : plain,
  );
}

function codePoint(value: number): string {
  return value === 0 || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)
    ? '\uFFFD'
    : String.fromCodePoint(value);
}

function skipSpace(css: string, at: number): number {
  while (/\s/.test(css[at] ?? '')) at++;
  return at;
}

function after(css: string, text: string, at: number): number {
  const found = css.indexOf(text, at);
  return found < 0 ? css.length : found + text.length;
}
