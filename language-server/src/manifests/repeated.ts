import type { Node } from 'jsonc-parser';
import { removeFix } from './edits.ts';
import { spanOf, textOf } from './nodes.ts';
import { problem, type Report } from './problem.ts';

/** The same value twice in a list changes nothing: says so at the second one. */
export function reportRepeated(text: string, items: readonly Node[], report: Report): void {
  const seen = new Set<string>();
  for (const item of items) {
    const value = textOf(item);
    if (value === undefined) continue;
    if (seen.has(value))
      report(problem('listed-twice', spanOf(item), [value], removeFix(text, spanOf(item), 'this one')));
    seen.add(value);
  }
}
