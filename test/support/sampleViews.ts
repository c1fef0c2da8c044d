import type {
  CardRunView,
  CardState,
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

/** A status that fits its state: times and sizes only where it has ended. */
export function sampleStatus(state: CardState, over: Partial<CardStatus> = {}): CardStatus {
  const ended = state !== 'queued' && state !== 'running';
  return makeStatus({
    runId: 'run-1',
    cardRunId: `run-1-${state}`,
    state,
    exitCode: state === 'done' ? 0 : null,
    runMs: ended ? 1240 : null,
    finishedAt: ended ? 2240 : null,
    outputBytes: state === 'done' ? 48_312 : 0,
    ...over,
  });
}

export function sampleCard(id: string, over: Partial<CardView> = {}): CardView {
  return makeCard({
    id,
    title: titleOf(id),
    manifestPath: `/project/cards/${id}/_card.json`,
    entryPath: `/project/cards/${id}/main.py`,
    outputs: [{ name: 'out', type: 'table', optional: false }],
    ...over,
  });
}

function titleOf(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ');
}

const from = (card: string, type: 'table' | 'json' | 'vega-lite' | 'html' = 'table') => [
  { name: card, type, from: `${card}/out`, optional: false },
];

/** A project with a card in every state. */
export function sampleProject(): CardView[] {
  const network = { name: 'network', host: 'api.example.org:443' } as const;
  return [
    sampleCard('load-weather', { runtime: 'shell', status: sampleStatus('done', { cached: true }) }),
    sampleCard('fetch-stations', {
      runtime: 'node',
      blocked: true,
      permissions: [
        { key: 'network', permission: network, sentence: 'Connect to api.example.org:443', accepted: false },
        { key: 'folder', permission: network, sentence: 'Read the folder ~/data', accepted: true },
      ],
      status: sampleStatus('blocked'),
    }),
    sampleCard('monthly-means', { inputs: from('load-weather'), status: sampleStatus('done') }),
    sampleCard('outliers', {
      inputs: from('load-weather'),
      status: sampleStatus('failed', {
        exitCode: 1,
        reason: { kind: 'exit', detail: 'The card ended with status 1', remedy: 'Read its log.' },
      }),
    }),
    sampleCard('join-stations', {
      inputs: [...from('monthly-means'), ...from('fetch-stations', 'json')],
      runtime: 'js',
      status: sampleStatus('skipped'),
    }),
    sampleCard('chart', {
      inputs: from('monthly-means'),
      runtime: 'js',
      viewOutput: 'out',
      status: sampleStatus('running', { progress: { fraction: 0.42, text: 'drawing 2012 to 2015' } }),
    }),
    sampleCard('heat-map', { inputs: from('monthly-means'), status: sampleStatus('queued') }),
    sampleCard('report', {
      inputs: from('outliers'),
      runtime: 'command',
      entryPath: null,
      status: sampleStatus('cancelled'),
    }),
    sampleCard('archive', { inputs: from('report'), problems: 2 }),
    sampleCard('lost', { inputs: from('heat-map'), status: sampleStatus('unknown') }),
  ];
}

export function sampleRun(over: Partial<RunSummary> = {}): RunSummary {
  return makeRun({
    runId: 'run-1',
    root: '/project',
    projectName: 'seattle-weather',
    counts: { done: 2, running: 1, failed: 1, queued: 1, blocked: 1 },
    cachedCards: 1,
    ...over,
  });
}

export function sampleCardRun(id: string, over: Partial<CardRunView> = {}): CardRunView {
  const status = sampleStatus('done', { cardRunId: `run-1-${id}` });
  return makeCardRun({ id, title: titleOf(id), status, ...over });
}

export function sampleOutput(
  port: string,
  type: CardRunView['outputs'][0]['type'],
  isView = false,
): CardRunView['outputs'][0] {
  return {
    port,
    type,
    isView,
    artifact: { kind: 'file', digest: 'a'.repeat(64), sizeBytes: 20_480, files: 1 },
  };
}
