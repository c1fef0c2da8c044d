import assert from 'node:assert/strict';
import { join } from 'node:path';
import { appLabels, appNotices, appWords, reviewWords } from '../../../extension/src/appMessages.ts';
import { assertGolden } from '../../support/golden.ts';
import { makeApp, makeReview, makeUpdate } from '../../support/madeApps.ts';

const golden = join(import.meta.dirname, 'goldens', 'appMessages.txt');

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

const { headings, ...reviewTexts } = reviewWords;
const noon = Date.UTC(2026, 11, 30, 12);
const evil = '$(x) [a](command:b)';
const git = { kind: 'git', url: 'https://example.org/notes.git' } as const;

const lines = [
  ...render('notice', appNotices, {
    noApps: [[]],
    noDeleted: [[]],
    noSuchApp: [['ghost']],
    installed: [[makeApp({ name: evil })]],
    notInstalled: [['Notes']],
    updateDeclined: [['Notes', '1.0.0']],
    reviewOpen: [[]],
    changedMeanwhile: [['Notes']],
    nothingWaits: [[]],
    upToDate: [[['Notes']], [['Notes', 'Board']]],
    updated: [['Notes', 'Updated to 1.0.1.']],
    updateWaits: [[{ id: 'notes', name: evil, appVersion: '1.1.0' }]],
    updatesFailed: [[['Notes']], [['Notes', 'Board']]],
    noPlugins: [['Notes']],
    pluginChanged: [
      ['search', 'Notes', 'on'],
      ['search', 'Notes', 'off'],
      ['search', 'Notes', 'removed'],
    ],
    deleted: [[makeApp(), noon]],
    restored: [[makeApp()]],
    exported: [['Notes', '/home/me/notes.sallyport-app', 4096]],
    exportExists: [['/home/me/notes.sallyport-app']],
    notAnApp: [['/home/me/text.md']],
    notOneApp: [[2]],
    notHere: [['https://example.org']],
    storeEmpty: [['https://example.org/index.git']],
  }),
  ...render('review', reviewTexts, {
    title: [[makeReview()], [makeUpdate()], [makeReview({ name: evil })]],
    documentTitle: [[makeReview()]],
    placeholder: [[]],
    version: [
      ['Notes', '1.0.0', undefined],
      ['Notes', '1.1.0', '1.0.0'],
    ],
    official: [[]],
    notOfficial: [[]],
    source: [
      [git],
      [{ ...git, ref: 'v1' }],
      [{ kind: 'folder', path: '/a' }],
      [{ kind: 'zip', path: '/a.zip' }],
      [{ kind: 'backup', path: '/a.sallyport-app' }],
    ],
    sourceWas: [[git]],
    commit: [['c'.repeat(40)]],
    measure: [
      [1, 100],
      [10_000, 1_000_000],
    ],
    data: [[4096]],
    flagged: [[]],
    local: [[]],
    asksNew: [[]],
    dropped: [['Reach a.example over the network']],
    closedPage: [[]],
    closedPlugin: [[]],
    pluginNew: [[]],
    pluginChanged: [[]],
    pluginRemoved: [[]],
    offers: [
      ['find', ''],
      ['find', 'Finds notes'],
    ],
    package: [['leftish', '1.0.0']],
    packageState: [['new'], ['changed'], ['removed'], ['same']],
    more: [[12]],
    nothingNew: [[]],
    neverKeys: [[]],
    unfold: [[1], [4]],
    install: [[makeReview()], [makeUpdate()]],
    installNote: [[]],
    read: [[]],
    readFirst: [[]],
    decline: [[makeReview()], [makeUpdate()]],
    declineNote: [[makeReview()], [makeUpdate()]],
    later: [[]],
    laterNote: [[]],
    reading: [['Notes']],
    decide: [[]],
    bound: [['d'.repeat(64), 'e'.repeat(64)]],
  }),
  ...render('heading', headings, {
    about: [[]],
    reasons: [[]],
    page: [[]],
    plugin: [['search']],
    packages: [[]],
    offers: [['search']],
    integrity: [[]],
    same: [[]],
    bound: [[]],
    answer: [[]],
  }),
  ...render('label', appLabels, {
    version: [['1.0.0']],
    waiting: [['1.1.0']],
    waitingShort: [[]],
    waitingCount: [[1], [2]],
    reachesNothing: [[]],
    reachesNothingTooltip: [[]],
    pluginReachesNothing: [[]],
    plugin: [['search']],
    pluginState: [['on'], ['off'], ['switched-off'], ['removed']],
    pluginsOff: [[1], [2]],
    lastError: [['It threw']],
    hasError: [[]],
    local: [[]],
    usage: [[1000, 2000, 16_000_000]],
    usageWithoutQuota: [[1000]],
    from: [[git]],
    commit: [['c'.repeat(40)]],
    official: [[]],
    deleted: [[2]],
    deletedUntil: [[noon]],
    review: [[]],
    openLog: [[]],
  }),
  ...render('words', appWords, {
    installTitle: [[]],
    importTitle: [[]],
    whereFrom: [[]],
    from: [['git'], ['folder'], ['zip'], ['backup'], ['store']],
    fromDetail: [['git'], ['folder'], ['zip'], ['backup'], ['store']],
    addressPrompt: [[]],
    addressPlaceholder: [[]],
    addressProblem: [['not-an-address'], ['scheme'], ['credentials'], ['query'], ['ref']],
    openFolder: [[]],
    openFile: [[]],
    zipFiles: [[]],
    backupFiles: [[]],
    staging: [[]],
    installing: [['Notes']],
    checking: [['Notes']],
    exporting: [['Notes']],
    readingStore: [[]],
    chooseApp: [[]],
    choosePlugin: [['Notes']],
    chooseDeleted: [[]],
    chooseWaiting: [[]],
    storeTitle: [['https://example.org/index.git']],
    storePlaceholder: [[]],
    storeInstalled: [[]],
    storeAddressPrompt: [[]],
    storeQuestion: [
      [{ index: 'https://example.org/index.git', commit: 'c'.repeat(40), apps: 1 }],
      [{ index: 'https://example.org/index.git', commit: 'c'.repeat(40), apps: 14 }],
    ],
    exportTitle: [['Notes']],
    exportLabel: [[]],
    deleteQuestion: [[makeApp()]],
    removeQuestion: [['search', 'Notes']],
    logTitle: [['Notes']],
    logEmpty: [[]],
  }),
];

describe('the texts about apps', () => {
  it('are as reviewed', () => {
    assertGolden(golden, `${lines.join('\n')}\n`);
  });

  it('let no value become an icon or a link', () => {
    for (const line of lines) assert.doesNotMatch(line, /\$\(x\)|\]\(command/);
  });
});
