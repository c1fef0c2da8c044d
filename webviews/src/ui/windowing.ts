/** Browsers cut elements that are taller than about 33 million pixels; beyond this a scroll position stands for more. */
const tallestPx = 15_000_000;

/** Which rows of a long list are in view, and where they stand. */
export interface RowWindow {
  /** Height of the scrolled element. */
  readonly heightPx: number;
  readonly first: number;
  /** One past the last. */
  readonly end: number;
  /** Where the first row stands. */
  readonly topPx: number;
}

/** The rows to draw at a scroll position, with `overscan` more on each side. */
export function rowWindow(
  scrollTopPx: number,
  viewPx: number,
  rows: number,
  rowPx: number,
  overscan = 8,
): RowWindow {
  const wholePx = rows * rowPx;
  const heightPx = Math.min(wholePx, tallestPx);
  const room = heightPx - viewPx;
  const top = Math.min(Math.max(scrollTopPx, 0), Math.max(room, 0));
  // Real offset of the view in the list; equal to `top` unless the list is taller than an element may be.
  const offset = room > 0 && wholePx > heightPx ? (top / room) * (wholePx - viewPx) : top;
  const first = Math.max(0, Math.floor(offset / rowPx) - overscan);
  const end = Math.min(rows, Math.ceil((offset + viewPx) / rowPx) + overscan);
  return { heightPx, first, end, topPx: top - (offset - first * rowPx) };
}

/** The scroll position that brings a row to the top of the view. */
export function scrollTopOfRow(row: number, viewPx: number, rows: number, rowPx: number): number {
  const wholePx = rows * rowPx;
  const heightPx = Math.min(wholePx, tallestPx);
  const offset = Math.min(row * rowPx, Math.max(0, wholePx - viewPx));
  return wholePx > heightPx ? (offset / (wholePx - viewPx)) * (heightPx - viewPx) : offset;
}
