import { join } from 'node:path';
import { placesPart, vmImageReport } from '../../../../extension/src/documents/placeReports.ts';
import { timestamp } from '../../../../extension/src/figures.ts';
import {
  placeChoose,
  placeFigures,
  placeLabels,
  placeName,
  placeNotices,
  placeQuestions,
  placeStateWord,
  placeTerminal,
  troubleOf,
} from '../../../../extension/src/placeViewMessages.ts';
import { placeKinds, placeStates } from '../../../../protocol/src/places.ts';
import { assertGolden } from '../../../support/golden.ts';
import { heldJob, placeFacts, samplePlace } from '../../../support/samplePlaces.ts';

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

const evil = '$(x)\u202e';
const ready = samplePlace({ state: 'ready', facts: placeFacts, latencyMs: 12 });
const refused = samplePlace({ state: 'refused', detail: `No Node${evil}`, remedy: 'Install Node' });
const image = {
  builtAt: Date.UTC(2026, 2, 1, 9),
  sizeBytes: 210_000_000,
  node: 'v24.1.0',
  packages: [
    { name: 'bash', version: '5.2', sizeBytes: 7_000_000, licences: ['GPL-3+'] },
    { name: `odd${evil}`, version: '1', sizeBytes: 10, licences: [] },
  ],
  isOutdated: false,
};

const lines = [
  ...['local', 'vm', 'ssh:lab', 'worker:big', 'slurm:head', `no${evil}`].map(placeName),
  ...placeStates.map((state) => placeStateWord({ state, facts: placeFacts })),
  placeFigures(ready),
  placeFigures(samplePlace()),
  ...troubleOf(refused),
  ...render('notice', placeNotices, {
    noOther: [[]],
    noSuchPlace: [[`ssh:${evil}`]],
    onlyHere: [[evil]],
    alreadyThere: [['Load', 'ssh:lab']],
    notSaved: [['Load']],
    notChanged: [['Load']],
    needsImage: [[]],
    ready: [[ready]],
    unusable: [[refused]],
    disconnected: [[ready], [samplePlace()]],
    holdsNothing: [['ssh:lab']],
    released: [
      ['ssh:lab', 1],
      ['ssh:lab', 3],
    ],
    noImage: [[]],
    imageRemoved: [[210_000_000]],
    enrolled: [['big', 'big.test']],
    noWorkers: [[]],
    forgotten: [['big']],
  }),
  ...render('label', placeLabels, {
    running: [[1], [3]],
    notLookedAt: [[]],
    notLookedAtTooltip: [[]],
    check: [[]],
    openRun: [[]],
    openManifest: [[]],
    build: [[]],
    showImage: [[]],
    sealedBy: [
      ['bubblewrap', 'cgroup'],
      ['none', 'watchdog'],
    ],
    failedCheck: [['Namespaces', evil]],
    interpreters: [[[]], [placeFacts.interpreters]],
    room: [
      [1, 1_000_000],
      [4, 1_000_000],
    ],
    machine: [['linux', evil]],
    image: [[210_000_000]],
    imageOutdated: [[]],
    noImage: [[]],
    worker: [['big.test', 7337]],
    workerKey: [['SHA256:aaaa']],
    alwaysHere: [[]],
    kind: placeKinds.map((kind) => [kind]),
  }),
  ...render('choose', placeChoose, {
    title: [[evil]],
    place: [[]],
    anyPlace: [[]],
    worker: [[]],
    now: [[]],
    hereDetail: [[]],
    vmDetail: [[true], [false]],
    workerDetail: [['big.test']],
    otherHost: [[]],
    cluster: [[]],
    enrol: [[]],
    clusterHost: [[]],
    hostPrompt: [[]],
    hostProblem: [[]],
    checking: [['ssh:lab']],
    reading: [['ssh:lab']],
    releasing: [['ssh:lab']],
    heldTitle: [['ssh:lab']],
    held: [[]],
    heldState: [['queued'], ['running'], ['ended']],
    heldDetail: [[heldJob()], [heldJob({ leaseMs: null, known: false })]],
    building: [[]],
    enrolTitle: [[]],
    invitation: [[]],
    invitationProblem: [[]],
    workerName: [[]],
    workerNameProblem: [[]],
    ownName: [[]],
    ownNameProblem: [[]],
    enrolling: [[]],
  }),
  ...render('terminal', placeTerminal, {
    name: [
      [evil, false],
      [evil, true],
    ],
    opening: [
      [evil, false],
      [evil, true],
    ],
    welcome: [[]],
    dropped: [[]],
    stopped: [[`TERM${evil}`]],
    lost: [[]],
  }),
  ...render('question', placeQuestions, {
    release: [
      ['ssh:lab', 1],
      ['ssh:lab', 3],
    ],
    rebuild: [[]],
    removeImage: [[210_000_000]],
    forget: [['big']],
  }),
  placesPart([ready, refused, samplePlace({ id: 'vm', kind: 'vm' })]),
  vmImageReport({ image }, 'tcg')?.text ?? '',
  vmImageReport({ image: { ...image, isOutdated: true } }, 'kvm')?.text ?? '',
];

describe('texts of the view of places', () => {
  it('read as their golden says [PLACEUI-01] [PLACEUI-04] [PLACEUI-06]', () => {
    const text = lines.join('\n').replaceAll(timestamp(image.builtAt), '(local time)');
    assertGolden(join(import.meta.dirname, '../goldens/placeViewMessages.txt'), `${text}\n`);
  });
});
