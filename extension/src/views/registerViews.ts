import { StatusBarAlignment, ThemeColor, window, workspace } from 'vscode';
import { viewIds } from '../commandIds.ts';
import { together, type Disposable } from '../disposable.ts';
import { labels } from '../messages.ts';
import { runningRuns } from '../project/projectState.ts';
import type { Services } from '../services.ts';
import { cardNodes } from './cardNodes.ts';
import { NodeTree } from './nodeTree.ts';
import { RunsList } from './runsList.ts';
import { statusText } from './statusText.ts';

/** The Cards and Runs views and the status bar. */
export function registerViews(services: Services): Disposable {
  return together(registerCards(services), registerRuns(services), registerStatusBar(services));
}

function registerCards({ projects, presence, selection, log }: Services): Disposable {
  const tree = new NodeTree(async () => {
    if (!presence.isPresent) return [];
    try {
      return cardNodes(await projects.projects());
    } catch (error) {
      log.error('Failed to list the projects', error);
      return [];
    }
  });
  const view = window.createTreeView(viewIds.cards, { treeDataProvider: tree, showCollapseAll: true });
  selection.set(() => view.selection[0]);
  const sayTrust = (): void => {
    view.message = presence.isPresent && !workspace.isTrusted ? labels.restrictedView() : undefined;
  };
  return together(
    tree,
    view,
    presence.onDidChange(() => {
      sayTrust();
      tree.refresh();
    }),
    projects.onDidChange(() => tree.refresh()),
    workspace.onDidGrantWorkspaceTrust(sayTrust),
  );
}

function registerRuns({ engine, projects, commands, presence, log }: Services): Disposable {
  const list = new RunsList(engine);
  const tree = new NodeTree(async () => {
    if (!presence.isPresent) return [];
    try {
      return await list.nodes(await projects.projects());
    } catch (error) {
      log.error('Failed to list the runs', error);
      return [];
    }
  });
  const view = window.createTreeView(viewIds.runs, { treeDataProvider: tree });
  return together(
    tree,
    view,
    presence.onDidChange(() => tree.refresh()),
    projects.onDidMoveRun(({ summary }) => {
      list.update(summary);
      tree.refresh();
    }),
    projects.onDidForget(() => {
      list.clear();
      tree.refresh();
    }),
    commands.register('sallyport.loadMoreRuns', async () => {
      await list.more();
      tree.refresh();
    }),
  );
}

function registerStatusBar({ engine, projects, commands, log }: Services): Disposable {
  const item = window.createStatusBarItem('sallyport.status', StatusBarAlignment.Left, 10);
  item.name = 'Sallyport';
  let isRunning = false;
  const draw = (): void => {
    const status = statusText(projects.state, engine.state, workspace.isTrusted);
    const running = runningRuns(projects.state).length > 0;
    if (running !== isRunning) {
      isRunning = running;
      commands
        .setContext('sallyport.running', running)
        .catch((error: unknown) => log.error('Failed to set a context', error));
    }
    if (!status) return item.hide();
    item.text = status.text;
    item.tooltip = status.tooltip;
    item.command = status.command;
    item.accessibilityInformation = { label: status.spoken, role: 'button' };
    item.backgroundColor = status.isAlarm ? new ThemeColor('statusBarItem.errorBackground') : undefined;
    item.show();
  };
  draw();
  return together(
    item,
    projects.onDidChange(draw),
    engine.onDidChangeState(draw),
    workspace.onDidGrantWorkspaceTrust(draw),
  );
}
