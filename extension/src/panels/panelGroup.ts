import type { WebviewPanel } from 'vscode';
import type { Disposable } from '../disposable.ts';

interface Held<T> {
  readonly panel: WebviewPanel;
  readonly held: T;
}

/** At most one panel for each project. A closed panel frees what was held for it. */
export class PanelGroup<T extends Disposable> implements Disposable {
  readonly #create: (root: string, panel: WebviewPanel) => T;
  readonly #open = new Map<string, Held<T>>();

  constructor(create: (root: string, panel: WebviewPanel) => T) {
    this.#create = create;
  }

  /** The project's panel, or a new one. */
  open(root: string, newPanel: () => WebviewPanel): Held<T> & { readonly isNew: boolean } {
    const known = this.#open.get(root);
    if (known) return { ...known, isNew: false };
    return { ...this.#hold(root, newPanel()), isNew: true };
  }

  /** Takes a panel that VS Code restored. Undefined where the project has one already: the restored one is closed. */
  adopt(root: string, panel: WebviewPanel): T | undefined {
    if (this.#open.has(root)) {
      panel.dispose();
      return undefined;
    }
    return this.#hold(root, panel).held;
  }

  dispose(): void {
    for (const { panel } of [...this.#open.values()]) panel.dispose();
  }

  #hold(root: string, panel: WebviewPanel): Held<T> {
    const entry = { panel, held: this.#create(root, panel) };
    this.#open.set(root, entry);
    panel.onDidDispose(() => {
      this.#open.delete(root);
      entry.held.dispose();
    });
    return entry;
  }
}
