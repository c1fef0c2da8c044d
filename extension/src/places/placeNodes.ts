import type { CardView, ProjectView } from '../../../protocol/src/engine.ts';
import { localPlace, type PlaceView } from '../../../protocol/src/places.ts';
import type { Interpreter, IsolationReport } from '../../../protocol/src/runner.ts';
import { duration } from '../figures.ts';
import { cardStateWord } from '../messages.ts';
import { placeLabels as labels, placeName, placeStateWord, troubleOf } from '../placeViewMessages.ts';
import { plain, short } from '../plainText.ts';
import { shownState, stateIcons } from '../views/cardText.ts';
import type { TreeNode } from '../views/treeNode.ts';
import type { KnownPlaces } from './placesList.ts';

/** What this computer says of itself, read when its line is opened. */
export type LookHere = () => Promise<{
  readonly isolation: IsolationReport;
  readonly interpreters: readonly Interpreter[];
}>;

/**
 * The Places view: this computer, then each place with what is known of it and the cards that run there. Nothing where
 * there is no other place: the view's welcome says then what there could be.
 */
export function placeNodes(
  { places, workers, image }: KnownPlaces,
  projects: readonly ProjectView[],
  lookHere: LookHere,
): TreeNode[] {
  if (places.length === 0) return [];
  return [
    hereNode(projects, lookHere),
    ...places.map((place) => {
      const worker = workers.find(({ name }) => place.id === `worker:${name}`);
      const own: TreeNode[] =
        place.kind === 'vm'
          ? [imageNode(image)]
          : worker
            ? [
                fact(place.id, 'address', labels.worker(worker.host, worker.port), 'globe'),
                fact(place.id, 'identity', labels.workerKey(worker.fingerprint), 'key'),
              ]
            : [];
      return placeNode(place, [...cardsOf(place.id, projects)], own);
    }),
  ];
}

/** Shape and colour of a state. Each has a shape of its own, so colour adds nothing that is not said already. */
export const placeIcons: Readonly<
  Record<PlaceView['state'] | 'unsealed', { readonly name: string; readonly color?: string }>
> = {
  closed: { name: 'circle-large-outline' },
  connecting: { name: 'loading~spin', color: 'charts.blue' },
  ready: { name: 'pass', color: 'testing.iconPassed' },
  unsealed: { name: 'warning', color: 'problemsWarningIcon.foreground' },
  lost: { name: 'debug-disconnect', color: 'problemsWarningIcon.foreground' },
  asks: { name: 'question', color: 'problemsWarningIcon.foreground' },
  refused: { name: 'error', color: 'problemsErrorIcon.foreground' },
};

function hereNode(projects: readonly ProjectView[], lookHere: LookHere): TreeNode {
  const cards = cardsOf(localPlace, projects).filter(({ card }) => isUnderWay(card));
  const running = cards.filter(({ card }) => card.status?.state === 'running').length;
  const description = [labels.alwaysHere(), ...(running > 0 ? [labels.running(running)] : [])].join(' · ');
  return {
    id: localPlace,
    label: placeName(localPlace),
    description,
    icon: { name: 'device-desktop' },
    kind: 'place.local',
    place: localPlace,
    children: async () => {
      const { isolation, interpreters } = await lookHere();
      return [
        ...cards.map((each) => cardNode(localPlace, each)),
        ...isolationNodes(localPlace, isolation),
        fact(localPlace, 'interpreters', labels.interpreters(interpreters), 'code'),
      ];
    },
  };
}

function placeNode(place: PlaceView, cards: readonly PlacedCard[], own: readonly TreeNode[]): TreeNode {
  const { id, state, facts, running, latencyMs, kind } = place;
  const label = placeName(id);
  const word = placeStateWord(place);
  const description = [
    word,
    ...(running > 0 ? [labels.running(running)] : []),
    ...(state === 'ready' && latencyMs !== null ? [duration(latencyMs)] : []),
  ].join(' · ');
  const trouble = troubleOf(place);
  const isConnecting = state === 'connecting';
  const isOpen = state === 'ready' || state === 'connecting' || state === 'lost';
  return {
    id,
    label,
    description,
    tooltip: [label, description, plain(id), ...trouble].join('\n'),
    spoken: [label, description, ...trouble].join(', '),
    icon: placeIcons[state === 'ready' && facts?.isolation.kind === 'none' ? 'unsealed' : state],
    kind: `place.${kind}.${isOpen ? 'open' : 'closed'}`,
    place: id,
    isExpanded: trouble.length > 0,
    children: [
      ...trouble.map((text, at) => ({
        ...fact(
          id,
          `trouble ${at}`,
          short(text, 200),
          isConnecting ? 'info' : at === 0 ? 'warning' : 'lightbulb',
        ),
        tooltip: text,
        ...(state === 'asks' && checkOf(id)),
      })),
      ...cards.map((each) => cardNode(id, each)),
      ...own,
      ...(facts ? factNodes(id, facts) : [notLookedAt(id)]),
    ],
  };
}

