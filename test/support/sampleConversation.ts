import type { Connection, ConversationSummary, Item } from '../../protocol/src/agent.ts';
import type { ParamsOf } from '../../protocol/src/contract.ts';
import type { workbenchView } from '../../protocol/src/workbench.ts';

export type WorkbenchSnapshot = ParamsOf<(typeof workbenchView.notifications)['workbench/state']>;
type Kind<K extends Item['kind']> = Extract<Item, { kind: K }>;

const startedAt = Date.UTC(2026, 2, 14, 9, 26);

export function sampleSummary(part: Partial<ConversationSummary> = {}): ConversationSummary {
  return {
    id: 'c-1',
    root: '/project',
    title: 'Compare two years and plot them',
    mode: 'act',
    connection: 'anthropic',
    model: 'large',
    state: 'idle',
    items: 9,
    usage: { inputTokens: 48_210, outputTokens: 3120, cachedTokens: 40_000, cost: 0.0841 },
    contextTokens: 18_400,
    contextLimit: 200_000,
    questions: 2,
    createdAt: startedAt,
    updatedAt: startedAt,
    ...part,
  };
}

export const sampleConnections: Connection[] = [
  {
    id: 'anthropic',
    kind: 'anthropic',
    name: 'Anthropic',
    origin: 'https://api.anthropic.com',
    models: [
      { id: 'large', name: 'Large 5', contextTokens: 200_000, inputPrice: 3, outputPrice: 15, images: true },
      { id: 'small', name: 'Small 5', contextTokens: 200_000, inputPrice: 1, outputPrice: 5, images: false },
    ],
  },
  {
    id: 'ollama',
    kind: 'ollama',
    name: 'Ollama on this machine',
    origin: 'http://127.0.0.1:11434',
    models: [
      {
        id: 'q',
        name: 'qwen3:8b',
        contextTokens: 32_768,
        inputPrice: null,
        outputPrice: null,
        images: false,
      },
    ],
  },
];

export function personItem(seq: number, part: Partial<Kind<'person'>> = {}): Kind<'person'> {
  return {
    kind: 'person',
    seq,
    turn: 1,
    text: 'Add a card that compares two years and plots it.',
    mentions: [],
    images: 0,
    at: startedAt,
    isQueued: false,
    ...part,
  };
}

export function answerItem(
  seq: number,
  markdown: string,
  part: Partial<Kind<'answer'>> = {},
): Kind<'answer'> {
  return { kind: 'answer', seq, turn: 1, markdown, ending: 'complete', at: startedAt, ...part };
}

export function toolItem(seq: number, part: Partial<Kind<'tool'>> = {}): Kind<'tool'> {
  return {
    kind: 'tool',
    seq,
    turn: 1,
    opId: `op-${seq}`,
    tool: 'read',
    title: 'Read cards/monthly-means/main.py',
    state: 'done',
    detail: '{ "path": "cards/monthly-means/main.py" }\n\n42 lines',
    waitMs: 0,
    runMs: 12,
    changes: [],
    runId: null,
    at: startedAt,
    ...part,
  };
}

export function noticeItem(seq: number, part: Partial<Kind<'notice'>> = {}): Kind<'notice'> {
  return {
    kind: 'notice',
    seq,
    turn: 1,
    level: 'info',
    text: 'Two rules files are sent along.',
    action: null,
    at: startedAt,
    ...part,
  };
}

/** A whole task as the story of a first day tells it. */
export function sampleItems(): Item[] {
  return [
    noticeItem(1, {
      text: 'AGENTS.md is sent along with each request.',
      action: { command: 'sallyport.showRules', title: 'Show' },
      turn: 0,
    }),
    personItem(2, {
      mentions: [
        { kind: 'card', card: 'monthly-means' },
        { kind: 'file', path: 'sallyport.json' },
      ],
    }),
    answerItem(
      3,
      'I’ll look at how **monthly-means** reads the table first, then add a card beside it.\n\n1. Read the card and its manifest\n2. Write `compare-years`\n3. Run it sealed and look at the chart',
    ),
    toolItem(4),
    toolItem(5, { tool: 'search', title: 'Search “weather” in cards', runMs: 38 }),
    toolItem(6, {
      tool: 'create',
      title: 'Create 2 files in cards/compare-years',
      runMs: 9,
      changes: [
        {
          changeId: 'x1',
          path: 'cards/compare-years/main.py',
          kind: 'create',
          addedLines: 38,
          removedLines: 0,
          undone: false,
        },
        {
          changeId: 'x2',
          path: 'cards/monthly-means/main.py',
          kind: 'edit',
          addedLines: 4,
          removedLines: 2,
          undone: false,
        },
      ],
    }),
    toolItem(7, {
      tool: 'project_save',
      title: 'Save card compare-years',
      waitMs: 14_200,
      runMs: 31,
      changes: [
        {
          changeId: 'x3',
          path: 'cards/compare-years/_card.json',
          kind: 'create',
          addedLines: 17,
          removedLines: 0,
          undone: false,
        },
      ],
    }),
    toolItem(8, { tool: 'run_cards', title: 'Run compare-years', runMs: 1840, runId: 'run-7' }),
    answerItem(
      9,
      [
        'Done. The new card **compare-years** takes the output of `load-weather`, groups it by month and draws both years.',
        '',
        '| month | 2012 | 2015 |',
        '| --- | ---: | ---: |',
        '| January | 7.1 °C | 9.5 °C |',
        '| July | 26.1 °C | 28.1 °C |',
        '',
        '```python',
        'means = (',
        '    weather.groupby([weather.date.dt.year, weather.date.dt.month])',
        '    .temp_max.mean()',
        ')',
        '```',
        '',
        'It asks for no permission. See the [Vega-Lite documentation](https://vega.github.io/vega-lite/docs/) for the chart’s options.',
      ].join('\n'),
    ),
    personItem(10, { turn: 2, text: 'Now fetch 2016 as well.', images: 1 }),
    toolItem(11, {
      turn: 2,
      tool: 'web_fetch',
      title: 'Fetch https://vega.github.io/vega-datasets/',
      state: 'refused',
      waitMs: 4100,
      runMs: 0,
    }),
    toolItem(12, {
      turn: 2,
      tool: 'project_save',
      title: 'Save card load-weather',
      state: 'waiting',
      waitMs: 0,
      runMs: 0,
    }),
    personItem(13, { turn: 3, text: 'Use a bar chart, please.', isQueued: true }),
  ];
}

export function sampleSnapshot(part: Partial<WorkbenchSnapshot> = {}): WorkbenchSnapshot {
  return {
    projectName: 'seattle-weather',
    trusted: true,
    connections: sampleConnections,
    conversation: sampleSummary(),
    items: sampleItems(),
    waiting: 0,
    recent: [],
    ...part,
  };
}

/** A conversation of any length: turns of a question, a tool call and an answer with code. */
export function longConversation(rows: number): Item[] {
  return Array.from({ length: rows }, (_, index) => {
    const seq = index + 1;
    const turn = Math.floor(index / 3) + 1;
    if (index % 3 === 0)
      return personItem(seq, { turn, text: `Question ${turn}: what does card ${turn} do?` });
    if (index % 3 === 1)
      return toolItem(seq, { turn, title: `Read cards/card-${turn}/main.py`, runMs: turn % 90 });
    return answerItem(
      seq,
      `Card **${turn}** reads a table and writes the *mean* of column \`c${turn}\`.\n\n- one\n- two\n\n\`\`\`python\nprint(${turn})\n\`\`\`\n\nThat is all of it.`,
      { turn },
    );
  });
}
