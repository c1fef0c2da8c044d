import { l10n } from 'vscode';
import { parsePlace, type HeldJob, type PlaceKind, type PlaceView } from '../../protocol/src/places.ts';
import type { IsolationReport } from '../../protocol/src/runner.ts';
import { duration, size, timestamp } from './figures.ts';
import { limitsWord, type Notice } from './messages.ts';
import type { SureQuestion } from './native/askSure.ts';
import { plain, short } from './plainText.ts';

/**
 * The texts of the view, the commands and the lists of places, by the rules of `messages.ts`.
 * `test/unit/extension/places/placeViewMessages.test.ts` renders them all.
 */
const t = l10n.t;

/** A place as a person reads it. */
export function placeName(id: string): string {
  const place = parsePlace(id);
  if (!place) return short(id);
  switch (place.kind) {
    case 'local':
      return t('This computer');
    case 'vm':
      return t('VM on this computer');
    case 'ssh':
      return t('{0} over SSH', short(place.name));
    case 'worker':
      return t('Worker {0}', short(place.name));
    case 'slurm':
      return t('Cluster {0} (Slurm)', short(place.name));
  }
}

/** How things stand, in a word. A place that is connected and can't seal is not ready for cards. */
export function placeStateWord({ state, facts }: Pick<PlaceView, 'state' | 'facts'>): string {
  switch (state) {
    case 'closed':
      return t('not connected');
    case 'connecting':
      return t('connecting');
    case 'ready':
      return facts?.isolation.kind === 'none' ? t('can’t seal cards') : t('ready');
    case 'lost':
      return t('connection lost');
    case 'asks':
      return t('needs you');
    case 'refused':
      return t('can’t be used');
  }
}

export const placeNotices = {
  noOther: (): Notice => ({
    severity: 'info',
    text: t(
      'Cards run on this computer only: no card names another place, and there is no VM image and no worker.',
    ),
    action: { title: t('Choose Where a Card Runs'), command: 'sallyport.choosePlace' },
  }),
  noSuchPlace: (id: string): Notice => ({
    severity: 'warning',
    text: t('There is no place {0} in this window.', short(id)),
  }),
  onlyHere: (card: string): Notice => ({
    severity: 'info',
    text: t(
      '{0} runs in QuickJS, which is on this computer only. Choose another runtime to run it elsewhere.',
      short(card),
    ),
  }),
  alreadyThere: (card: string, place: string): Notice => ({
    severity: 'info',
    text: t('{0} runs there already: {1}.', short(card), placeName(place)),
  }),
  notSaved: (card: string): Notice => ({
    severity: 'info',
    text: t(
      'The manifest of {0} has other changes that are not saved, so this one is not saved either.',
      short(card),
    ),
  }),
  notChanged: (card: string): Notice => ({
    severity: 'warning',
    text: t('VS Code did not take the change of {0}, so nothing was changed. Try again.', short(card)),
  }),
  needsImage: (): Notice => ({
    severity: 'info',
    text: t('There is no VM image yet, and the card waits for one.'),
    action: { title: t('Build VM Image'), command: 'sallyport.buildVmImage' },
  }),
  ready: (place: PlaceView): Notice => ({
    severity: 'info',
    text: t('{0} is ready: {1}.', placeName(place.id), placeFigures(place)),
  }),
  unusable: (place: PlaceView): Notice => ({
    severity: 'error',
    text: [t('{0} can’t be used.', placeName(place.id)), ...troubleOf(place)].join(' '),
  }),
  disconnected: ({ id, state }: Pick<PlaceView, 'id' | 'state'>): Notice => ({
    severity: 'info',
    text:
      state === 'closed'
        ? t('{0} is not connected.', placeName(id))
        : t('{0}: the connection was closed. It is made again when a card needs it.', placeName(id)),
  }),
  holdsNothing: (place: string): Notice => ({
    severity: 'info',
    text: t('{0} holds no job of this computer.', placeName(place)),
  }),
  released: (place: string, count: number): Notice => ({
    severity: 'info',
    text:
      count === 1
        ? t('One job was ended and forgotten: {0}.', placeName(place))
        : t('{1} jobs were ended and forgotten: {0}.', placeName(place), count),
  }),
  noImage: (): Notice => ({
    severity: 'info',
    text: t('There is no VM image.'),
    action: { title: t('Build VM Image'), command: 'sallyport.buildVmImage' },
  }),
  imageRemoved: (bytes: number): Notice => ({
    severity: 'info',
    text: t('The VM image was removed: {0} freed.', size(bytes)),
  }),
  enrolled: (name: string, host: string): Notice => ({
    severity: 'info',
    text: t('This computer is enrolled at {1}. Cards can run on the worker {0}.', short(name), plain(host)),
    action: { title: t('Choose Where a Card Runs'), command: 'sallyport.choosePlace' },
  }),
  noWorkers: (): Notice => ({
    severity: 'info',
    text: t('This computer is enrolled at no worker.'),
    action: { title: t('Enrol at Worker'), command: 'sallyport.enrolWorker' },
  }),
  forgotten: (name: string): Notice => ({
    severity: 'info',
    text: t(
      'The worker {0} is forgotten here. Who keeps it can remove this computer from its list.',
      short(name),
    ),
  }),
};

