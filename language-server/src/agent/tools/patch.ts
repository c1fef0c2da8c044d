import { UserError } from '../../../../protocol/src/errors.ts';

/** Lines that are to be found together, and what they become. */
export interface Hunk {
  /** Where the old lines start, counted from 1, where the patch says so. */
  readonly oldStart: number | null;
  /** A line that stands somewhere before the old ones. */
  readonly anchor: string | null;
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  /** The old lines are the last ones of the file. */
  readonly isAtEnd: boolean;
}

export type FilePatch =
  | {
      readonly kind: 'add';
      readonly path: string;
      readonly lines: readonly string[];
      readonly endsInBreak: boolean;
    }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo: string | null;
      readonly hunks: readonly Hunk[];
      /** What the patch says of the last line: null where it says nothing. */
      readonly endsInBreak: boolean | null;
    };

/**
 * Parses a patch: either the form that begins with `*** Begin Patch`, or a unified diff (POSIX diff -u, with git's
 * `a/`, `b/` and `/dev/null`). Throws `bad-message` with the line that it stumbled on. Nothing is guessed: binary
 * patches, permission bits and anything that is neither form is refused.
 */
export function parsePatch(text: string): FilePatch[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const first = lines.findIndex((line) => line.trim() !== '');
  const patches =
    lines[first]?.trim() === '*** Begin Patch' ? parseMarked(lines, first + 1) : parseUnified(lines);
  if (patches.length === 0) throw bad(0, 'it changes no file');
  return patches;
}

function parseMarked(lines: readonly string[], start: number): FilePatch[] {
  const patches: FilePatch[] = [];
  let at = start;
  const isMark = (line: string | undefined) => line === undefined || line.startsWith('*** ');
  for (;;) {
    const line = lines[at]?.trimEnd();
    if (line === undefined) throw bad(at, 'it ends without *** End Patch');
    if (line === '*** End Patch') {
      if (lines.slice(at + 1).some((each) => each.trim() !== ''))
        throw bad(at + 1, 'something follows its end');
      return patches;
    }
    const [, what, path] = /^\*\*\* (Add|Delete|Update) File: (.+)$/.exec(line) ?? [];
    if (what === undefined || path === undefined) throw bad(at, 'here a file was expected');
    at++;
    if (what === 'Delete') patches.push({ kind: 'delete', path });
    else if (what === 'Add') {
      const added: string[] = [];
      for (; !isMark(lines[at]); at++) {
        if (!lines[at]?.startsWith('+')) throw bad(at, 'each line of a file that is added begins with +');
        added.push(lines[at]?.slice(1) ?? '');
      }
      patches.push({ kind: 'add', path, lines: added, endsInBreak: true });
    } else {
      const [, moveTo = null] = /^\*\*\* Move to: (.+)$/.exec(lines[at]?.trimEnd() ?? '') ?? [];
      if (moveTo !== null) at++;
      const hunks: Hunk[] = [];
      while (!isMark(lines[at])) {
        const found = parseMarkedHunk(lines, at);
        hunks.push(found.hunk);
        at = found.next;
      }
      if (hunks.length === 0 && moveTo === null) throw bad(at, `nothing of ${path} is changed`);
      patches.push({ kind: 'update', path, moveTo, hunks, endsInBreak: null });
    }
  }
}

function parseMarkedHunk(lines: readonly string[], start: number): { hunk: Hunk; next: number } {
  let at = start;
  let anchor: string | null = null;
  const head = lines[at] ?? '';
  if (head.startsWith('@@')) {
    anchor = head.slice(2).trim() || null;
    at++;
  }
  const oldLines: string[] = [];
  const newLines: string[] = [];
  let isAtEnd = false;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line === '*** End of File') {
      isAtEnd = true;
      at++;
      break;
    }
    if (line.startsWith('@@') || line.startsWith('*** ')) break;
    take(line, at, oldLines, newLines);
  }
  if (oldLines.length + newLines.length === 0) throw bad(start, 'a change without lines');
  return { hunk: { oldStart: null, anchor, oldLines, newLines, isAtEnd }, next: at };
}

