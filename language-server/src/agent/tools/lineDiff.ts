/** A change of text by lines, for a person to judge: nothing of it is left out. */
export interface LineDiff {
  /** Unified hunks with three lines around each change; empty where nothing changed. */
  readonly text: string;
  readonly addedLines: number;
  readonly removedLines: number;
}

type Edit = readonly [op: ' ' | '-' | '+', line: string];

const contextLines = 3;
/** Beyond this many differences the middle is shown as all removed and all added. */
const mostEdits = 1500;

/** Compares line by line (Myers, An O(ND) Difference Algorithm, 1986). */
export function lineDiff(before: string, after: string): LineDiff {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same = (line: string): Edit => [' ', line];
  const edits = [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
  return {
    text: hunksOf(edits),
    addedLines: edits.filter(([op]) => op === '+').length,
    removedLines: edits.filter(([op]) => op === '-').length,
  };
}

/** A line keeps its break, so that a missing one at the end is a difference. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function compare(a: readonly string[], b: readonly string[]): Edit[] {
  const plain = (): Edit[] => [...a.map((line): Edit => ['-', line]), ...b.map((line): Edit => ['+', line])];
  if (a.length === 0 || b.length === 0) return plain();
  const most = Math.min(a.length + b.length, mostEdits);
  const offset = most + 1;
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    trace.push(furthest.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = stepsDown(furthest, offset, diagonal, edits)
        ? valueAt(furthest, offset + diagonal + 1)
        : valueAt(furthest, offset + diagonal - 1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      furthest[offset + diagonal] = x;
      if (x >= a.length && x - diagonal >= b.length) return walkBack(a, b, trace, offset);
    }
  }
  return plain();
}

function stepsDown(furthest: Int32Array, offset: number, diagonal: number, edits: number): boolean {
  return (
    diagonal === -edits ||
    (diagonal !== edits &&
      valueAt(furthest, offset + diagonal - 1) < valueAt(furthest, offset + diagonal + 1))
  );
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Int32Array[],
  offset: number,
): Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let count = trace.length - 1; count >= 0; count--) {
    const furthest = trace[count] ?? new Int32Array();
    const diagonal = x - y;
    const isDown = stepsDown(furthest, offset, diagonal, count);
    const from = isDown ? diagonal + 1 : diagonal - 1;
    const startX = count === 0 ? 0 : valueAt(furthest, offset + from);
    const startY = count === 0 ? 0 : startX - from;
    while (x > startX && y > startY && (count === 0 || x > startX + (isDown ? 0 : 1) || y > startY + 1)) {
      if (a[x - 1] !== b[y - 1]) break;
      edits.push([' ', a[--x] ?? '']);
      y--;
    }
    if (count === 0) break;
    if (isDown) edits.push(['+', b[--y] ?? '']);
    else edits.push(['-', a[--x] ?? '']);
  }
  return edits.reverse();
}

function valueAt(values: Int32Array, index: number): number {
  return values[index] ?? 0;
}

function hunksOf(edits: readonly Edit[]): string {
  const shown: string[] = [];
  let oldLine = 1;
  let newLine = 1;
  let index = 0;
  while (index < edits.length) {
    const next = edits.findIndex(([op], at) => at >= index && op !== ' ');
    if (next < 0) break;
    const from = Math.max(index, next - contextLines);
    oldLine += from - index;
    newLine += from - index;
    let to = next;
    for (let at = next; at < edits.length && at <= to + 2 * contextLines; at++)
      if (edits[at]?.[0] !== ' ') to = at;
    const hunk = edits.slice(from, to + 1 + contextLines);
    const oldCount = hunk.filter(([op]) => op !== '+').length;
    const newCount = hunk.filter(([op]) => op !== '-').length;
    shown.push(`@@ -${oldLine},${oldCount} +${newLine},${newCount} @@`);
    for (const [op, line] of hunk)
      shown.push(line.endsWith('\n') ? op + line.slice(0, -1) : `${op}${line}\n\\ No newline at end of file`);
    oldLine += oldCount;
    newLine += newCount;
    index = from + hunk.length;
  }
  return shown.join('\n');
}
