import { window } from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';
import { agentNotices } from '../agentMessages.ts';
import { viewIds } from '../commandIds.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { NodeTree } from '../views/nodeTree.ts';
import { parseChangeTarget } from './changeTarget.ts';
import { dirtyEditors } from './dirtyEditors.ts';
import { Timeline } from './timeline.ts';
import { Undo, type Direction } from './undo.ts';

/** The Timeline view, diffs of changes, undo and redo, and the engine's question about unsaved editors. */
export function registerTimeline(services: Services): Disposable {
  const { changeDocuments, commands, engine, log, notifier, picker, presence, projects } = services;
  const timeline = new Timeline(engine);
  const undo = new Undo(engine, notifier);
  const tree = new NodeTree(async () => {
    if (!presence.isPresent) return [];
    try {
      const nodes = await timeline.nodes(await projects.projects());
      view.description = timeline.usedText;
      return nodes;
    } catch (error) {
      log.error('Failed to list the changes', error);
      return [];
    }
  });
  const view = window.createTreeView(viewIds.timeline, { treeDataProvider: tree, showCollapseAll: true });

  /** A turn where one is named, else the changes that are named, else the newest turn of the project. */
  const act =
    (direction: Direction) =>
    async (...args: unknown[]): Promise<void> => {
      const target = parseChangeTarget(args);
      const project = await picker.project({ root: target.root });
      if (target.changeIds) return undo.run(project.root, direction, { changeIds: target.changeIds });
      const group = target.group ?? (await timeline.newest(project.root, direction === 'redo'))?.group;
      if (group === undefined) notifier.show(agentNotices.nothingToUndo(direction));
      else await undo.run(project.root, direction, { group });
    };

  return together(
    tree,
    view,
    presence.onDidChange(() => tree.refresh()),
    engine.on('history/changed', ({ root }) => {
      timeline.forget(root);
      tree.refresh();
    }),
    projects.onDidForget(() => {
      timeline.forget();
      tree.refresh();
    }),
    engine.handle({ 'editor/dirty': ({ paths }) => dirtyEditors(paths) }),
    commands.register('sallyport.undoChanges', act('undo')),
    commands.register('sallyport.redoChanges', act('redo')),
    commands.register('sallyport.openTimeline', () => commands.runBuiltin(`${viewIds.timeline}.focus`)),
    commands.register('sallyport.openChange', async (...args) => {
      const [id] = parseChangeTarget(args).changeIds ?? [];
      const change = id === undefined ? undefined : timeline.find(id);
      if (!change) throw new UserError('not-found', agentNotices.changeGone().text);
      await changeDocuments.openDiff(change);
    }),
    commands.register('sallyport.loadMoreChanges', async () => {
      await timeline.more();
      tree.refresh();
    }),
  );
}
