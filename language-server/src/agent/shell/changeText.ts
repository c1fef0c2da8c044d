/** The lines that differ between two texts, the common ones at both ends left out: exact, though not the shortest. */
export function changedLines(
  before: string,
  after: string,
): { removed: string[]; added: string[]; from: number } {
  const [old, young] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < young.length && old[start] === young[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < young.length - start &&
    old[old.length - 1 - end] === young[young.length - 1 - end]
  )
    end++;
  return {
    removed: old.slice(start, old.length - end),
    added: young.slice(start, young.length - end),
    from: start + 1,
  };
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The text of a file, or undefined where it is none. */
export function textOf(content: Uint8Array | null): string | undefined {
  if (content === null) return '';
  if (content.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}
