import { FileType, RelativePattern, Uri, workspace } from 'vscode';
import { Emitter } from '../emitter.ts';
import type { Disposable } from '../disposable.ts';

export const projectFile = 'sallyport.json';

/** Whether a folder of this window holds a project. Looks at names alone: the engine reads the files. */
export class ProjectPresence implements Disposable {
  readonly #changed: Emitter<boolean>;
  readonly #folders: Disposable;
  #watchers: Disposable[] = [];
  #isPresent = false;

  constructor(onError: (error: unknown) => void) {
    this.#changed = new Emitter(onError);
    this.#folders = workspace.onDidChangeWorkspaceFolders(() => {
      this.#watch();
      void this.check();
    });
    this.#watch();
  }

  get isPresent(): boolean {
    return this.#isPresent;
  }

  readonly onDidChange = (listener: (isPresent: boolean) => void): Disposable => this.#changed.on(listener);

  /** Looks again, and tells where the answer is another than before. */
  async check(): Promise<boolean> {
    const found = await Promise.all(
      (workspace.workspaceFolders ?? []).map((folder) => hasProject(folder.uri)),
    );
    const isPresent = found.includes(true);
    if (isPresent !== this.#isPresent) {
      this.#isPresent = isPresent;
      this.#changed.fire(isPresent);
    }
    return isPresent;
  }

  dispose(): void {
    this.#folders.dispose();
    this.#changed.dispose();
    for (const each of this.#watchers) each.dispose();
  }

  #watch(): void {
    for (const each of this.#watchers) each.dispose();
    this.#watchers = (workspace.workspaceFolders ?? []).map((folder) => {
      const watcher = workspace.createFileSystemWatcher(
        new RelativePattern(folder, projectFile),
        false,
        true,
        false,
      );
      watcher.onDidCreate(() => void this.check());
      watcher.onDidDelete(() => void this.check());
      return watcher;
    });
  }
}

async function hasProject(folder: Uri): Promise<boolean> {
  if (folder.scheme !== 'file') return false;
  try {
    const stat = await workspace.fs.stat(Uri.joinPath(folder, projectFile));
    return (stat.type & FileType.File) !== 0;
  } catch {
    return false;
  }
}
