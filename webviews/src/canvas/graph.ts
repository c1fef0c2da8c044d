import type { CardView } from '../../../protocol/src/engine.ts';
import type { PortType } from '../../../protocol/src/manifests.ts';

/** A wire from one card's output to another's input. */
export interface Wire {
  readonly from: string;
  readonly fromPort: string;
  readonly to: string;
  readonly toPort: string;
  readonly type: PortType;
}

/** Every wire whose both ends exist. One that leads nowhere is a problem of the manifest and is not drawn. */
export function wiresOf(cards: readonly CardView[]): Wire[] {
  const ids = new Set(cards.map((card) => card.id));
  return cards.flatMap((card) =>
    card.inputs.flatMap((input) => {
      const [from = '', fromPort = ''] = input.from?.split('/') ?? [];
      return ids.has(from) ? [{ from, fromPort, to: card.id, toPort: input.name, type: input.type }] : [];
    }),
  );
}

/** Changes exactly when cards or wires do, not when a card's state does: the key of a drawn graph. */
export function graphKey(cards: readonly CardView[], wires: readonly Wire[]): string {
  return JSON.stringify([cards.map((card) => card.id), wires]);
}

export type Direction = 'left' | 'right' | 'up' | 'down';
export interface Place {
  readonly x: number;
  readonly y: number;
}

/**
 * The card that an arrow key leads to. Left and right follow wires where there are any, else the picture; up and down
 * go to the nearest card of the same column, else to the nearest in that direction.
 */
export function neighbour(
  from: string,
  direction: Direction,
  places: ReadonlyMap<string, Place>,
  wires: readonly Wire[],
): string | undefined {
  const here = places.get(from);
  if (!here) return undefined;
  const wired = wires.flatMap((wire) => {
    if (direction === 'right' && wire.from === from) return [wire.to];
    return direction === 'left' && wire.to === from ? [wire.from] : [];
  });
  const candidates = wired.length > 0 ? wired : [...places.keys()].filter((id) => id !== from);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const id of candidates) {
    const there = places.get(id);
    if (!there) continue;
    const dx = there.x - here.x;
    const dy = there.y - here.y;
    if (wired.length === 0 && !lies(direction, dx, dy)) continue;
    const [along, across] = direction === 'up' || direction === 'down' ? [dy, dx] : [dx, dy];
    const distance = Math.abs(along) + 4 * Math.abs(across);
    if (distance < bestDistance) {
      best = id;
      bestDistance = distance;
    }
  }
  return best;
}

function lies(direction: Direction, dx: number, dy: number): boolean {
  switch (direction) {
    case 'left':
      return dx < 0;
    case 'right':
      return dx > 0;
    case 'up':
      return dy < 0;
    case 'down':
      return dy > 0;
  }
}
