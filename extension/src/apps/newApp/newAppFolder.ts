import { readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Uri, ViewColumn, WorkspaceEdit, window, workspace } from 'vscode';
import { UserError } from '../../../../protocol/src/errors.ts';
import { isEmptyFolder } from '../../native/emptyFolder.ts';

/** What New App does on disk and in the window. Paths are absolute. */
export interface NewAppFolder {
  /** The folders that are open on this machine. */
  open(): readonly { readonly name: string; readonly path: string }[];
  /** A folder that a person chooses; undefined where they turned away. */
  choose(openLabel: string): Promise<string | undefined>;
  isEmpty(folder: string): Promise<boolean>;
  /** Writes files that are not there as one step that VS Code can undo. All or nothing; throws `conflict`. */
  write(folder: string, files: ReadonlyMap<string, string>): Promise<void>;
  show(folder: string): Promise<void>;
}

export const newAppFolder: NewAppFolder = {
  open: () =>
    (workspace.workspaceFolders ?? [])
      .filter(({ uri }) => uri.scheme === 'file')
      .map(({ name, uri }) => ({ name, path: uri.fsPath })),
  choose: async (openLabel) => {
    const [folder] =
      (await window.showOpenDialog({
        canSelectFiles: false,
        canSelectFolders: true,
        canSelectMany: false,
        openLabel,
      })) ?? [];
    return folder?.fsPath;
  },
  isEmpty: (folder) => isEmptyFolder(Uri.file(folder)),
  write: async (folder, files) => {
    const edit = new WorkspaceEdit();
    for (const [path, text] of files)
      edit.createFile(Uri.file(join(folder, path)), { contents: new TextEncoder().encode(text) });
    if (await workspace.applyEdit(edit)) return;
    await takeBack(folder, files);
    throw new UserError('conflict', 'the files of the app could not be written', { path: folder });
  },
  show: async (folder) => {
    const at = (name: string) => Uri.file(join(folder, name));
    await window.showTextDocument(at('app.json'), { preview: false });
    await window.showTextDocument(at('README.md'), {
      viewColumn: ViewColumn.Beside,
      preview: false,
      preserveFocus: true,
    });
  },
};

/** Removes what was written before it failed, and nothing that holds anything else. */
async function takeBack(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const folders = new Set([folder]);
  for (const [path, text] of files) {
    const file = join(folder, path);
    for (let up = dirname(file); up.length > folder.length; up = dirname(up)) folders.add(up);
    if ((await readFile(file, 'utf8').catch(() => undefined)) === text) await rm(file);
  }
  for (const each of [...folders].sort((a, b) => b.length - a.length))
    await rmdir(each).catch(() => undefined);
}
