import type { FileChange } from '../../../../protocol/src/agent.ts';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Permission } from '../../../../protocol/src/permissions.ts';
import type { ActDescription } from '../../gate/act.ts';
import type { ChangeKind } from '../../history/entries.ts';
import type { FileState } from '../../history/fileState.ts';
import type { Journal, Wanted } from '../../history/journal.ts';
import type { WantedState } from '../../history/transaction.ts';
import { fetchedAddresses } from './fetchedAddresses.ts';
import { lineDiff } from './lineDiff.ts';
import { parseText } from './textFile.ts';
import type { CallContext, PreparedCall, ToolOutput } from './tool.ts';
import { assertInside, assertStillThere, targetOf, type ToolPath } from './toolPath.ts';

/** Something that is to be at a path: bytes for a new content, or a state whose content is kept already. */
export type Content =
  WantedState | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly mode: number | null };

/** One path that a call changes, as it was seen when the call was prepared. */
export interface PlannedFile {
  readonly path: ToolPath;
  readonly before: FileState;
  /** For the diff; null where it is no text or was not read. */
  readonly beforeBytes: Uint8Array | null;
  readonly after: Content;
  readonly kind?: ChangeKind;
}

/** What changing files needs. */
export interface ChangeDeps {
  /** Opens the history on first need. */
  readonly journal: () => Journal;
  /** Which of these absolute paths are open with unsaved changes. Where it rejects, nothing is changed. */
  readonly dirtyPaths: (paths: readonly string[]) => Promise<readonly string[]>;
}

export interface PlannedCall {
  readonly context: CallContext;
  readonly journal: Journal;
  /** Absent where the caller has asked already. */
  readonly dirtyPaths?: ChangeDeps['dirtyPaths'];
  readonly args: Json;
  /** One sentence: what a person is asked, and what the model is told when it is done. */
  readonly title: string;
  readonly files: readonly PlannedFile[];
  readonly permissions?: readonly Permission[];
  readonly shownByDifference?: readonly string[];
  /** Lines for the person besides those of the files. */
  readonly lines?: readonly string[];
  /** Runs in the gate, after the files were written. Its text is added to the answer. */
  readonly afterwards?: () => string;
}

/**
 * A call that changes files: measured by content where each path really leads, shown with its whole difference, done
 * through the journal or not at all. Throws `unsafe-path` where a path leads out of the project.
 */
export function prepareChanges(call: PlannedCall): PreparedCall {
  const { context, journal, files } = call;
  const seen = new Set<string>();
  for (const { path } of files) {
    assertInside(path);
    if (seen.has(path.real)) throw new UserError('bad-message', `${path.asked} is named twice in one call`);
    seen.add(path.real);
  }
  return {
    args: call.args,
    permissions: call.permissions ?? [],
    shownByDifference: call.shownByDifference ?? [],
    measure: async () => {
      const targets = [];
      for (const file of files) {
        const target = await targetOf(context.root, file.path);
        targets.push(newlyFetched(file).length === 0 ? target : { ...target, isProtected: true });
      }
      return targets;
    },
    describe: () => describeChanges(call),
    async run() {
      for (const { path } of files) {
        assertInside(path);
        assertStillThere(context.root, path);
      }
      await assertSaved(call);
      const { principal, conversation, group, groupTitle } = context;
      const root = files[0]?.path.place.base ?? context.root;
      const recorded = await journal.change(
        { root, principal, conversation, group, groupTitle },
        files.map((file) => toWanted(journal, file)),
      );
      const changes = recorded.flatMap(({ id, place, kind }): FileChange[] => {
        const file = files.find(({ path }) => path.place.path === place.path);
        // Folders that were made on the way are in the journal, but are no news.
        if (!file || kind === 'mode') return [];
        const { addedLines, removedLines } = diffOf(file);
        return [{ changeId: id, path: place.path, kind, addedLines, removedLines, undone: false }];
      });
      const after = call.afterwards?.() ?? '';
      return { text: done(call.title, changes) + after, isError: false, changes } satisfies ToolOutput;
    },
  };
}

/** What a person has typed and not saved would be lost, or would undo the change when they save. */
async function assertSaved({ dirtyPaths, files }: PlannedCall): Promise<void> {
  const dirty = (await dirtyPaths?.(files.map(({ path }) => path.real))) ?? [];
  if (dirty.length > 0) {
    throw new UserError(
      'conflict',
      `Open with unsaved changes, so nothing was done: ${dirty.join(', ')}. Ask the person to save.`,
      { paths: dirty },
    );
  }
}