/** What is wrong with a place and what to do, as sentences; isolation that failed counts. */
export function troubleOf({ detail, remedy, facts, state }: PlaceView): string[] {
  const failed =
    state === 'ready' && facts?.isolation.kind === 'none'
      ? facts.isolation.checks.filter(({ ok }) => !ok)
      : [];
  return [
    detail,
    remedy,
    ...failed.flatMap((check) => [`${check.title}: ${check.detail}`, check.remedy ?? '']),
  ]
    .filter((text) => text.trim() !== '')
    .map((text) => plain(text).replace(/([^.!?…])$/, '$1.'));
}

/** What a place said of itself, in one line. */
export function placeFigures({ facts, latencyMs }: PlaceView): string {
  if (!facts) return t('not looked at yet');
  const { isolation, parallel, freeBytes } = facts;
  return [
    t('cards are sealed by {0}', isolation.kind),
    parallel === 1 ? t('one card at a time') : t('{0} cards at once', parallel),
    t('{0} free', size(freeBytes)),
    ...(latencyMs === null ? [] : [t('answers in {0}', duration(latencyMs))]),
  ].join(', ');
}

export const placeLabels = {
  running: (count: number): string => (count === 1 ? t('one card runs') : t('{0} cards run', count)),
  notLookedAt: (): string => t('Not looked at yet'),
  notLookedAtTooltip: (): string => t('Looking connects to it and tries what it can seal.'),
  check: (): string => t('Check Place'),
  openRun: (): string => t('Open Run View'),
  openManifest: (): string => t('Open Manifest'),
  build: (): string => t('Build VM Image'),
  showImage: (): string => t('Show What Is in the VM Image'),
  sealedBy: (kind: string, limits: IsolationReport['limits']): string =>
    kind === 'none'
      ? t('Can’t seal cards, so it runs none')
      : t('Cards are sealed by {0}; limits are kept by {1}', kind, limitsWord(limits)),
  failedCheck: (title: string, detail: string): string => t('{0}: {1}', plain(title), plain(detail)),
  interpreters: (each: readonly { readonly runtime: string; readonly version: string }[]): string =>
    each.length === 0
      ? t('No interpreters were found')
      : each.map(({ runtime, version }) => `${runtime} ${plain(version)}`).join(', '),
  room: (parallel: number, freeBytes: number): string =>
    parallel === 1
      ? t('One card at a time, {0} free', size(freeBytes))
      : t('{1} cards at once, {0} free', size(freeBytes), parallel),
  machine: (platform: string, node: string): string => t('{0}, Node {1}', plain(platform), plain(node)),
  image: (bytes: number): string => t('Image of {0}', size(bytes)),
  imageOutdated: (): string => t('of another Sallyport: build it again'),
  noImage: (): string => t('No image yet'),
  worker: (host: string, port: number): string => t('At {0}:{1}', plain(host), port),
  workerKey: (fingerprint: string): string => t('Its identity: {0}', plain(fingerprint)),
  alwaysHere: (): string => t('ready'),
  kind: (kind: PlaceKind): string => kindNames[kind](),
};

const kindNames: Readonly<Record<PlaceKind, () => string>> = {
  local: () => t('This computer'),
  vm: () => t('Virtual machine'),
  ssh: () => t('Hosts of your SSH configuration'),
  worker: () => t('Workers'),
  slurm: () => t('Clusters'),
};

