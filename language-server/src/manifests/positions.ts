/** A place in a text as LSP counts it: zero-based line, UTF-16 units within the line. */
export interface TextPosition {
  readonly line: number;
  readonly character: number;
}

/** The offsets at which the lines of a text begin. Lines end with `\n`, `\r\n` or `\r`, as in LSP. */
export function lineStarts(text: string): Uint32Array {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return Uint32Array.from(starts);
}

/** The position of an offset; offsets below zero and past the end are clamped to the first and last line. */
export function positionAt(starts: Uint32Array, offset: number): TextPosition {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low, character: Math.max(0, offset - (starts[low] ?? 0)) };
}

/** The offset of a position; one past a line's end is clamped to it, one past the text to the text's end. */
export function offsetAt(starts: Uint32Array, text: string, { line, character }: TextPosition): number {
  if (line >= starts.length) return text.length;
  const start = starts[Math.max(0, line)] ?? 0;
  let end = starts[line + 1] ?? text.length;
  while (end > start && line + 1 < starts.length && /[\r\n]/.test(text[end - 1] ?? '')) end--;
  return Math.min(start + Math.max(0, character), end);
}

/** A range of LSP for a span. */
export function rangeOf(starts: Uint32Array, span: { readonly start: number; readonly end: number }) {
  return { start: positionAt(starts, span.start), end: positionAt(starts, span.end) };
}
