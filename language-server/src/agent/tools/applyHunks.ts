import { UserError } from '../../../../protocol/src/errors.ts';
import type { Hunk } from './patch.ts';

/**
 * The text with every hunk done. Each must be found exactly, once, after the one before: at the line that it names, or
 * where it names none or the lines there differ, at the only place where its old lines stand. Throws `conflict`.
 */
export function applyHunks(
  path: string,
  text: string,
  hunks: readonly Hunk[],
  endsInBreak: boolean | null,
): string {
  const hadBreak = text === '' || text.endsWith('\n');
  const lines = text === '' ? [] : (hadBreak ? text.slice(0, -1) : text).split('\n');
  const result: string[] = [];
  let done = 0;
  let shift = 0;
  for (const [index, hunk] of hunks.entries()) {
    const at = find(path, lines, hunk, done, shift, index + 1);
    result.push(...lines.slice(done, at), ...hunk.newLines);
    done = at + hunk.oldLines.length;
    if (hunk.oldStart !== null) shift = at + 1 - hunk.oldStart;
  }
  const reachesEnd = done === lines.length;
  result.push(...lines.slice(done));
  const hasBreak = reachesEnd && endsInBreak !== null ? endsInBreak : hadBreak;
  return result.length === 0 ? '' : result.join('\n') + (hasBreak ? '\n' : '');
}

function find(
  path: string,
  lines: readonly string[],
  hunk: Hunk,
  from: number,
  shift: number,
  number: number,
): number {
  const { oldLines, oldStart, anchor, isAtEnd } = hunk;
  let first = from;
  if (anchor !== null) {
    const anchors = lines.flatMap((line, at) => (at >= from && line.trim() === anchor ? [at] : []));
    if (anchors.length === 0) throw no(path, number, `the line “${anchor}” is not there`);
    if (anchors.length > 1 && oldLines.length === 0)
      throw no(path, number, `“${anchor}” is there more than once`);
    first = (anchors[0] ?? 0) + (oldLines[0]?.trim() === anchor ? 0 : 1);
  }
  if (oldLines.length === 0) {
    if (oldStart !== null && oldStart - 1 >= first && oldStart - 1 <= lines.length) return oldStart - 1;
    if (anchor !== null) return first;
    if (isAtEnd || lines.length === first) return lines.length;
    throw no(path, number, 'it has no line that says where it belongs');
  }
  const stands = (at: number) => oldLines.every((line, index) => lines[at + index] === line);
  if (oldStart !== null) {
    const named = oldStart - 1 + shift;
    if (named >= first && stands(named)) return named;
  }
  if (isAtEnd) {
    const last = lines.length - oldLines.length;
    if (last >= first && stands(last)) return last;
    throw no(path, number, 'its lines are not the last ones');
  }
  const places: number[] = [];
  for (let at = first; at <= lines.length - oldLines.length; at++) if (stands(at)) places.push(at);
  const [only] = places;
  if (only === undefined) throw no(path, number, 'its lines are not there exactly as given');
  if (places.length > 1) {
    const shown = places.slice(0, 10).map((at) => at + 1);
    throw no(
      path,
      number,
      `its lines are there ${places.length} times (lines ${shown.join(', ')}); give more context`,
    );
  }
  return only;
}

function no(path: string, number: number, why: string): UserError {
  return new UserError(
    'conflict',
    `Change ${number} of ${path} can't be done: ${why}. Nothing was done; read the file again.`,
    { path },
  );
}
