/** What a model gets of one call at most. */
const defaultLimits = { bytes: 48 * 1024, lines: 2000 };

/**
 * The beginning and the end of a long text, with a line between them that says how much is missing. Cuts at line breaks
 * where there are any. Sizes are of UTF-16 units, which for text is near enough to bytes.
 */
export function boundOutput(text: string, limits = defaultLimits): string {
  const lines = text.split('\n');
  if (text.length <= limits.bytes && lines.length <= limits.lines) return text;
  const head = take(lines, limits.lines / 2, limits.bytes / 2);
  const tail = take(lines.slice(head.length).reverse(), limits.lines / 2, limits.bytes / 2).reverse();
  const cut = lines.length - head.length - tail.length;
  if (cut > 0) return [...head, `[… ${cut} lines left out …]`, ...tail].join('\n');
  const half = Math.floor(limits.bytes / 2);
  return `${text.slice(0, half).toWellFormed()}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half).toWellFormed()}`;
}

function take(lines: readonly string[], count: number, size: number): string[] {
  const taken: string[] = [];
  let used = 0;
  for (const line of lines) {
    used += line.length + 1;
    if (taken.length >= count || used > size) break;
    taken.push(line);
  }
  return taken;
}