function toWanted(journal: Journal, { path, before, after, kind }: PlannedFile): Wanted {
  const to: WantedState =
    after.kind === 'bytes'
      ? { kind: 'file', digest: journal.keep(after.bytes).digest, mode: after.mode }
      : after;
  return { place: path.place, to, expected: before, ...(kind === undefined ? {} : { kind }) };
}

function done(title: string, changes: readonly FileChange[]): string {
  if (changes.length === 0) return `${title}: nothing was different, so nothing was changed.`;
  const shown = changes.slice(0, 50).map(({ kind, path, addedLines, removedLines }) => {
    const counts = addedLines + removedLines > 0 ? ` (+${addedLines} −${removedLines} lines)` : '';
    return `- ${kind} ${path}${counts}`;
  });
  const rest = changes.length > shown.length ? [`- … and ${changes.length - shown.length} more`] : [];
  return [`Done: ${title}. Saved to disk.`, ...shown, ...rest].join('\n');
}

function describeChanges({ title, files, lines = [] }: PlannedCall): ActDescription {
  const shown = files.flatMap((file) => [
    lineOf(file),
    ...newlyFetched(file).map(
      (address) => `PROTECTED the editor fetches an address that it names: ${address}`,
    ),
  ]);
  const diffs = files.flatMap((file) => {
    const { text } = diffOf(file);
    return text === '' ? [] : [`${headOf(file)}\n${text}`];
  });
  return {
    title,
    lines: [...lines, ...shown],
    fullText: diffs.length === 0 ? null : [...lines, ...shown, '', ...diffs].join('\n'),
  };
}

function lineOf(file: PlannedFile): string {
  const { path, before, after } = file;
  const { addedLines, removedLines } = diffOf(file);
  const what =
    before.kind === 'absent'
      ? after.kind === 'folder'
        ? 'make folder'
        : 'create'
      : after.kind === 'absent'
        ? `delete ${before.kind}`
        : 'change';
  const size = after.kind === 'bytes' ? `, ${after.bytes.length} bytes` : '';
  const link = after.kind === 'link' ? ` → ${after.target}` : '';
  const counts = addedLines + removedLines > 0 ? ` (+${addedLines} −${removedLines} lines${size})` : '';
  const leads = path.asked === path.relative ? '' : ` (asked for as ${path.asked})`;
  return `${path.isProtected ? 'PROTECTED ' : ''}${what} ${path.real}${link}${counts}${leads}`;
}

/** Addresses that the editor would fetch because of this change. */
function newlyFetched({ path, before, beforeBytes, after }: PlannedFile): string[] {
  if (after.kind !== 'bytes') return [];
  const textOf = (bytes: Uint8Array | null) => (bytes === null ? '' : Buffer.from(bytes).toString('utf8'));
  const now = fetchedAddresses(path.relative, textOf(after.bytes));
  const known = before.kind === 'absent' ? undefined : fetchedAddresses(path.relative, textOf(beforeBytes));
  return [...now].filter((address) => !known?.has(address));
}

function headOf({ path, before, after }: PlannedFile): string {
  const from = before.kind === 'absent' ? '/dev/null' : path.relative;
  const to = after.kind === 'absent' ? '/dev/null' : path.relative;
  return `--- ${from}\n+++ ${to}`;
}

const diffs = new WeakMap<PlannedFile, ReturnType<typeof lineDiff>>();

function diffOf(file: PlannedFile): ReturnType<typeof lineDiff> {
  const known = diffs.get(file);
  if (known) return known;
  const before = sideOf(file.before.kind === 'absent' ? new Uint8Array() : file.beforeBytes);
  const after = sideOf(
    file.after.kind === 'bytes' ? file.after.bytes : file.after.kind === 'absent' ? new Uint8Array() : null,
  );
  const none = { text: '', addedLines: 0, removedLines: 0 };
  const binary = { text: '(not text: content is not shown)', addedLines: 0, removedLines: 0 };
  const isContent = file.after.kind === 'bytes' || file.beforeBytes !== null;
  const diff =
    before === undefined || after === undefined ? (isContent ? binary : none) : lineDiff(before, after);
  diffs.set(file, diff);
  return diff;
}

/** Line breaks as they are, so that changing them shows. */
function sideOf(bytes: Uint8Array | null): string | undefined {
  if (bytes === null) return undefined;
  return parseText(bytes) === undefined ? undefined : Buffer.from(bytes).toString('utf8');
}
