import { UserError } from '../../../../protocol/src/errors.ts';

/** A piece of text that is to be another. */
export interface ExactEdit {
  readonly old: string;
  readonly new: string;
  readonly all: boolean;
}

/**
 * Replaces each `old`, one after the other. Throws `conflict`, with where to look, where one is not there exactly, or
 * is there more than once and not all are meant. A CRLF in the edit counts as LF where the text has no CRLF.
 */
export function applyExactEdits(path: string, text: string, edits: readonly ExactEdit[]): string {
  let result = text;
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `Edit ${index + 1}: `;
    const isLf = !result.includes('\r\n');
    const old = isLf ? edit.old.replaceAll('\r\n', '\n') : edit.old;
    const replacement = isLf ? edit.new.replaceAll('\r\n', '\n') : edit.new;
    if (old === '') throw no(path, `${which}old is empty; to make a file use create`);
    if (old === replacement) throw no(path, `${which}old and new are the same`);
    const places = placesOf(result, old);
    if (places.length === 0) throw no(path, `${which}old is not in ${path}.${nearest(result, old)}`);
    if (places.length > 1 && !edit.all) {
      const lines = places.slice(0, 10).map((at) => lineAt(result, at));
      throw no(
        path,
        `${which}old is in ${path} ${places.length} times (lines ${lines.join(', ')}${places.length > 10 ? ', …' : ''}). Give more of its surroundings, or set all.`,
      );
    }
    result = edit.all
      ? result.split(old).join(replacement)
      : result.slice(0, places[0]) + replacement + result.slice((places[0] ?? 0) + old.length);
  }
  return result;
}

/** Where `old` starts, overlapping ones too: two readings of one edit are two places. */
function placesOf(text: string, old: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + 1)) places.push(at);
  return places;
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** A line of `old` that is there tells the model where it went wrong. */
function nearest(text: string, old: string): string {
  const lines = text.split('\n');
  const wanted = old
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length > 3);
  for (const line of wanted) {
    const at = lines.findIndex((each) => each.trim() === line);
    if (at >= 0)
      return ` Line ${at + 1} is like a line of it; spaces and neighbours must be exact. Read it again.`;
  }
  return ' Read the file again.';
}

function no(path: string, message: string): UserError {
  return new UserError('conflict', message, { path });
}
