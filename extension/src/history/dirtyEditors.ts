import { realpath } from 'node:fs/promises';
import { workspace } from 'vscode';

/** Which of these absolute paths are open with unsaved changes, also where an editor knows the file by a link. */
export async function dirtyEditors(paths: readonly string[]): Promise<string[]> {
  const open = workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === 'file');
  if (open.length === 0) return [];
  const dirty = new Set<string>();
  for (const { uri } of open) {
    dirty.add(uri.fsPath);
    dirty.add(await resolved(uri.fsPath));
  }
  const found = await Promise.all(
    paths.map(async (path) => dirty.has(path) || dirty.has(await resolved(path))),
  );
  return paths.filter((_path, index) => found[index]);
}

async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}
