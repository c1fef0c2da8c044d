import type { Wire } from './model.ts';

const mostNames = 8;

/**
 * Names one circle of a group of cards that wait for each other, as `a → b → a`. The answer begins at the card asked
 * for where that is on the circle; a long circle is cut in the middle.
 */
export function cyclePath(group: readonly string[], wires: readonly Wire[]): (from: string) => string {
  const circle = shortestCircle(group[0] ?? '', wires);
  const placeOf = new Map(circle.map((card, index) => [card, index]));
  const left = circle.length - mostNames;
  return (from) => {
    const start = placeOf.get(from) ?? 0;
    const name = (step: number) => circle[(start + step) % circle.length] ?? '';
    const first = Array.from({ length: Math.min(circle.length, mostNames) }, (_, step) => name(step));
    const names =
      left > 1
        ? [...first.slice(0, -1), `(${left} more)`, name(circle.length - 1)]
        : circle.map((_, step) => name(step));
    return [...names, name(0)].join(' → ');
  };
}

/** The cards of a shortest way from `start` back to itself, breadth first; `start` alone for a wire into itself. */
function shortestCircle(start: string, wires: readonly Wire[]): string[] {
  const targets = Map.groupBy(wires, (wire) => wire.fromCard);
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let next = 0; next < queue.length; next++) {
    const card = queue[next] ?? '';
    for (const { toCard } of targets.get(card) ?? []) {
      if (toCard === start) return walkBack(start, card, cameFrom);
      if (cameFrom.has(toCard)) continue;
      cameFrom.set(toCard, card);
      queue.push(toCard);
    }
  }
  return [start];
}

function walkBack(start: string, last: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [last];
  for (let card = last; card !== start;) {
    card = cameFrom.get(card) ?? start;
    path.push(card);
  }
  return path.reverse();
}
