import type { LogLine } from '../../../protocol/src/engine.ts';
import { visibleText } from '../ui/visibleText.ts';

/** Numbers of the lines that contain the text, in any case, in the form in which they are shown. */
export function findLines(lines: Iterable<readonly [number, LogLine]>, needle: string): number[] {
  const wanted = needle.toLocaleLowerCase();
  const found: number[] = [];
  for (const [number, line] of lines) {
    if (visibleText(line.text).toLocaleLowerCase().includes(wanted)) found.push(number);
  }
  return found;
}
