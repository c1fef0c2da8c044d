import {
  DidChangeWatchedFilesNotification,
  WatchKind,
  type Connection,
  type Disposable,
  type FileSystemWatcher,
} from 'vscode-languageserver';
import type { LoadedProject } from '../project/model.ts';
import { uriOf } from './uris.ts';

/** The glob of all files below the folder that a pattern of `cards` begins with. */
function folderGlob(pattern: string): string {
  return `${pattern.replace(/^\.\//, '').replace(/\/?\*?\/?$/, '')}/**`.replace(/^\//, '');
}

/** What to watch: every manifest, and in the folders of cards and of open apps what is made and removed. */
export function watchersFor(
  projects: readonly LoadedProject[],
  appFolders: readonly string[] = [],
): FileSystemWatcher[] {
  const manifests = ['**/sallyport.json', '**/_card.json'].map((globPattern) => ({ globPattern }));
  const folders = projects.flatMap(({ root, manifest }) =>
    [...new Set((manifest?.cards ?? []).map(folderGlob))].sort().map((pattern) => ({
      globPattern: { baseUri: uriOf(root), pattern },
      kind: WatchKind.Create | WatchKind.Delete,
    })),
  );
  const apps = appFolders.map((folder) => ({
    globPattern: { baseUri: uriOf(folder), pattern: '**' },
    kind: WatchKind.Create | WatchKind.Delete,
  }));
  return [...manifests, ...folders, ...apps];
}

/** Keeps the editor's watchers in step with the projects: they are registered anew where the folders of cards change. */
export class Watchers {
  readonly #connection: Connection;
  #registered = '';
  #registration: Promise<Disposable> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  update(projects: readonly LoadedProject[], appFolders: readonly string[]): void {
    const watchers = watchersFor(projects, appFolders);
    const key = JSON.stringify(watchers);
    if (key === this.#registered) return;
    this.#registered = key;
    const before = this.#registration;
    this.#registration = this.#connection.client.register(DidChangeWatchedFilesNotification.type, {
      watchers,
    });
    // The earlier ones go after the later ones came, so that no change falls between.
    void this.#registration
      .then(async () => (await before)?.dispose())
      .catch((error: unknown) => this.#connection.console.warn(`Failed to watch files: ${String(error)}`));
  }
}
