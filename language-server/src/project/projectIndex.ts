import { dirname, resolve, sep } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { projectFile } from './findCards.ts';
import type { Disposable, LoadedProject, Projects } from './model.ts';
import { ProjectState, type OpenText } from './projectState.ts';

/**
 * The projects at a set of folders. Nothing is watched here: whoever learns of a change says so with `filesChanged` or
 * `textChanged`, or asks with `refresh`. A project is read when it is first asked for.
 */
export class ProjectIndex implements Projects {
  readonly #openText: OpenText;
  readonly #states = new Map<string, ProjectState>();
  readonly #unread = new Set<string>();
  readonly #listeners = new Set<(root: string) => void>();

  constructor(options: { readonly roots?: readonly string[]; readonly openText?: OpenText } = {}) {
    this.#openText = options.openText ?? (() => undefined);
    for (const root of options.roots ?? []) this.add(root);
  }

  /** Takes a folder in that holds, or may come to hold, a `sallyport.json`. */
  add(folder: string): void {
    const root = resolve(folder);
    if (this.#states.has(root)) return;
    this.#states.set(root, new ProjectState(root, this.#openText));
    this.#unread.add(root);
  }

  remove(folder: string): void {
    const root = resolve(folder);
    this.#unread.delete(root);
    if (this.#states.delete(root)) this.#tell(root);
  }

  get roots(): readonly string[] {
    return [...this.#states.keys()];
  }

  list(): LoadedProject[] {
    return [...this.#states.values()]
      .flatMap((state) => this.#read(state).loaded ?? [])
      .sort((a, b) => (a.root < b.root ? -1 : 1));
  }

  get(root: string): LoadedProject {
    const state = this.#states.get(resolve(root));
    const loaded = state && this.#read(state).loaded;
    if (!loaded) {
      throw new UserError(
        'no-project',
        `There is no ${projectFile} in ${root}. Open the folder that holds one.`,
        {
          root,
        },
      );
    }
    return loaded;
  }

  refresh(root: string): LoadedProject {
    const state = this.#states.get(resolve(root));
    if (state) this.#refresh(state);
    return this.get(root);
  }

  /** Files of these paths were made, changed or removed. */
  filesChanged(paths: readonly string[]): void {
    const touched = new Set(paths.flatMap((path) => this.stateOf(path) ?? []));
    for (const state of touched) this.#refresh(state);
  }

  /** The editor text of one manifest changed, or its editor was closed. */
  textChanged(path: string): void {
    const state = this.stateOf(path);
    if (!state) return;
    if (this.#unread.has(state.root)) this.#refresh(state);
    else if (state.update(path)) this.#tell(state.root);
  }

  /** The innermost known project that a path is in. */
  stateOf(path: string): ProjectState | undefined {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const state = this.#states.get(folder);
      if (state) return state;
      if (folder === dirname(folder) || !folder.includes(sep)) return undefined;
    }
  }

  onDidChange(listener: (root: string) => void): Disposable {
    // One entry for each registration, so that a listener registered twice is undone once at a time.
    const entry = (root: string) => listener(root);
    this.#listeners.add(entry);
    return { dispose: () => void this.#listeners.delete(entry) };
  }

  #read(state: ProjectState): ProjectState {
    if (this.#unread.delete(state.root)) state.refresh();
    return state;
  }

  #refresh(state: ProjectState): void {
    this.#unread.delete(state.root);
    if (state.refresh()) this.#tell(state.root);
  }

  #tell(root: string): void {
    for (const listener of [...this.#listeners]) listener(root);
  }
}
