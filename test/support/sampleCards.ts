import type { CardRunView, CardState, CardStatus, CardView, RunSummary } from '../../protocol/src/engine.ts';

/** Cards and runs for tests of what shows them. */
export function sampleStatus(state: CardState, over: Partial<CardStatus> = {}): CardStatus {
  const ended = state !== 'queued' && state !== 'running';
  return {
    runId: 'run-1',
    cardRunId: `run-1-${state}`,
    state,
    cached: false,
    reason: null,
    exitCode: state === 'done' ? 0 : null,
    isolation: 'bubblewrap',
    runMs: ended ? 1240 : null,
    waitMs: 12,
    startedAt: 1_780_000_000_000,
    finishedAt: ended ? 1_780_000_001_240 : null,
    outputBytes: state === 'done' ? 48_312 : 0,
    progress: null,
    ...over,
  };
}

export function sampleCard(id: string, over: Partial<CardView> = {}): CardView {
  return {
    id,
    title: id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' '),
    description: '',
    runtime: 'python',
    manifestPath: `/project/cards/${id}/_card.json`,
    entryPath: `/project/cards/${id}/main.py`,
    inputs: [],
    outputs: [{ name: 'out', type: 'table', optional: false }],
    viewOutput: null,
    permissions: [],
    blocked: false,
    problems: 0,
    status: null,
    ...over,
  };
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
  return {
    runId: 'run-1',
    root: '/project',
    projectName: 'seattle-weather',
    state: 'running',
    startedAt: 1_780_000_000_000,
    finishedAt: null,
    counts: { done: 2, running: 1, failed: 1, queued: 1, blocked: 1 },
    cachedCards: 1,
    ...over,
  };
}

export function sampleCardRun(id: string, over: Partial<CardRunView> = {}): CardRunView {
  return {
    id,
    title: id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' '),
    runtime: 'python',
    status: sampleStatus('done', { cardRunId: `run-1-${id}` }),
    outputs: [],
    logLines: 0,
    logCutBytes: 0,
    ...over,
  };
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
