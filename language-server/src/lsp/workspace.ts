import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { limits } from '../../../protocol/src/limits.ts';
import { looksLikeAppManifest } from '../../../protocol/src/manifestLanguage.ts';
import { findProjects } from '../project/findProjects.ts';
import { projectFile } from '../project/findCards.ts';
import { ProjectIndex } from '../project/projectIndex.ts';
import { isListedApp } from '../manifests/appFolder.ts';
import { manifestContext, manifestKind, type ManifestContext } from '../manifests/manifestContext.ts';
import type { ManifestKind } from '../manifests/schema.ts';
import { pathOf } from './uris.ts';

/**
 * The projects of a window, seen twice: `saved` is what is on disk, and what runs; `edited` has the text of open
 * editors in its place, and is what diagnostics and lenses speak of.
 */
export class Workspace {
  readonly saved = new ProjectIndex();
  readonly edited = new ProjectIndex({ openText: (path) => this.#open.get(path)?.getText() });
  readonly #open = new Map<string, TextDocument>();
  readonly #dirty = new Set<string>();

  /** Looks for projects in a folder of the window. */
  addFolder(folder: string): void {
    for (const root of findProjects(folder)) this.addProject(root);
  }

  removeFolder(folder: string): void {
    for (const root of this.edited.roots) {
      if (root !== folder && !root.startsWith(join(folder, '/'))) continue;
      this.edited.remove(root);
      this.saved.remove(root);
    }
  }

  addProject(root: string): void {
    this.edited.add(root);
    this.saved.add(root);
  }

  /** The open manifests, by path. */
  get documents(): ReadonlyMap<string, TextDocument> {
    return this.#open;
  }

  /** What kind of manifest an open document is. A file of another program that has the name of an app's is none. */
  kindOf(path: string): ManifestKind | undefined {
    const kind = manifestKind(path);
    if (kind !== 'app' && kind !== 'plugin') return kind;
    const text = this.#open.get(path)?.getText() ?? '';
    if (looksLikeAppManifest(kind, text)) return kind;
    return isListedApp(kind, path, this.edited.stateOf(path)?.loaded) ? kind : undefined;
  }

  /** The text of an open manifest. */
  textOf(path: string): string | undefined {
    return this.kindOf(path) === undefined ? undefined : this.#open.get(path)?.getText();
  }

  /** The folders of the apps and plugins whose manifests are open. */
  get appFolders(): string[] {
    return [...this.#open.keys()]
      .filter((path) => isAppKind(this.kindOf(path)))
      .map((path) => dirname(path))
      .sort();
  }

  /** An editor of a manifest was opened or its text changed. Nothing is read or checked before `flush`. */
  setDocument(document: TextDocument): string | undefined {
    const path = pathOf(document.uri);
    if (path === undefined || !manifestKind(path)) return undefined;
    if (!this.#open.has(path)) this.#adopt(path);
    this.#open.set(path, document);
    this.#dirty.add(path);
    return path;
  }

  closeDocument(uri: string): string | undefined {
    const path = pathOf(uri);
    if (path === undefined || !this.#open.delete(path)) return undefined;
    this.#dirty.add(path);
    return path;
  }

  /** Brings `edited` up to date with the editors. */
  flush(): void {
    const paths = [...this.#dirty];
    this.#dirty.clear();
    for (const path of paths) if (!isAppKind(manifestKind(path))) this.edited.textChanged(path);
  }

  /** Files were made, changed or removed. */
  filesChanged(paths: readonly string[]): void {
    for (const path of paths) if (manifestKind(path) === 'project') this.addProject(dirname(path));
    this.saved.filesChanged(paths);
    this.edited.filesChanged(paths);
  }

  /** What a language feature needs of an open manifest; undefined for any other document. */
  contextOf(uri: string): ManifestContext | undefined {
    const path = pathOf(uri);
    const document = path === undefined ? undefined : this.#open.get(path);
    if (path === undefined || !document || this.kindOf(path) === undefined) return undefined;
    // A text over the limit is one diagnostic and nothing else.
    if (document.getText().length > limits.manifestBytes) return undefined;
    this.flush();
    const state = this.edited.stateOf(path);
    if (state && !state.loaded) this.edited.list();
    return manifestContext(path, document.getText(), state);
  }

  /** Takes in the project of a manifest that lies outside the window's folders or deep in one. */
  #adopt(path: string): void {
    if (this.edited.stateOf(path)) return;
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if (existsSync(join(folder, projectFile))) return this.addProject(folder);
    }
  }
}

/** The manifests that no project holds: nothing of a project is read anew for them. */
function isAppKind(kind: ManifestKind | undefined): boolean {
  return kind === 'app' || kind === 'plugin';
}
