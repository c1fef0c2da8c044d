import { toImported, type Imported, type ImportedRecord, importLimits, ImportError } from './imported.ts';

/**
 * A `.env` file: one token for each variable, its value in the field `value`. Understands `export`, comments, and the
 * three quotes; only `"…"` knows escapes. Nothing is expanded: `$NAME` stays as it is written. Throws an `ImportError`
 * with the line.
 */
export function importDotenv(text: string, isTaken: (id: string) => boolean): Imported {
  if (text.length > importLimits.characters) throw new ImportError('too-large');
  const records: ImportedRecord[] = [];
  const source = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  for (let at = 0; at < source.length;) {
    const end = lineEnd(source, at);
    const line = source.slice(at, end);
    if (/^\s*(#.*)?$/.test(line)) {
      at = end + 1;
      continue;
    }
    const start = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=[^\S\n]*/.exec(line);
    const name = start?.[1];
    if (!start || name === undefined) throw new ImportError('malformed', lineOf(source, at));
    const { value, next } = valueAt(source, at + start[0].length);
    records.push({
      title: name,
      kind: 'token',
      fields: [{ name: 'value', kind: value.includes('\n') ? 'lines' : 'secret', value }],
      addresses: [],
      tags: ['.env'],
    });
    at = next;
  }
  return toImported(records, isTaken);
}

function valueAt(source: string, at: number): { readonly value: string; readonly next: number } {
  const quote = source.charAt(at);
  if (quote !== '"' && quote !== "'" && quote !== '`') {
    const end = lineEnd(source, at);
    const value = source.slice(at, end).replace(/(^|\s)#.*$/, '');
    return { value: value.trim(), next: end + 1 };
  }
  const close = closingQuote(source, at, quote);
  const rest = source.slice(close + 1, lineEnd(source, close));
  if (close < 0 || !/^\s*(#.*)?$/.test(rest)) throw new ImportError('malformed', lineOf(source, at));
  const inner = source.slice(at + 1, close);
  return { value: quote === '"' ? unescaped(inner) : inner, next: lineEnd(source, close) + 1 };
}

function closingQuote(source: string, at: number, quote: string): number {
  for (let place = at + 1; place < source.length; place++) {
    if (quote === '"' && source[place] === '\\') place++;
    else if (source[place] === quote) return place;
  }
  return -1;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, (whole, character: string) =>
    /["\\$`]/.test(character) ? character : (escapes[character] ?? whole),
  );
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

function lineOf(source: string, at: number): number {
  return source.slice(0, at).split('\n').length;
}
