import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { FileState } from '../../history/fileState.ts';
import { applyHunks } from './applyHunks.ts';
import { about, defineTool } from './defineTool.ts';
import { applyExactEdits } from './exactEdit.ts';
import { prepareChanges, type ChangeDeps, type PlannedFile } from './fileChanges.ts';
import { parsePatch, type FilePatch } from './patch.ts';
import { parseTextOf, toBytes } from './textFile.ts';
import type { Tool } from './tool.ts';
import { assertInside, missing, readPlace, stateAt, toolEntry, toolPath, type ToolPath } from './toolPath.ts';

/** Larger files are for programs. */
export const editableBytes = 8 * 1024 * 1024;

const input = z.strictObject({
  path: z.optional(about('The file to change, relative to the project. With edits.', z.string())),
  edits: z.optional(
    about(
      'Replacements in that file, done in this order, all or none.',
      z
        .array(
          z.strictObject({
            old: about('The exact text that is there now, spaces and line breaks included.', z.string()),
            new: about('What it becomes.', z.string()),
            all: z.optional(
              about('True to replace every occurrence. Else old must occur once.', z.boolean()),
            ),
          }),
        )
        .check(z.minLength(1), z.maxLength(200)),
    ),
  ),
  patch: z.optional(
    about(
      'Instead of path and edits: a patch over one or more files, as a unified diff or in the form “*** Begin Patch”.',
      z.string().check(z.minLength(1)),
    ),
  ),
});

/** `edit`: exact replacement in one file, or a patch over several at once. */
export function createEditTool({ journal, dirtyPaths }: ChangeDeps): Tool {
  return defineTool({
    name: 'edit',
    description:
      'Changes text files of the project. Give path and edits (exact text that occurs once), or patch (unified diff or *** Begin Patch; may add, delete and move files). All of a call is done or nothing. Line endings, byte order mark and permission bits stay as they are.',
    input,
    list: 'ordinary',
    effect: 'write',
    async prepare({ path, edits, patch }, context) {
      const { root } = context;
      if (patch !== undefined) {
        if (path !== undefined || edits !== undefined)
          throw new UserError('bad-message', 'Give either patch, or path and edits, not both');
        const files: PlannedFile[] = [];
        for (const each of parsePatch(patch)) files.push(...(await planPatch(root, each)));
        return prepareChanges({
          context,
          journal: journal(),
          dirtyPaths,
          args: { patch },
          title: titleOf(files),
          files,
        });
      }
      if (path === undefined || edits === undefined)
        throw new UserError('bad-message', 'Give path and edits, or patch');
      const target = toolPath(root, path);
      const { before, bytes } = await readForChange(target);
      const text = parseTextOf(path, bytes);
      const normal = edits.map(({ old, new: replacement, all }) => ({
        old,
        new: replacement,
        all: all ?? false,
      }));
      const changed = applyExactEdits(path, text.text, normal);
      const files = [changedFile(target, before, bytes, toBytes(changed, text))];
      return prepareChanges({
        context,
        journal: journal(),
        dirtyPaths,
        args: { path, edits: normal },
        title: titleOf(files),
        files,
      });
    },
  });
}

async function planPatch(root: string, patch: FilePatch): Promise<PlannedFile[]> {
  if (patch.kind === 'add') {
    const path = toolPath(root, patch.path);
    assertInside(path);
    if (path.exists) throw new UserError('conflict', `${patch.path} is there already; update it instead`);
    const text = patch.lines.length === 0 ? '' : patch.lines.join('\n') + (patch.endsInBreak ? '\n' : '');
    return [newFile(path, Buffer.from(text))];
  }
  if (patch.kind === 'delete') {
    const path = toolEntry(root, patch.path);
    if (path.isLink) return [removed(path, await stateAt(path.place), null)];
    const { before, bytes } = await readForChange(path);
    return [removed(path, before, bytes)];
  }
  // A file that moves is the thing of that name; one that stays is edited where it really is.
  const path = patch.moveTo === null ? toolPath(root, patch.path) : toolEntry(root, patch.path);
  const { before, bytes } = await readForChange(path);
  const text = parseTextOf(patch.path, bytes);
  const after = toBytes(applyHunks(patch.path, text.text, patch.hunks, patch.endsInBreak), text);
  if (patch.moveTo === null) return [changedFile(path, before, bytes, after)];
  const to = toolPath(root, patch.moveTo);
  assertInside(to);
  if (to.exists) throw new UserError('conflict', `${patch.moveTo} is there already`);
  const mode = before.kind === 'file' ? before.mode : null;
  return [
    { ...removed(path, before, bytes), kind: 'rename' },
    { ...newFile(to, after), after: { kind: 'bytes', bytes: after, mode }, kind: 'rename' },
  ];
}

/** The bytes of a file that is to be changed and its state, which belong together. */
export async function readForChange(path: ToolPath): Promise<{ before: FileState; bytes: Buffer }> {
  assertInside(path);
  const before = await stateAt(path.place, editableBytes);
  if (before.kind === 'absent') throw missing(path);
  const bytes = readPlace(path, editableBytes);
  if (before.kind !== 'file' || hash('sha256', bytes) !== before.digest)
    throw new UserError('conflict', `${path.asked} changed while it was read`);
  return { before, bytes };
}

/** A file that gets other bytes and keeps its permission bits. */
export function changedFile(
  path: ToolPath,
  before: FileState,
  beforeBytes: Buffer,
  bytes: Buffer,
): PlannedFile {
  return { path, before, beforeBytes, after: { kind: 'bytes', bytes, mode: null } };
}

/** A file where none is. */
export function newFile(path: ToolPath, bytes: Buffer): PlannedFile {
  return { path, before: { kind: 'absent' }, beforeBytes: null, after: { kind: 'bytes', bytes, mode: null } };
}

function removed(path: ToolPath, before: FileState, beforeBytes: Buffer | null): PlannedFile {
  return { path, before, beforeBytes, after: { kind: 'absent' } };
}

function titleOf(files: readonly PlannedFile[]): string {
  const [first] = files;
  return files.length === 1 && first ? `Change ${first.path.relative}` : `Change ${files.length} files`;
}
