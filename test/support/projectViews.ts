import type {
  CardRunView,
  CardStatus,
  CardView,
  ProjectView,
  RunSummary,
} from '../../protocol/src/engine.ts';

/** Views as the engine gives them, with the fields that a test is about put over ordinary ones. */
export function makeStatus(over: Partial<CardStatus> = {}): CardStatus {
  return {
    runId: 'r1',
    cardRunId: 'c1',
    state: 'done',
    cached: false,
    reason: null,
    exitCode: 0,
    isolation: 'bubblewrap',
    runMs: 1200,
    waitMs: 3,
    startedAt: 1000,
    finishedAt: 2200,
    outputBytes: 34_816,
    progress: null,
    ...over,
  };
}

export function makeCard(over: Partial<CardView> = {}): CardView {
  return {
    id: 'load',
    title: 'Load',
    description: '',
    runtime: 'python',
    manifestPath: '/p/cards/load/_card.json',
    entryPath: '/p/cards/load/main.py',
    inputs: [],
    outputs: [],
    viewOutput: null,
    permissions: [],
    blocked: false,
    problems: 0,
    status: null,
    ...over,
  };
}

export function makeProject(over: Partial<ProjectView> = {}): ProjectView {
  return {
    root: '/p',
    name: 'weather',
    scope: 's',
    trusted: true,
    problems: 0,
    cards: [makeCard()],
    runId: null,
    ...over,
  };
}

export function makeRun(over: Partial<RunSummary> = {}): RunSummary {
  return {
    runId: 'r1',
    root: '/p',
    projectName: 'weather',
    state: 'running',
    startedAt: 1000,
    finishedAt: null,
    counts: { done: 1, running: 1, queued: 2 },
    cachedCards: 0,
    ...over,
  };
}

export function makeCardRun(over: Partial<CardRunView> = {}): CardRunView {
  return {
    id: 'load',
    title: 'Load',
    runtime: 'python',
    status: makeStatus(),
    outputs: [],
    logLines: 0,
    logCutBytes: 0,
    ...over,
  };
}

export const hostPermission = {
  key: 'network:api.example.org',
  permission: { name: 'network', host: 'api.example.org' },
  sentence: 'Reach api.example.org over the network',
  accepted: false,
} as const;
