import type { CardView } from '../../../protocol/src/engine.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import { byteSize, duration } from '../ui/figures.ts';
import type { ShownState } from '../ui/stateLabel.tsx';
import { visibleText } from '../ui/visibleText.ts';
import { words } from '../ui/words.ts';
import type { Wire } from './graph.ts';

/**
 * What a card shows: that it is under way, else that it is blocked, else how its last run ended. A card that waits for
 * a person is blocked before its first run too, as in the side bar.
 */
export function shownState({ status, blocked }: Pick<CardView, 'status' | 'blocked'>): ShownState {
  const isUnderWay = status?.state === 'running' || status?.state === 'queued';
  if (blocked && !isUnderWay) return { state: 'blocked', cached: false };
  return status ?? { state: 'none', cached: false };
}

/**
 * Time and size of a card's last run: `1.2 s · 3.4 KB`; while it is under way elsewhere, the place. Empty where nothing
 * is known.
 */
export function cardFigures(card: CardView): string {
  const { status } = card;
  if (!status) return '';
  const { place = localPlace, state } = status;
  const isUnderWay = state === 'running' || state === 'queued';
  const parts = isUnderWay && place !== localPlace ? [visibleText(place)] : [];
  if (status.runMs !== null && !status.cached) parts.push(duration(status.runMs));
  if (status.outputBytes > 0) parts.push(byteSize(status.outputBytes));
  return parts.join(' · ');
}

/** The permission that a picture with room for one shows: what waits for a person, else where the card runs, else the first. */
export function shownPermission({ permissions }: CardView): CardView['permissions'][number] | undefined {
  return (
    permissions.find(({ accepted }) => !accepted) ??
    permissions.find(({ permission }) => permission.name === 'execution') ??
    permissions[0]
  );
}

/** An accepted permission in few words: where a card runs, else the whole sentence. */
export function acceptedText({ permission, sentence }: CardView['permissions'][number]): string {
  return permission.name === 'execution' ? words.runsAt(visibleText(permission.service)) : sentence;
}

/** What the card may reach, one text for each permission; a new one says so. */
export function permissionTexts(card: CardView): string[] {
  return card.permissions.map(({ sentence, accepted }) =>
    accepted ? sentence : `${sentence} (${words.permissionNew})`,
  );
}

/** What a screen reader would miss of a card's picture: the wires, and permissions beyond the one that is shown. */
export function cardAside(card: CardView, wires: readonly Wire[]): string {
  const after = [...new Set(wires.filter((wire) => wire.to === card.id).map((wire) => wire.from))];
  return [
    ...permissionTexts({
      ...card,
      permissions: card.permissions.filter((each) => each !== shownPermission(card)),
    }),
    after.length > 0 ? `${words.columns.after} ${after.join(', ')}` : '',
  ]
    .filter((part) => part !== '')
    .join('. ');
}
