import { canWire, type CardManifest } from '../../../protocol/src/manifests.ts';
import type { Graph, Wire } from './model.ts';

/** What a graph is made of: a card whose manifest is null takes part as a node without ports. */
export interface GraphCard {
  readonly id: string;
  readonly manifest: CardManifest | null;
}

/**
 * The sound part of a project's wiring, in time linear in cards and wires. Equal cards in equal order give an equal
 * graph.
 */
export function buildGraph(cards: ReadonlyMap<string, GraphCard>): Graph {
  const wires: Wire[] = [];
  for (const card of cards.values()) wires.push(...wiresInto(card, cards));
  const order = sort(cards, wires);
  const placed = new Set(order);
  const rest = [...cards.keys()].filter((id) => !placed.has(id));
  const cyclic = new Set(stronglyConnected(rest, wires).flat());
  // Cards that only come after a cycle have an order among themselves, behind everything else.
  const behind = sort(new Map(rest.filter((id) => !cyclic.has(id)).map((id) => [id, null])), wires);
  return { wires, order: [...order, ...behind], cyclic };
}

/** The groups of cards that wait for each other, each group sorted as `ids` is. */
export function stronglyConnected(ids: readonly string[], wires: readonly Wire[]): string[][] {
  const targets = new Map<string, string[]>(ids.map((id) => [id, []]));
  const sources = new Map<string, string[]>(ids.map((id) => [id, []]));
  const selfWired = new Set<string>();
  for (const { fromCard, toCard } of wires) {
    if (!targets.has(fromCard) || !targets.has(toCard)) continue;
    targets.get(fromCard)?.push(toCard);
    sources.get(toCard)?.push(fromCard);
    if (fromCard === toCard) selfWired.add(fromCard);
  }
  const finished = finishingOrder(ids, targets);
  const rank = new Map(ids.map((id, index) => [id, index]));
  const taken = new Set<string>();
  const groups: string[][] = [];
  for (const id of finished.reverse()) {
    const group = collect(id, sources, taken);
    if (group.length > 1 || selfWired.has(id)) {
      if (group.length > 0) groups.push(group.sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0)));
    }
  }
  return groups;
}

function wiresInto(card: GraphCard, cards: ReadonlyMap<string, GraphCard>): Wire[] {
  const wires: Wire[] = [];
  const inputs = card.manifest?.inputs;
  if (!inputs) return wires;
  for (const [toPort, { type, from }] of Object.entries(inputs)) {
    if (from === undefined) continue;
    const [fromCard = '', fromPort = ''] = from.split('/');
    const outputs = cards.get(fromCard)?.manifest?.outputs;
    const output = outputs && Object.hasOwn(outputs, fromPort) ? outputs[fromPort] : undefined;
    if (output && canWire(output.type, type)) {
      wires.push({ fromCard, fromPort, toCard: card.id, toPort, type: output.type });
    }
  }
  return wires;
}

/** Kahn's algorithm over the cards of `nodes`; what is in a cycle or behind one is left out. */
function sort(nodes: ReadonlyMap<string, unknown>, wires: readonly Wire[]): string[] {
  const waiting = new Map<string, number>();
  const targets = new Map<string, string[]>();
  for (const id of nodes.keys()) waiting.set(id, 0);
  for (const { fromCard, toCard } of wires) {
    if (!nodes.has(fromCard) || !nodes.has(toCard)) continue;
    waiting.set(toCard, (waiting.get(toCard) ?? 0) + 1);
    const list = targets.get(fromCard);
    if (list) list.push(toCard);
    else targets.set(fromCard, [toCard]);
  }
  const order = [...nodes.keys()].filter((id) => waiting.get(id) === 0);
  for (let next = 0; next < order.length; next++) {
    for (const target of targets.get(order[next] ?? '') ?? []) {
      const left = (waiting.get(target) ?? 0) - 1;
      waiting.set(target, left);
      if (left === 0) order.push(target);
    }
  }
  return order;
}

/** Depth-first, without recursion: a chain of 20,000 cards must not use up the stack. */
function finishingOrder(ids: readonly string[], targets: ReadonlyMap<string, readonly string[]>): string[] {
  const seen = new Set<string>();
  const finished: string[] = [];
  for (const start of ids) {
    if (seen.has(start)) continue;
    seen.add(start);
    const stack = [{ id: start, next: 0 }];
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const target = targets.get(top.id)?.[top.next++];
      if (target === undefined) {
        finished.push(top.id);
        stack.pop();
      } else if (!seen.has(target)) {
        seen.add(target);
        stack.push({ id: target, next: 0 });
      }
    }
  }
  return finished;
}

function collect(
  start: string,
  sources: ReadonlyMap<string, readonly string[]>,
  taken: Set<string>,
): string[] {
  if (taken.has(start)) return [];
  taken.add(start);
  const group = [start];
  for (let next = 0; next < group.length; next++) {
    for (const source of sources.get(group[next] ?? '') ?? []) {
      if (taken.has(source)) continue;
      taken.add(source);
      group.push(source);
    }
  }
  return group;
}
