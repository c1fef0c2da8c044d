import { FileSystemError, FileType, Uri, workspace } from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';

/** Version control's and the editor's own folders: what they hold is never overwritten. */
const besides = ['.git', '.vscode'];

/**
 * True where a folder is not there, or holds nothing that could be overwritten: empty folders do not count, nor do `.git`
 * and `.vscode` at its top. Throws `unreadable`.
 */
export async function isEmptyFolder(folder: Uri): Promise<boolean> {
  try {
    return await holdsNoFile(folder, besides);
  } catch (error) {
    if (error instanceof FileSystemError && error.code === 'FileNotFound') return true;
    throw new UserError(
      'unreadable',
      'the folder could not be read',
      { path: folder.fsPath },
      { cause: error },
    );
  }
}

async function holdsNoFile(folder: Uri, leftOut: readonly string[]): Promise<boolean> {
  const entries = await workspace.fs.readDirectory(folder);
  // A link counts as a file, wherever it leads.
  if (entries.some(([, type]) => type !== FileType.Directory)) return false;
  for (const [name] of entries)
    if (!leftOut.includes(name) && !(await holdsNoFile(Uri.joinPath(folder, name), []))) return false;
  return true;
}