function take(line: string, at: number, oldLines: string[], newLines: string[]): void {
  const rest = line.slice(1);
  // Editors strip the space of an empty line of context.
  if (line === '' || line.startsWith(' ')) {
    oldLines.push(rest);
    newLines.push(rest);
  } else if (line.startsWith('-')) oldLines.push(rest);
  else if (line.startsWith('+')) newLines.push(rest);
  else throw bad(at, 'each line of a change begins with a space, - or +');
}

const noise =
  /^(diff --git |index |similarity index |new file mode 100644$|deleted file mode |rename from |rename to |Index: |=+$|$)/;

function parseUnified(lines: readonly string[]): FilePatch[] {
  const patches: FilePatch[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (!line.startsWith('--- ')) {
      if (!noise.test(line)) throw bad(at, 'it is neither a unified diff nor begins with *** Begin Patch');
      at++;
      continue;
    }
    const from = nameOf(line.slice(4));
    const target = lines[at + 1] ?? '';
    if (!target.startsWith('+++ ')) throw bad(at + 1, 'after --- comes +++');
    const to = nameOf(target.slice(4));
    at += 2;
    const hunks: Hunk[] = [];
    let endsInBreak: boolean | null = null;
    while (lines[at]?.startsWith('@@')) {
      const found = parseUnifiedHunk(lines, at);
      hunks.push(found.hunk);
      endsInBreak = found.endsInBreak ?? endsInBreak;
      at = found.next;
    }
    if (hunks.length === 0) throw bad(at, 'after +++ come lines that begin with @@');
    if (from === null && to === null) throw bad(at, 'both sides are /dev/null');
    if (from === null && to !== null) {
      if (hunks.some(({ oldLines }) => oldLines.length > 0)) throw bad(at, 'a new file has no old lines');
      patches.push({
        kind: 'add',
        path: to,
        lines: hunks.flatMap(({ newLines }) => newLines),
        endsInBreak: endsInBreak ?? true,
      });
    } else if (from !== null && to === null) patches.push({ kind: 'delete', path: from });
    else if (from !== null) {
      patches.push({ kind: 'update', path: from, moveTo: to === from ? null : to, hunks, endsInBreak });
    }
  }
  return patches;
}

function parseUnifiedHunk(
  lines: readonly string[],
  start: number,
): { hunk: Hunk; endsInBreak: boolean | null; next: number } {
  const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[start] ?? '');
  if (!head) throw bad(start, 'this is no head of a hunk: @@ -1,2 +1,3 @@');
  const oldCount = Number(head[2] ?? 1);
  const newCount = Number(head[4] ?? 1);
  const oldLines: string[] = [];
  const newLines: string[] = [];
  let endsInBreak: boolean | null = null;
  let at = start + 1;
  for (; oldLines.length < oldCount || newLines.length < newCount || lines[at]?.startsWith('\\'); at++) {
    const line = lines[at];
    if (line === undefined) throw bad(at, 'the hunk has fewer lines than its head says');
    if (line.startsWith('\\')) {
      if (!lines[at - 1]?.startsWith('-')) endsInBreak = false;
      else endsInBreak ??= true;
    } else take(line, at, oldLines, newLines);
  }
  if (oldLines.length !== oldCount || newLines.length !== newCount)
    throw bad(start, 'the hunk has other numbers of lines than its head says');
  const oldStart = oldCount === 0 ? Number(head[1]) + 1 : Number(head[1]);
  return { hunk: { oldStart, anchor: null, oldLines, newLines, isAtEnd: false }, endsInBreak, next: at };
}

/** Null for /dev/null. A time stamp after a tab is no part of the name. */
function nameOf(text: string): string | null {
  const name = (text.split('\t')[0] ?? '').trim();
  if (name === '/dev/null') return null;
  if (name.startsWith('"')) throw new UserError('bad-message', `Quoted names are not understood: ${name}`);
  return name.replace(/^[ab]\//, '');
}

function bad(index: number, why: string): UserError {
  return new UserError(
    'bad-message',
    `The patch can't be read at line ${index + 1}: ${why}. Nothing was done.`,
  );
}