function factNodes(id: string, facts: NonNullable<PlaceView['facts']>): TreeNode[] {
  return [
    ...isolationNodes(id, facts.isolation),
    fact(id, 'interpreters', labels.interpreters(facts.interpreters), 'code'),
    fact(id, 'room', labels.room(facts.parallel, facts.freeBytes), 'database'),
    fact(id, 'machine', labels.machine(facts.platform, facts.node), 'server'),
  ];
}

function isolationNodes(id: string, isolation: IsolationReport): TreeNode[] {
  const failed = isolation.checks.filter(({ ok }) => !ok);
  const node = fact(id, 'isolation', labels.sealedBy(isolation.kind, isolation.limits), 'shield');
  return [
    failed.length === 0
      ? node
      : {
          ...node,
          children: failed.map((check) => ({
            ...fact(id, `check ${check.id}`, labels.failedCheck(check.title, check.detail), 'warning'),
            tooltip: [check.title, check.detail, check.remedy ?? ''].map(plain).join('\n'),
          })),
        },
  ];
}

function notLookedAt(id: string): TreeNode {
  return {
    ...fact(id, 'unknown', labels.notLookedAt(), 'search'),
    tooltip: labels.notLookedAtTooltip(),
    ...checkOf(id),
  };
}

/** A click on the line looks at the place. */
function checkOf(place: string): Pick<TreeNode, 'place' | 'command'> {
  return { place, command: { id: 'sallyport.checkPlace', title: labels.check() } };
}

function imageNode(image: KnownPlaces['image']): TreeNode {
  return image
    ? {
        ...fact('vm', 'image', labels.image(image.sizeBytes), 'package'),
        ...(image.isOutdated && { description: labels.imageOutdated() }),
        command: { id: 'sallyport.showVmImage', title: labels.showImage() },
      }
    : {
        ...fact('vm', 'image', labels.noImage(), 'package'),
        command: { id: 'sallyport.buildVmImage', title: labels.build() },
      };
}

interface PlacedCard {
  readonly root: string;
  readonly card: CardView;
}

/** The cards that run in a place when they are run next, and those that are under way there. */
function cardsOf(id: string, projects: readonly ProjectView[]): PlacedCard[] {
  return projects.flatMap(({ root, cards }) =>
    cards
      .filter((card) => (isUnderWay(card) ? (card.status?.place ?? localPlace) : placeOf(card)) === id)
      .map((card) => ({ root, card })),
  );
}

/** The place that a card's manifest names. */
export function placeOf({ permissions }: Pick<CardView, 'permissions'>): string {
  for (const { permission } of permissions) if (permission.name === 'execution') return permission.service;
  return localPlace;
}

function isUnderWay({ status }: CardView): boolean {
  return status?.state === 'running' || status?.state === 'queued';
}

function cardNode(place: string, { root, card }: PlacedCard): TreeNode {
  const state = shownState(card);
  return {
    id: `${place}\ncard ${root}\n${card.id}`,
    label: plain(card.title),
    description: cardStateWord(state, card.status?.cached ?? false),
    icon: stateIcons[state],
    kind: 'placeCard',
    root,
    card: card.id,
    command: isUnderWay(card)
      ? { id: 'sallyport.openRun', title: labels.openRun() }
      : { id: 'sallyport.openManifest', title: labels.openManifest() },
  };
}

function fact(place: string, part: string, label: string, icon: string): TreeNode {
  return { id: `${place}\n${part}`, label, icon: { name: icon }, kind: 'placeFact' };
}
