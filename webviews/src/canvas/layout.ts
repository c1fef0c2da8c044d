import { Graph, layout } from '@dagrejs/dagre';
import type { CardView } from '../../../protocol/src/engine.ts';
import { graphKey, wiresOf, type Place, type Wire } from './graph.ts';

/** The size of every card on the canvas, in pixels. */
export const cardSize = { width: 256, height: 108 } as const;

/** Where each card stands, left to right in the order of the wires: the top left corner. */
export function placeCards(cards: readonly CardView[], wires: readonly Wire[]): ReadonlyMap<string, Place> {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 88, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const card of cards) graph.setNode(card.id, { ...cardSize });
  for (const wire of wires) graph.setEdge(wire.from, wire.to);
  layout(graph, {});
  return new Map(
    cards.map((card) => {
      const { x = 0, y = 0 } = graph.node(card.id) as Partial<Place>;
      return [card.id, { x: x - cardSize.width / 2, y: y - cardSize.height / 2 }];
    }),
  );
}

/** A graph as it is drawn. */
export interface DrawnGraph {
  readonly wires: readonly Wire[];
  readonly places: ReadonlyMap<string, Place>;
}

/** The graph of these cards; the same object as long as neither cards nor wires change, whatever their states do. */
export function createGraphCache(
  place: typeof placeCards = placeCards,
): (cards: readonly CardView[]) => DrawnGraph {
  let key = '';
  let drawn: DrawnGraph = { wires: [], places: new Map() };
  return (cards) => {
    const wires = wiresOf(cards);
    const wanted = graphKey(cards, wires);
    if (wanted !== key) {
      drawn = { wires, places: place(cards, wires) };
      key = wanted;
    }
    return drawn;
  };
}
