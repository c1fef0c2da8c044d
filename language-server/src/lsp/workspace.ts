import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { limits } from '../../../protocol/src/limits.ts';
import { findProjects } from '../project/findProjects.ts';
import { projectFile } from '../project/findCards.ts';
import { ProjectIndex } from '../project/projectIndex.ts';
import { manifestContext, manifestKind, type ManifestContext } from '../manifests/manifestContext.ts';
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

  /** Brings `edited` up to date with the editors. Returns the paths that were looked at. */
  flush(): string[] {
    const paths = [...this.#dirty];
    this.#dirty.clear();
    for (const path of paths) this.edited.textChanged(path);
    return paths;
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
    if (path === undefined || !document) return undefined;
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
