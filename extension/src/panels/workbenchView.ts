import {
  ViewColumn,
  window,
  type Uri,
  type WebviewPanel,
  type WebviewView,
  type WebviewViewProvider,
} from 'vscode';
import { viewIds } from '../commandIds.ts';
import type { CommandRegistry } from '../commandRegistry.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Log } from '../log.ts';
import type { Notifier } from '../notifier.ts';
import { openShell, tabIcon, webviewOptions } from './openShell.ts';
import type { WebviewFiles } from './webviewFiles.ts';
import type { WorkbenchController } from './workbenchController.ts';
import { WorkbenchPage } from './workbenchPage.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export const workbenchType = 'sallyport.workbenchEditor';

export interface WorkbenchPlaces {
  readonly controller: WorkbenchController;
  readonly extensionUri: Uri;
  readonly files: WebviewFiles;
  readonly commands: CommandRegistry;
  readonly notifier: Notifier;
  readonly log: Log;
}

/** The workbench in the side bar. Where its page dies, the view is taken away and brought back, with a new renderer. */
export class WorkbenchView implements WebviewViewProvider {
  readonly #places: WorkbenchPlaces;
  #greeting: string | undefined;

  constructor(places: WorkbenchPlaces) {
    this.#places = places;
  }

  resolveWebviewView(view: WebviewView): void {
    const page = fill(this.#places, view, this.#greeting, () => void this.#revive());
    this.#greeting = undefined;
    page.setVisible(view.visible);
    view.onDidChangeVisibility(() => page.setVisible(view.visible));
    view.onDidDispose(() => page.dispose());
  }

  async #revive(): Promise<void> {
    const { commands, log } = this.#places;
    this.#greeting = words.cameBack();
    try {
      await commands.runBuiltin(`${viewIds.workbench}.toggleVisibility`);
      await commands.runBuiltin(`${viewIds.workbench}.toggleVisibility`);
    } catch (error) {
      log.error('Failed to open the workbench again', error);
    }
  }
}

/** The workbench in an editor tab: at most one, and it comes back after a reload. */
export class WorkbenchEditor implements Disposable {
  readonly #places: WorkbenchPlaces;
  #panel: WebviewPanel | undefined;

  constructor(places: WorkbenchPlaces) {
    this.#places = places;
  }

  /** True while a person is in this tab. */
  get isActive(): boolean {
    return this.#panel?.active ?? false;
  }

  open(column: ViewColumn = ViewColumn.Active, greeting?: string): void {
    if (this.#panel) {
      this.#panel.reveal();
      return;
    }
    const options = webviewOptions(this.#places.extensionUri);
    this.adopt(window.createWebviewPanel(workbenchType, words.title(), column, options), greeting);
  }

  /** Takes a panel that VS Code made or restored. */
  adopt(panel: WebviewPanel, greeting?: string): void {
    if (this.#panel) {
      panel.dispose();
      return;
    }
    this.#panel = panel;
    panel.iconPath = tabIcon(this.#places.extensionUri);
    const page = fill(this.#places, panel, greeting, () => {
      const column = panel.viewColumn;
      panel.dispose();
      this.open(column, words.cameBack());
    });
    page.setVisible(panel.visible);
    panel.onDidChangeViewState(() => page.setVisible(panel.visible));
    panel.onDidDispose(() => {
      this.#panel = undefined;
      page.dispose();
    });
  }

  dispose(): void {
    this.#panel?.dispose();
  }
}

function fill(
  places: WorkbenchPlaces,
  place: WebviewPanel | WebviewView,
  greeting: string | undefined,
  onDead: () => void,
) {
  const { controller, extensionUri, files, notifier, log } = places;
  const page = new WorkbenchPage({
    webview: place.webview,
    log,
    handlers: () => controller.handlers(),
    onDead,
    greeting,
  });
  const added = together(page, controller.add(page));
  openShell(place, 'workbench', extensionUri, files).catch((error: unknown) => notifier.showError(error));
  let visible = false;
  return {
    /** A page that is shown again is a new one and has to say that it is alive. */
    setVisible: (isVisible: boolean) => {
      if (isVisible === visible) return;
      visible = isVisible;
      page.setVisible(isVisible);
    },
    dispose: () => added.dispose(),
  };
}
