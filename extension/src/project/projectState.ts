import type { CardStatus, ProjectView, RunSummary } from '../../../protocol/src/engine.ts';

export interface RunDelta {
  readonly summary: RunSummary;
  readonly cards: readonly { readonly id: string; readonly status: CardStatus }[];
}

/** What the window knows: the open projects and the latest run of each, by root. */
export interface ProjectState {
  readonly projects: readonly ProjectView[];
  readonly runs: ReadonlyMap<string, RunSummary>;
}

export const emptyState: ProjectState = { projects: [], runs: new Map() };

/** The state after the engine listed its projects. Runs of projects that are gone are forgotten. */
export function withProjects(state: ProjectState, projects: readonly ProjectView[]): ProjectState {
  const roots = new Set(projects.map((project) => project.root));
  return { projects, runs: new Map([...state.runs].filter(([root]) => roots.has(root))) };
}

/** The state after one project was read again; null where it is gone. */
export function withProject(state: ProjectState, root: string, project: ProjectView | null): ProjectState {
  const others = state.projects.filter((each) => each.root !== root);
  const at = state.projects.findIndex((each) => each.root === root);
  if (!project) return withProjects(state, others);
  const projects =
    at < 0 ? [...others, project] : state.projects.map((each, index) => (index === at ? project : each));
  return withProjects(state, projects);
}

/** The state after a run moved on. Deltas of an older run than the one shown leave the cards alone. */
export function withDelta(state: ProjectState, delta: RunDelta): ProjectState {
  const { root, runId, startedAt } = delta.summary;
  const shown = state.runs.get(root);
  if (shown && shown.runId !== runId && shown.startedAt > startedAt) return state;
  // A card that went on elsewhere may belong to a run before the one that the cards were last part of.
  if (!shown && state.projects.some((project) => project.root === root && isOlder(delta.summary, project)))
    return state;
  const statuses = new Map(delta.cards.map((card) => [card.id, card.status]));
  const projects = state.projects.map((project) =>
    project.root === root
      ? {
          ...project,
          runId,
          cards: project.cards.map((card) => {
            const status = statuses.get(card.id);
            return status ? { ...card, status } : card;
          }),
        }
      : project,
  );
  return { projects, runs: new Map(state.runs).set(root, delta.summary) };
}

/** True where cards of the project were part of a run that began after this one. */
function isOlder({ runId, startedAt }: RunSummary, project: ProjectView): boolean {
  return (
    project.runId !== runId &&
    project.cards.some(({ status }) => status?.runId === project.runId && startOf(status) > startedAt)
  );
}

function startOf({ startedAt, finishedAt }: CardStatus): number {
  return startedAt ?? finishedAt ?? 0;
}

/** The runs that are under way. */
export function runningRuns(state: ProjectState): RunSummary[] {
  return [...state.runs.values()].filter((run) => run.state === 'running');
}

/** The permissions that wait for a person, as `card permission-key`, sorted. */
export function waitingPermissions(project: ProjectView): string[] {
  return project.cards
    .flatMap((card) =>
      card.permissions.filter((each) => !each.accepted).map((each) => `${card.id} ${each.key}`),
    )
    .sort();
}
