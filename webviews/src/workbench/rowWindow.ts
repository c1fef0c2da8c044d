/** The rows of a list that are in the page: from `first` up to, not with, `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** Rows in the page at the start, and by how many the range moves. Heights are the browser's: nothing is estimated. */
export const rowsAtOnce = 40;
const step = 30;
const mostRows = 120;

/** The last rows of a list. */
export function lastRows(count: number): RowRange {
  return { first: Math.max(0, count - rowsAtOnce), end: count };
}

/** The range moved up; rows at its end go once there are too many. */
export function moveUp({ first, end }: RowRange): RowRange {
  const next = Math.max(0, first - step);
  return { first: next, end: Math.min(end, next + mostRows) };
}

/** The range moved down; rows at its beginning go once there are too many. */
export function moveDown({ first, end }: RowRange, count: number): RowRange {
  const next = Math.min(count, end + step);
  return { first: Math.max(first, next - mostRows), end: next };
}

/** The same rows after `added` came before the list's first and its length became `count`. */
export function keepRows({ first, end }: RowRange, added: number, count: number): RowRange {
  const from = Math.min(Math.max(0, first + added), count);
  return { first: from, end: Math.min(Math.max(from, end + added), count) };
}
