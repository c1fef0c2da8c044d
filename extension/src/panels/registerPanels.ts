import { ViewColumn, window, type WebviewPanel } from 'vscode';
import * as z from 'zod/mini';
import { parseTarget } from '../commandTarget.ts';
import { together, type Disposable } from '../disposable.ts';
import { CanvasPanel } from './canvasPanel.ts';
import { openShell, tabIcon, webviewFolder, webviewOptions } from './openShell.ts';
import { OutputCopies } from './outputCopies.ts';
import type { OutputRef } from './outputFile.ts';
import { openPagePanel } from './pagePanel.ts';
import { PanelGroup } from './panelGroup.ts';
import type { PanelServices } from './panelServices.ts';
import { panelWords } from './panelWords.ts';
import { RunPanel } from './runPanel.ts';
import { createWebviewFiles } from './webviewFiles.ts';

const canvasType = 'sallyport.canvas';
const runType = 'sallyport.run';

/** What a page kept for a reload of the window. It is a claim: the engine says whether the project is open. */
const savedState = z.object({
  root: z.string(),
  runId: z.optional(z.string()),
  selected: z.optional(z.nullable(z.string())),
});

/** Open Canvas and Open Run: one panel of each for a project, and both come back after a reload. */
export function registerPanels(services: PanelServices): Disposable {
  const { commands, picker, engine, extensionUri } = services;
  const files = createWebviewFiles(webviewFolder(extensionUri).fsPath);
  const copies = new OutputCopies(engine);
  const pages = new Set<Disposable>();
  const tools = {
    files,
    copies,
    openPage: (root: string, card: string, output: OutputRef) => {
      const page = openPagePanel(services, files, { root, card, output });
      pages.add(page);
      page.onDidDispose(() => pages.delete(page));
    },
  };
  const fill = (panel: WebviewPanel, kind: 'canvas' | 'run') => {
    panel.iconPath = tabIcon(extensionUri);
    openShell(panel, kind, extensionUri, files).catch((error: unknown) => {
      panel.dispose();
      services.notifier.showError(error);
    });
  };
  const create = (type: string, title: string, column: ViewColumn) =>
    window.createWebviewPanel(type, title, column, {
      ...webviewOptions(extensionUri),
      enableFindWidget: type === canvasType,
    });
  const canvases = new PanelGroup((root, panel) => new CanvasPanel(root, panel, services));
  const runs = new PanelGroup((root, panel) => new RunPanel(root, panel, services, tools));

  const openCanvas = async (...args: unknown[]): Promise<void> => {
    const project = await picker.project(parseTarget(args));
    const { panel, isNew } = canvases.open(project.root, () =>
      create(canvasType, panelWords.canvasTitle(project.name), ViewColumn.Active),
    );
    if (isNew) fill(panel, 'canvas');
    else panel.reveal();
  };
  const openRun = async (...args: unknown[]): Promise<void> => {
    const target = runTarget(args);
    const root = target.root ?? (await rootOfRun(target.runId));
    const project = await picker.project({ ...target, root });
    const { panel, held, isNew } = runs.open(project.root, () =>
      create(runType, panelWords.runTitle(project.name), ViewColumn.Active),
    );
    held.show(target.runId, target.card ?? null);
    if (isNew) fill(panel, 'run');
    else panel.reveal();
  };
  const rootOfRun = async (runId: string | undefined): Promise<string | undefined> =>
    runId === undefined ? undefined : (await engine.call('run/get', { runId })).summary.root;

  const restore = (type: string, take: (root: string, panel: WebviewPanel, state: SavedState) => void) =>
    window.registerWebviewPanelSerializer(type, {
      deserializeWebviewPanel: (panel, state: unknown) => {
        const parsed = z.safeParse(savedState, state);
        if (parsed.success) take(parsed.data.root, panel, parsed.data);
        else panel.dispose();
        return Promise.resolve();
      },
    });

  return together(
    copies,
    canvases,
    runs,
    { dispose: () => pages.forEach((page) => page.dispose()) },
    commands.register('sallyport.openCanvas', openCanvas),
    commands.register('sallyport.openRun', openRun),
    restore(canvasType, (root, panel) => {
      if (canvases.adopt(root, panel)) fill(panel, 'canvas');
    }),
    restore(runType, (root, panel, state) => {
      const held = runs.adopt(root, panel);
      if (!held) return;
      held.show(state.runId, state.selected ?? null);
      fill(panel, 'run');
    }),
  );
}

type SavedState = z.infer<typeof savedState>;

/** A single text is a run here, where other commands take it for a project. */
function runTarget(args: readonly unknown[]) {
  const [first] = args;
  return args.length === 1 && typeof first === 'string' ? { runId: first } : parseTarget(args);
}
