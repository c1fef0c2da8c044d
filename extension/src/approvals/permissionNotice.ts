import { workspace } from 'vscode';
import { notices } from '../messages.ts';
import type { Notifier } from '../notifier.ts';
import type { ProjectStore } from '../project/projectStore.ts';
import { waitingPermissions, type ProjectState } from '../project/projectState.ts';
import { together, type Disposable } from '../disposable.ts';

/**
 * Says once that permissions wait, when a project is opened and whenever another one comes to wait. Quiet in an
 * untrusted workspace, where nothing could run anyway.
 */
export function watchWaitingPermissions(store: ProjectStore, notifier: Notifier): Disposable {
  const told = new Map<string, ReadonlySet<string>>();
  const look = ({ projects }: ProjectState): void => {
    if (!workspace.isTrusted) return;
    for (const project of projects) {
      const waiting = new Set(waitingPermissions(project));
      const before = told.get(project.root) ?? new Set();
      told.set(project.root, waiting);
      if ([...waiting].every((each) => before.has(each))) continue;
      notifier.show(notices.permissionsWaiting(project.name, project.root, waiting.size));
    }
  };
  return together(
    store.onDidChange(look),
    workspace.onDidGrantWorkspaceTrust(() => look(store.state)),
  );
}
