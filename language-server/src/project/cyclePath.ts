import type { Wire } from './model.ts';

const mostNames = 8;

/**
 * Names one circle of a group of cards that wait for each other, as `a → b → a`. The answer begins at the card asked
 * for where that is on the circle; a long circle is cut in the middle.
 */
export function cyclePath(group: readonly string[], wires: readonly Wire[]): (from: string) => string {
  const circle = shortestCircle(group[0] ?? '', wires);
  return (from) => {
    const start = Math.max(0, circle.indexOf(from));
    const turned = [...circle.slice(start), ...circle.slice(0, start)];
    const left = turned.length - mostNames;
    const names =
      left > 1 ? [...turned.slice(0, mostNames - 1), `(${left} more)`, ...turned.slice(-1)] : turned;
    return [...names, turned[0] ?? ''].join(' → ');
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
