import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { FileState } from '../../history/fileState.ts';
import { hashOnly } from '../../history/hashOnly.ts';
import { scanFolder } from '../../history/scanFolder.ts';
import { absolutePath } from '../../history/place.ts';
import { about, defineTool } from './defineTool.ts';
import { editableBytes, newFile } from './editTool.ts';
import { prepareChanges, type ChangeDeps, type PlannedFile } from './fileChanges.ts';
import type { Tool } from './tool.ts';
import { assertInside, missing, readPlace, stateAt, toolEntry, toolPath, type ToolPath } from './toolPath.ts';

/** More than this in one folder is not moved or deleted by one call. */
const mostEntries = 5000;
const mostBytes = 512 * 1024 * 1024;

const createInput = z.strictObject({
  path: about('The file to make, relative to the project. Folders on the way are made.', z.string()),
  text: about('Its whole text.', z.string()),
  executable: z.optional(about('True for a program that can be started.', z.boolean())),
});

/** `create`: a file that is not there yet. */
export function createCreateTool({ journal, dirtyPaths }: ChangeDeps): Tool {
  return defineTool({
    name: 'create',
    description: 'Makes a text file that is not there yet. To change one that is there use edit.',
    input: createInput,
    list: 'ordinary',
    effect: 'write',
    async prepare({ path: asked, text, executable = false }, context) {
      const path = toolPath(context.root, asked);
      assertInside(path);
      if (path.exists) throw new UserError('conflict', `${asked} is there already. Change it with edit.`);
      const bytes = Buffer.from(text);
      const file: PlannedFile = {
        ...newFile(path, bytes),
        after: { kind: 'bytes', bytes, mode: executable ? 0o755 : null },
      };
      return prepareChanges({
        context,
        journal: journal(),
        dirtyPaths,
        args: { path: asked, text, executable },
        title: `Create ${path.relative}${executable ? ' (executable)' : ''}`,
        files: [file],
      });
    },
  });
}

const deleteInput = z.strictObject({
  path: about('The file, link or folder. A folder goes with all that is in it.', z.string()),
});

/** `delete`: a file, a link (not what it leads to), or a folder with everything in it. */
export function createDeleteTool({ journal, dirtyPaths }: ChangeDeps): Tool {
  return defineTool({
    name: 'delete',
    description: 'Deletes a file, a link or a folder with all that is in it. A person can undo it.',
    input: deleteInput,
    list: 'ordinary',
    effect: 'delete',
    async prepare({ path: asked }, context) {
      const path = toolEntry(context.root, asked);
      const all = await everythingAt(context.root, path);
      return prepareChanges({
        context,
        journal: journal(),
        dirtyPaths,
        args: { path: asked },
        title: `Delete ${path.relative}${all.length > 1 ? ` and all that is in it (${all.length - 1})` : ''}`,
        files: all.map(({ path: each, state }) => ({
          path: each,
          before: state,
          beforeBytes: contentOf(each, state),
          after: { kind: 'absent' },
        })),
      });
    },
  });
}

const renameInput = z.strictObject({
  from: about('The file, link or folder.', z.string()),
  to: about('Its new path, which must be free. Folders on the way are made.', z.string()),
});

/** `rename`: a file, link or folder gets another path. What is there already is never replaced. */
export function createRenameTool({ journal, dirtyPaths }: ChangeDeps): Tool {
  return defineTool({
    name: 'rename',
    description: 'Moves a file, link or folder to another path in the project, which must be free.',
    input: renameInput,
    list: 'ordinary',
    effect: 'rename',
    async prepare({ from, to }, context) {
      const { root } = context;
      const source = toolEntry(root, from);
      const target = toolEntry(root, to);
      assertInside(target);
      if (target.exists && target.real !== source.real) {
        throw new UserError('conflict', `${to} is there already; nothing is replaced by a rename`);
      }
      if (target.relative === source.relative) throw new UserError('conflict', 'Both paths are the same');
      if (target.relative.startsWith(`${source.relative}/`))
        throw new UserError('conflict', 'A folder can’t be moved into itself');
      const all = await everythingAt(root, source);
      const files = all.flatMap(({ path, state }): PlannedFile[] => {
        const rest = path.relative.slice(source.relative.length);
        const end = rest === '' ? target : toolEntry(root, `${target.relative}${rest}`);
        return [
          { path, before: state, beforeBytes: null, after: { kind: 'absent' }, kind: 'rename' },
          { path: end, before: { kind: 'absent' }, beforeBytes: null, after: state, kind: 'rename' },
        ];
      });
      return prepareChanges({
        context,
        journal: journal(),
        dirtyPaths,
        args: { from, to },
        title: `Rename ${source.relative} to ${target.relative}`,
        files,
      });
    },
  });
}

/** A path and, for a folder, everything in it, each judged by itself: what is protected in it is seen. */
async function everythingAt(root: string, path: ToolPath): Promise<{ path: ToolPath; state: FileState }[]> {
  assertInside(path);
  const state = await stateAt(path.place, mostBytes);
  if (state.kind === 'absent') throw missing(path);
  const all: { path: ToolPath; state: FileState }[] = [{ path, state }];
  if (state.kind !== 'folder') return all;
  const found = await scanFolder(absolutePath(path.place), {
    blobs: hashOnly,
    limitBytes: mostBytes,
    limitEntries: mostEntries,
  });
  for (const [below, look] of found)
    all.push({ path: toolEntry(root, `${path.relative}/${below}`), state: look.state });
  return all;
}

function contentOf(path: ToolPath, state: FileState): Uint8Array | null {
  return state.kind === 'file' && state.sizeBytes <= editableBytes ? readPlace(path, editableBytes) : null;
}
