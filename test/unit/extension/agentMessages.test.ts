import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  agentLabels,
  agentNotices,
  approvalWords,
  brokerWords,
  chatWords,
  connectWords,
  principalWord,
  sentWords,
  timelineWords,
} from '../../../extension/src/agentMessages.ts';
import { sentReport } from '../../../extension/src/documents/sentReport.ts';
import { timestamp } from '../../../extension/src/figures.ts';
import { assertGolden } from '../../support/golden.ts';

const golden = join(import.meta.dirname, 'goldens', 'agentMessages.txt');

type Words = Readonly<Record<string, (...args: never[]) => unknown>>;
/** Arguments for every text of a group: one entry a function, so a function without one does not compile. */
type Samples<W extends Words> = { readonly [K in keyof W]: Parameters<W[K]>[] };

function render<W extends Words>(name: string, words: W, samples: Samples<W>): string[] {
  return Object.entries(samples as Record<string, unknown[][]>).flatMap(([key, calls]) =>
    calls.map((args) => {
      const value = words[key]?.(...(args as never[]));
      return `${name}.${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
    }),
  );
}

const { headings, ...answers } = approvalWords;

const lines = [
  ...render('broker', brokerWords, {
    noConnection: [[]],
    noStream: [[]],
    readTwice: [[]],
    path: [[]],
    header: [[]],
    tooMany: [[32]],
    redirect: [[]],
    unreachable: [['ECONNREFUSED']],
    tooLong: [[2_097_152]],
    silent: [[]],
    noKey: [['Anthropic']],
    keyGone: [['Anthropic']],
    keyLost: [['Anthropic']],
    vaultLocked: [['Mine']],
    noVaultGrant: [['Mine']],
    vaultUnfit: [['Mine']],
    vaultRefused: [['Mine', 'locked']],
    keyDropped: [['Anthropic']],
    keyRefused: [[401]],
    listStatus: [[500]],
    notAList: [[]],
    modelGone: [['copilot/gpt']],
    modelRefused: [['GPT', 'NoPermissions']],
  }),
  ...render('notice', agentNotices, {
    noVscodeModels: [[]],
    connected: [
      ['Ollama', 1],
      ['$(x) [a](command:b)', 12],
    ],
    noConnections: [[]],
    keyReplaced: [['OpenAI']],
    keyDropped: [['OpenAI']],
    connectionRemoved: [
      ['OpenAI', true],
      ['OpenAI', false],
    ],
    waiting: [[1], [3]],
    nothingWaits: [[]],
    noLongerWaits: [[]],
    declinedAll: [[1], [3]],
    noGrants: [['weather']],
    grantsRevoked: [[1], [2]],
    nothingToUndo: [['undo'], ['redo']],
    undone: [
      ['undo', 3],
      ['redo', 3],
    ],
    planChanged: [[]],
    changeGone: [[]],
    noConversations: [['weather']],
  }),
  ...render('connect', connectWords, {
    title: [[]],
    manage: [[]],
    managePlaceholder: [[]],
    choose: [[]],
    kind: [['anthropic'], ['openai'], ['openai-compatible'], ['ollama'], ['vscode']],
    looking: [[]],
    offered: [[0], [4]],
    vscodeDetail: [[]],
    remoteDetail: [['api.openai.com']],
    compatibleDetail: [[]],
    ollamaMissing: [[]],
    ollamaFound: [[1], [2]],
    ollamaDetail: [[]],
    keyPrompt: [
      ['https://a.example', true],
      ['https://a.example', false],
    ],
    keyProblem: [['empty'], ['too-long'], ['inner-space'], ['characters']],
    addressPrompt: [[]],
    addressProblem: [['not-a-url'], ['scheme'], ['plain-http'], ['credentials'], ['query']],
    modelPrompt: [['It did not answer.']],
    modelPlaceholder: [[]],
    modelProblem: [[]],
    listing: [['Ollama']],
    storageLost: [[]],
    fromVault: [[]],
    connectionDetail: [
      [1, 'saved'],
      [3, 'saved'],
      [3, 'in-vault'],
      [3, 'for-this-window'],
      [3, 'none'],
      [3, 'gone'],
      [3, 'lost'],
      [3, 'other-origin'],
      [3, 'not-needed'],
    ],
    act: [['rename'], ['key'], ['address'], ['models'], ['remove']],
    namePrompt: [[]],
    nameProblem: [[]],
    removeQuestion: [['OpenAI']],
  }),
  ...render('approval', answers, {
    title: [['edit']],
    placeholder: [[]],
    listTitle: [[2]],
    listPlaceholder: [[]],
    declineAll: [[2]],
    asker: [
      ['agent', 'Compare\u202e years'],
      ['external-agent', null],
    ],
    flagged: [[]],
    openText: [[]],
    readFirst: [[]],
    allowOnce: [[]],
    allowOnceNote: [[]],
    grant: [
      ['read', false],
      ['write', true],
      ['run', true],
      ['shell', true],
    ],
    decline: [[]],
    declineNote: [[]],
    explain: [[]],
    explainTitle: [['edit']],
    back: [[]],
    documentTitle: [['edit', 'a1']],
    boundTo: [['abc', '2026-03-01 09:05:07']],
    targetKind: [
      ['path'],
      ['host'],
      ['run'],
      ['script'],
      ['project'],
      ['connection'],
      ['usage'],
      ['storage'],
    ],
    isProtected: [[]],
    isOutside: [[]],
    isMissing: [[]],
    wholeProject: [[]],
    grantWould: [['run']],
    noGrantWould: [[]],
    verdict: [['allow'], ['ask'], ['deny']],
    tryOut: [[]],
    tryOutTitle: [['edit']],
    tryOutTool: [[]],
    tryOutArguments: [['edit']],
    notAnObject: [[]],
    asksEachTime: [[]],
    isQuestion: [[]],
    questionTitle: [[''], ['Years']],
    ownAnswer: [['both']],
    noAnswer: [[]],
    grantsTitle: [['weather']],
    grantsPlaceholder: [[]],
    grantLabel: [
      ['read', true],
      ['read', false],
    ],
    grantedAt: [['2026-03-01 09:05:07']],
  }),
  ...render('heading', headings, {
    act: [[]],
    wholeText: [[]],
    permissions: [[]],
    particulars: [[]],
    targets: [[]],
    rule: [[]],
    answer: [[]],
    bound: [[]],
    grant: [[]],
    verdict: [[]],
  }),
  ...render('timeline', timelineWords, {
    changes: [[1], [3]],
    undoneOf: [
      [1, 3],
      [3, 3],
    ],
    undone: [[]],
    untitled: [[]],
    by: [['agent'], ['person'], ['external-agent'], ['card:load']],
    kind: [['create'], ['edit'], ['delete'], ['rename'], ['mode']],
    openChange: [[]],
    diffTitle: [['notes.md']],
    tooLarge: [['20 MB']],
    binary: [['3 B']],
    used: [['12 MB', '1.0 GB']],
    more: [[]],
    apply: [
      ['undo', 2],
      ['redo', 2],
    ],
    applyRest: [[1]],
    previewTitle: [
      ['undo', 1],
      ['undo', 2],
      ['redo', 1],
      ['redo', 2],
    ],
    previewPlaceholder: [[]],
    action: [['restore'], ['remove'], ['recreate'], ['mode'], ['nothing']],
    conflict: [['changed-since'], ['dirty-editor'], ['pruned'], ['outside'], ['protected']],
  }),
  ...render('sent', sentWords, {
    choose: [[]],
    title: [['Years']],
    head: [
      ['AT', 'openai', 'responses', 200, '12 KB'],
      ['AT', 'openai', 'responses', null, '0 B'],
    ],
    nothing: [[]],
    cut: [[200]],
  }),
  ...render('chat', chatWords, {
    running: [['edit']],
    confirmTitle: [['edit']],
    confirm: [[]],
    failed: [['A person declined this']],
    noProject: [[]],
    instructions: [[]],
    unknownTool: [['edit']],
    tooManyRounds: [[25]],
  }),
  ...render('label', agentLabels, {
    waitingName: [[]],
    waitingCount: [[2]],
    waitingTooltip: [[]],
    waitingSpoken: [[1], [2]],
  }),
];

describe('the texts around models, keys, approvals and the timeline', () => {
  it('read as their golden says', () => {
    assertGolden(golden, `${lines.join('\n')}\n`);
  });

  it('let nothing through that would be read as a link, an icon or another direction', () => {
    const all = lines.join('\n');
    assert.ok(!all.includes('\u202e') && !all.includes('](command:') && !all.includes('$(x)'));
    assert.equal(principalWord('plugin:a/\u202eb'), 'plugin:a/\\u{202E}b');
  });
});

describe('the view of what was sent', () => {
  it('holds each request whole, escaped, with where it went', () => {
    const request = { at: 0, connection: 'openai', path: 'responses', status: 200, receivedBytes: 2048 };
    const { title, text } = sentReport(
      'Years',
      [
        { ...request, body: '{"model":"m","input":"a\u202eb"}' },
        { ...request, body: 'no JSON', status: null },
      ],
      true,
    );
    assert.equal(title, 'Sent in “Years”');
    assert.ok(text.includes(`${timestamp(0)}  openai  responses  200  received 2.0 KB`), text);
    assert.ok(
      text.includes('"input": "a\\u{202E}b"') && text.includes('no JSON') && text.includes('newest 2'),
    );
    assert.match(sentReport('Years', [], false).text, /Nothing was sent yet/);
  });
});
