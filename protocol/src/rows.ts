import type { Item } from './agent.ts';

/** What changed in the rows of a conversation, as `conversation/delta` and `workbench/delta` tell it. */
export interface RowsDelta {
  readonly items: readonly Item[];
  readonly text: { readonly seq: number; readonly at: number; readonly append: string } | null;
}

export interface MergedRows {
  readonly items: readonly Item[];
  /** False where a delta before this one was missed: the rows must be asked for again. */
  readonly isWhole: boolean;
}

/**
 * A window of rows, oldest first, after a delta; at most `keep` of them, the last ones. Rows that did not change keep
 * their identity. Rows before the window stay out of it. `at` counts UTF-16 units, so text told twice is there once.
 */
export function mergeRows(items: readonly Item[], delta: RowsDelta, keep: number): MergedRows {
  const first = items[0]?.seq ?? -Infinity;
  const merged = [...items];
  for (const item of delta.items) {
    if (item.seq < first) continue;
    const at = positionOf(merged, item.seq);
    merged.splice(at, merged[at]?.seq === item.seq ? 1 : 0, item);
  }
  const isWhole = delta.text === null || delta.text.seq < first || append(merged, delta.text);
  return { items: merged.length > keep ? merged.slice(-keep) : merged, isWhole };
}

function append(items: Item[], text: { seq: number; at: number; append: string }): boolean {
  const at = positionOf(items, text.seq);
  const row = items[at];
  if (row?.seq !== text.seq || row.kind !== 'answer' || row.markdown.length < text.at) return false;
  const markdown = text.at === row.markdown.length ? row.markdown : row.markdown.slice(0, text.at);
  items[at] = { ...row, markdown: markdown + text.append };
  return true;
}

/** Where the row of this number stands or would stand. Searched from the end: what changes is nearly always there. */
function positionOf(items: readonly Item[], seq: number): number {
  let at = items.length;
  while (at > 0 && (items[at - 1]?.seq ?? 0) >= seq) at--;
  return at;
}
