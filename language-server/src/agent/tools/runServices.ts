import type { PermissionReview, RunView } from '../../../../protocol/src/engine.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import type { Projects } from '../../project/model.ts';
import type { CodeCapture } from '../../runs/captureCode.ts';
import type { History } from '../../runs/history.ts';
import type { Runs } from '../../runs/runs.ts';
import type { Store } from '../../store/store.ts';

/** What the run tools work on: the same services that a person's runs go through. */
export interface RunServices {
  readonly runs: Pick<Runs, 'start' | 'cancel' | 'whenFinished' | 'dryRun'>;
  readonly history: Pick<History, 'view' | 'list' | 'log'>;
  readonly code: CodeCapture;
  readonly blobs: BlobStore;
  readonly store: Store;
}

export interface RunToolDeps {
  readonly projects: Pick<Projects, 'refresh'>;
  /** Opened at the first call that needs them. */
  readonly open: () => RunServices;
  readonly review: (root: string) => PermissionReview;
  /** What history hangs on: the project's scope, or its path. */
  readonly projectKey: (root: string) => string;
  readonly scheduler: { readonly setTimer: (run: () => void, ms: number) => () => void };
}

/** The run, where it belongs to this project. Throws `not-found`; a run of another project is none. */
export function viewOfProject(deps: RunToolDeps, root: string, runId: string): RunView {
  const { history, store } = deps.open();
  const view = history.view(runId);
  const project = deps.projectKey(root);
  const isOwn = store.runs.belongsTo(runId, project);
  if (!isOwn) throw new UserError('not-found', `There is no run ${runId} of this project.`, { runId });
  return view;
}

/** The named run, or the latest of the project. Throws `not-found` where there is none. */
export function chooseRun(deps: RunToolDeps, root: string, runId: string | undefined): string {
  if (runId !== undefined) {
    viewOfProject(deps, root, runId);
    return runId;
  }
  const latest = deps.open().store.runs.latest(deps.projectKey(root));
  if (!latest) throw new UserError('not-found', 'No run of this project is remembered. Call run_cards.', {});
  return latest.id;
}