/** Lists and boxes. */
export const placeChoose = {
  title: (card: string): string => t('Where {0} runs', short(card)),
  place: (): string => t('The choice is written into its manifest; you can undo it'),
  anyPlace: (): string => t('Choose a place'),
  worker: (): string => t('Choose a worker'),
  now: (): string => t('now'),
  hereDetail: (): string => t('Sealed, beside Sallyport’s engine'),
  vmDetail: (hasImage: boolean): string =>
    hasImage
      ? t('On a kernel of its own, without a network')
      : t('On a kernel of its own; its image has to be built first'),
  workerDetail: (host: string): string => plain(host),
  otherHost: (): string => t('Another Host…'),
  cluster: (): string => t('A Cluster with Slurm…'),
  enrol: (): string => t('Enrol at a Worker…'),
  clusterHost: (): string => t('The host on which sbatch is'),
  hostPrompt: (): string => t('A host as you would give it to ssh'),
  hostProblem: (): string => t('A name of letters, digits, “.”, “-” and “_”, as in your SSH configuration.'),
  checking: (place: string): string => t('Looking at {0}', placeName(place)),
  reading: (place: string): string => t('Asking {0} what it holds', placeName(place)),
  releasing: (place: string): string => t('Ending jobs: {0}', placeName(place)),
  heldTitle: (place: string): string => t('What {0} holds', placeName(place)),
  held: (): string => t('Select what is to be ended and forgotten'),
  heldState: (state: HeldJob['state']): string => {
    switch (state) {
      case 'queued':
        return t('waits');
      case 'running':
        return t('runs');
      case 'ended':
        return t('has ended, its result was not fetched');
    }
  },
  heldDetail: ({ acceptedAt, leaseMs, known }: HeldJob): string =>
    [
      t('sent {0}', timestamp(acceptedAt)),
      ...(leaseMs === null ? [] : [t('ends in {0} if nobody asks for it', duration(leaseMs))]),
      ...(known ? [] : [t('no run here knows it')]),
    ].join(' · '),
  building: (): string => t('Building the VM image'),
  enrolTitle: (): string => t('Enrol at Worker'),
  invitation: (): string =>
    t('The invitation that whoever keeps the worker gave you: one line, sallyport-worker://…'),
  invitationProblem: (): string =>
    t('That is no invitation: it begins with sallyport-worker:// and is one line.'),
  workerName: (): string => t('What the worker is called here, after “worker:”'),
  workerNameProblem: (): string => t('A name of letters, digits, “.”, “-” and “_” that no other worker has.'),
  ownName: (): string => t('What its owner sees of who you are'),
  ownNameProblem: (): string => t('1 to 64 letters, digits, blanks, “.”, “_”, “@” and “-”.'),
  enrolling: (): string => t('Enrolling at the worker'),
};

/** Terminals in a VM. */
export const placeTerminal = {
  name: (project: string, network: boolean): string =>
    network ? t('VM of {0}, network', short(project)) : t('VM of {0}', short(project)),
  opening: (project: string, network: boolean): string =>
    network
      ? t('Opening a terminal in the VM of {0} that has a network', short(project))
      : t('Opening a terminal in the VM of {0}', short(project)),
  welcome: (): string =>
    t(
      'You are in the project’s VM and can look at all of it; only your home and /tmp can be written, and both end with the terminal. The cards’ folders are under /jobs.',
    ),
  dropped: (): string => t('That was too much at once and was not sent.'),
  stopped: (signal: string): string =>
    t('The shell was ended ({0}). Press a key to close this terminal.', short(signal)),
  lost: (): string => t('The connection to the VM was lost. Press a key to close this terminal.'),
};

export const placeQuestions = {
  release: (place: string, count: number): SureQuestion => ({
    title:
      count === 1
        ? t('End and forget one job: {0}?', placeName(place))
        : t('End and forget {1} jobs: {0}?', placeName(place), count),
    placeholder: t('What runs is stopped, and results that were not fetched are lost.'),
    act: { label: t('End and Forget'), detail: t('The cards can run again'), icon: 'trash' },
    leave: t('Leave Them'),
  }),
  rebuild: (): SureQuestion => ({
    title: t('Build the VM image again?'),
    placeholder: t('There is one already. It stays until the new one is ready.'),
    act: { label: t('Build Again'), detail: t('VMs of this window end first'), icon: 'refresh' },
    leave: t('Leave It'),
  }),
  removeImage: (bytes: number): SureQuestion => ({
    title: t('Remove the VM image?'),
    placeholder: t('{0} are freed. Cards that name the VM wait until it is built again.', size(bytes)),
    act: { label: t('Remove'), detail: t('VMs of this window end'), icon: 'trash' },
    leave: t('Keep It'),
  }),
  forget: (name: string): SureQuestion => ({
    title: t('Forget the worker {0}?', short(name)),
    placeholder: t('Cards that name it are refused then. A new invitation is needed to come back.'),
    act: { label: t('Forget'), detail: t('What runs there goes on to its end'), icon: 'trash' },
    leave: t('Keep It'),
  }),
};
