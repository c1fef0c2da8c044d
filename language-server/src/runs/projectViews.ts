import type { RequestHandlers } from '../../../protocol/src/contract.ts';
import type { CardStatus, engineSide } from '../../../protocol/src/engine.ts';
import type { Consents } from '../permissions/consents.ts';
import type { Projects } from '../project/model.ts';
import type { Store } from '../store/store.ts';
import { toProjectView } from './projectView.ts';

export interface ProjectViewsOptions {
  readonly projects: Projects;
  /** The project's scope by its folder; null where the file system has no birth time. */
  readonly scopeOf: (root: string) => string | null;
  /** What history hangs on: the scope, or the path where there is none. */
  readonly projectKey: (root: string) => string;
  readonly isTrusted: () => boolean;
  /** Opened on first need. */
  readonly open: () => {
    readonly store: Store;
    /** The status with its progress of a card that runs. */
    readonly liveStatus: (runId: string, card: string) => CardStatus | undefined;
  };
  readonly consents: Pick<Consents, 'accepted'>;
}

export interface ProjectViews {
  readonly handlers: Pick<RequestHandlers<(typeof engineSide)['requests']>, 'project/list' | 'project/get'>;
  /** Where a card stands in its latest run; null for none. */
  statusOf(root: string, card: string): CardStatus | null;
}

/** The open projects as they are shown, with where each card stands. */
export function createProjectViews(options: ProjectViewsOptions): ProjectViews {
  const { projects, scopeOf, projectKey, isTrusted, consents, open } = options;
  const statusOf: ProjectViews['statusOf'] = (root, card) => {
    const { store, liveStatus } = open();
    const status = store.runs.latestOf(projectKey(root), card)?.status;
    return status ? (liveStatus(status.runId, card) ?? status) : null;
  };
  const viewOf = (named: string) => {
    const project = projects.get(named);
    const { root } = project;
    return toProjectView(project, {
      scope: scopeOf(root),
      trusted: isTrusted(),
      accepted: consents.accepted(root),
      runId: open().store.runs.latest(projectKey(root))?.id ?? null,
      statusOf: (card) => statusOf(root, card),
    });
  };
  return {
    handlers: {
      'project/list': () => projects.list().map(({ root }) => viewOf(root)),
      'project/get': ({ root }) => viewOf(root),
    },
    statusOf,
  };
}
