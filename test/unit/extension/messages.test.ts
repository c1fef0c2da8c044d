import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  choose,
  errorNotice,
  labels,
  notices,
  questions,
  type Notice,
} from '../../../extension/src/messages.ts';
import { panelWords } from '../../../extension/src/panels/panelWords.ts';
import { errorCodes, UserError } from '../../../protocol/src/errors.ts';
import { assertGolden } from '../../support/golden.ts';

const golden = join(import.meta.dirname, 'goldens', 'messages.txt');
const rlo = '\u202e';

/** Arguments for every notice, label and question: one entry a function, so a function without one does not compile. */
const noticeSamples: { [K in keyof typeof notices]: Parameters<(typeof notices)[K]>[] } = {
  noProject: [[]],
  notTrusted: [[]],
  nothingRunning: [[]],
  noCards: [['weather']],
  cardHasNotRun: [['Monthly means']],
  noCode: [['List files']],
  unknownCard: [['monthly']],
  nothingToReview: [['weather']],
  noPersistentScope: [['/data/weather']],
  permissionsWaiting: [
    ['weather', '/data/weather', 1],
    [`wea${rlo}ther`, '/data/weather', 3],
  ],
  permissionsAccepted: [[1], [3]],
  nothingAccepted: [[]],
  reviewChanged: [['/data/weather']],
  nothingToRevoke: [['weather']],
  permissionRevoked: [['Weather today']],
  runFailed: [
    ['r1', ['Load']],
    ['r1', ['Load', 'Means', 'Report', 'Chart', '[x](command:workbench.action.quit)']],
  ],
  runBlocked: [
    ['/data/weather', ['Weather today']],
    ['/data/weather', ['A', 'B']],
  ],
  runUnknown: [['r1']],
  engineGaveUp: [[4, 3]],
  engineNotice: [['The store was repaired']],
  engineRestarted: [[]],
  cleaned: [
    [1, '12 KB'],
    [12, '3.4 MB'],
  ],
  nothingToClean: [['3.4 MB']],
  folderNotEmpty: [['/data/full']],
  notLocal: [['memfs:/x']],
};

const labelSamples: { [K in keyof typeof labels]: Parameters<(typeof labels)[K]>[] } = {
  reachesNothing: [[]],
  reachesNothingTooltip: [[]],
  accepted: [[]],
  notAccepted: [[]],
  manifestErrors: [[1], [2]],
  blockedBy: [[1], [2]],
  input: [['weather']],
  output: [['chart']],
  fromCard: [['table', 'load/weather']],
  notWired: [
    ['table', true],
    ['table', false],
  ],
  shown: [['vega-lite']],
  lastRun: [['2026-03-01 09:05:07']],
  ranFor: [['0.3 s', '0 ms', '48 KB']],
  review: [[]],
  openManifest: [[]],
  openRun: [[]],
  restrictedView: [[]],
  doctorRuns: [[]],
  showOlder: [[]],
  cards: [[1], [6]],
  fromCache: [[4]],
  spokenCard: [
    ['Means', 'done', 0],
    ['Means', 'blocked', 1],
    ['Means', 'blocked', 2],
  ],
  runningTitle: [['weather']],
  runningDetail: [[3, 6]],
  statusIdle: [[]],
  statusRunning: [[3, 6]],
  statusFailed: [[1]],
  statusBlocked: [[2]],
  statusProblems: [[1]],
  statusDone: [[6]],
  statusStopped: [[]],
  statusStoppedTooltip: [[]],
  statusRestricted: [[]],
  statusTooltip: [['weather']],
  statusReviewTooltip: [['weather']],
};

const chooseSamples: { [K in keyof typeof choose]: Parameters<(typeof choose)[K]>[] } = {
  project: [[]],
  card: [[]],
  run: [[]],
  reviewTitle: [['/data/weather']],
  review: [[]],
  readFirst: [[]],
  wholeText: [[]],
  isNew: [[]],
  isAccepted: [[]],
  acceptedBefore: [[]],
  hiddenCharacters: [[]],
  revokeTitle: [['/data/weather']],
  revoke: [[]],
  newProjectFolder: [[]],
};

type Words = Omit<typeof panelWords, 'formats'>;
const words: Words = panelWords;
const panelSamples: { [K in keyof Words]: Parameters<Words[K]>[] } = {
  canvasTitle: [['weather'], [`wea${rlo}ther`]],
  runTitle: [['weather']],
  pageTitle: [['report', 'page']],
  noRun: [['weather']],
  noSuchRun: [[]],
  savePicture: [[]],
};

const questionSamples: { [K in keyof typeof questions]: Parameters<(typeof questions)[K]>[] } = {
  newProject: [['/data/new', ['sallyport.json', 'cards/throws/_card.json']]],
  cleanUp: [
    ['3.4 MB', '40 MB', 1],
    ['3.4 MB', '40 MB', 12],
  ],
  openNewProject: [['/data/new']],
};

const errorData = {
  path: '/data/weather/cards/load/_card.json',
  remedy: 'Make the file smaller.',
};

describe('messages', () => {
  it('renders every text as its golden says', () => {
    const lines = [
      ...rendered('notice', notices, noticeSamples),
      ...errorCodes.map((code) => {
        const notice = errorNotice(new UserError(code, 'The engine’s own sentence', errorData));
        return `error ${code}: ${notice ? shown(notice) : '(nothing)'}`;
      }),
      `error of another kind: ${shown(errorNotice(new TypeError('x is undefined')))}`,
      ...rendered('choose', choose, chooseSamples),
      ...rendered('question', questions, questionSamples),
      ...rendered('label', labels, labelSamples),
      ...rendered('panel', words, panelSamples),
    ];
    assertGolden(golden, `${lines.join('\n')}\n`);
  });

  it('has one action at most, and a remedy or an action for every error', () => {
    for (const code of errorCodes) {
      const notice = errorNotice(new UserError(code, 'why', errorData));
      if (code === 'cancelled') assert.equal(notice, undefined);
      else assert.ok(notice && (notice.action ?? notice.text.includes('Make the file smaller')), code);
    }
  });

  it('lets no project value through as icon, link or hidden character', () => {
    const hostile = `$(check) ok [Accept](command:x) ${rlo}evil\u200b`;
    for (const notice of [
      notices.runFailed('r', [hostile]),
      notices.permissionsWaiting(hostile, '/r', 1),
      errorNotice(new UserError('bad-project', hostile)),
      errorNotice(new UserError('unreadable', hostile, { path: hostile })),
    ]) {
      const text = notice?.text ?? '';
      assert.doesNotMatch(text, /\$\(|\]\(|[\u200b\u202e]/u);
      assert.match(text, /\\u\{202E\}/);
    }
  });
});

function shown(notice: Notice | undefined): string {
  return notice
    ? `(${notice.severity}) ${notice.text}${notice.action ? ` [${notice.action.title}]` : ''}`
    : '';
}

function rendered(
  kind: string,
  functions: Readonly<Record<string, (...args: never[]) => unknown>>,
  samples: Readonly<Record<string, readonly (readonly unknown[])[]>>,
): string[] {
  return Object.entries(functions).flatMap(([name, make]) =>
    (samples[name] ?? []).map((args) => {
      const value = make(...(args as never[]));
      const text =
        typeof value === 'string'
          ? value
          : 'severity' in Object(value)
            ? shown(value as Notice)
            : JSON.stringify(value);
      return `${kind} ${name}: ${text}`;
    }),
  );
}
