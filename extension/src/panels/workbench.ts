import { window, workspace, type WebviewPanel } from 'vscode';
import { viewIds } from '../commandIds.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { webviewFolder } from './openShell.ts';
import { createWebviewFiles } from './webviewFiles.ts';
import { workbenchActs } from './workbenchActs.ts';
import { WorkbenchController } from './workbenchController.ts';
import { WorkbenchEditor, workbenchType, WorkbenchView } from './workbenchView.ts';

/** The workbench in the side bar and, by a command, in an editor tab. Starts no engine where there is no project. */
export function registerWorkbench(services: Services): Disposable {
  const { changeDocuments, commands, engine, extensionUri, log, models, notifier, picker, presence } =
    services;
  const { projects, waiting } = services;
  const controller = new WorkbenchController({
    engine,
    picker,
    isTrusted: () => workspace.isTrusted,
    hasProject: () => presence.isPresent,
    projects: () => projects.projects(),
    connections: () => models.list,
    waiting: () => waiting.count,
    act: workbenchActs({ engine, commands, changeDocuments }),
  });
  const files = createWebviewFiles(webviewFolder(extensionUri).fsPath);
  const places = { controller, extensionUri, files, commands, notifier, log };
  const editor = new WorkbenchEditor(places);
  return together(
    controller,
    editor,
    window.registerWebviewViewProvider(viewIds.workbench, new WorkbenchView(places)),
    window.registerWebviewPanelSerializer(workbenchType, {
      deserializeWebviewPanel: (panel: WebviewPanel) => {
        editor.adopt(panel);
        return Promise.resolve();
      },
    }),
    commands.register('sallyport.openWorkbench', () => commands.runBuiltin(`${viewIds.workbench}.focus`)),
    commands.register('sallyport.newConversation', async () => {
      if (!editor.isActive) await commands.runBuiltin(`${viewIds.workbench}.focus`);
      await controller.create();
    }),
    commands.register('sallyport.openWorkbenchEditor', () => editor.open()),
    presence.onDidChange(() => controller.refresh()),
    projects.onDidForget(controller.refresh),
    // An engine that was started again has ended what the one before left open.
    engine.onDidChangeState((state) => {
      if (state === 'running') controller.refresh();
    }),
    workspace.onDidGrantWorkspaceTrust(() => controller.refresh()),
    models.onDidChange((connections) =>
      controller.tell('workbench/connections', { connections: [...connections] }),
    ),
    waiting.onDidChange(() => controller.tell('workbench/waiting', { waiting: waiting.count })),
  );
}
