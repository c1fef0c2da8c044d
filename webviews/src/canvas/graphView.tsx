import {
  MarkerType,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type Edge,
  type NodeTypes,
} from '@xyflow/react';
import { useCallback, useEffect, useMemo, useState, type KeyboardEvent } from 'react';
import type { CardView } from '../../../protocol/src/engine.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../ui/words.ts';
import { CardNodeView, type CardNode } from './cardNode.tsx';
import { cardAside } from './cardText.ts';
import { neighbour, type Direction, type Place, type Wire } from './graph.ts';
import { cardSize, createGraphCache } from './layout.ts';

export interface GraphViewProps {
  readonly name: string;
  readonly cards: readonly CardView[];
  readonly onOpen: (id: string, at: HTMLElement) => void;
}

const nodeTypes: NodeTypes = { card: CardNodeView };
const drawGraph = createGraphCache();
const arrows: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};
/** Beyond this many wires their types stand in the list only. */
const labelledWires = 120;

/** The graph, drawn. One card is in the tab order; arrow keys move, `+`, `-` and `0` zoom. */
export function GraphView(props: GraphViewProps) {
  return (
    <ReactFlowProvider>
      <Graph {...props} />
    </ReactFlowProvider>
  );
}

function Graph({ name, cards, onOpen }: GraphViewProps) {
  const flow = useReactFlow();
  const { wires, places } = useMemo(() => drawGraph(cards), [cards]);
  const [current, setCurrent] = useState<{ id: string; byKey: boolean }>();
  const currentId = current && places.has(current.id) ? current.id : cards[0]?.id;

  const onEnter = useCallback((id: string) => {
    setCurrent((before) => (before?.id === id ? before : { id, byKey: false }));
  }, []);
  const nodes = useNodes(cards, wires, places, currentId, current?.byKey === true, onOpen, onEnter);
  const edges = useMemo(() => toEdges(wires), [wires]);

  useEffect(() => {
    if (!current?.byKey) return;
    const at = places.get(current.id);
    if (at && !isVisible(at, flow)) {
      void flow.setCenter(at.x + cardSize.width / 2, at.y + cardSize.height / 2, { zoom: flow.getZoom() });
    }
  }, [current, places, flow]);

  const onKeyDown = (event: KeyboardEvent) => {
    const direction = arrows[event.key];
    if (direction) {
      const to = currentId === undefined ? undefined : neighbour(currentId, direction, places, wires);
      if (to !== undefined) setCurrent({ id: to, byKey: true });
    } else if (event.key === '+' || event.key === '=') void flow.zoomIn();
    else if (event.key === '-') void flow.zoomOut();
    else if (event.key === '0') void flow.fitView(fit);
    else return;
    event.preventDefault();
  };

  return (
    <section className="graph" aria-label={words.graphLabel(name)} onKeyDown={onKeyDown}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        minZoom={0.05}
        maxZoom={2}
        fitView
        fitViewOptions={fit}
        proOptions={{ hideAttribution: true }}
      >
        <div className="zoom" role="group">
          <Button iconOnly icon="zoomIn" label={words.zoomIn} onClick={() => void flow.zoomIn()} />
          <Button iconOnly icon="zoomOut" label={words.zoomOut} onClick={() => void flow.zoomOut()} />
          <Button iconOnly icon="fit" label={words.fit} onClick={() => void flow.fitView(fit)} />
        </div>
      </ReactFlow>
    </section>
  );
}

const fit = { padding: 0.08, maxZoom: 1, minZoom: 0.25 };

/** Keeps the identity of every node whose card did not change: React Flow then draws only the others. */
function useNodes(
  cards: readonly CardView[],
  wires: readonly Wire[],
  places: ReadonlyMap<string, Place>,
  currentId: string | undefined,
  takesFocus: boolean,
  onOpen: GraphViewProps['onOpen'],
  onEnter: (id: string) => void,
): CardNode[] {
  const [cache] = useState(() => new Map<string, CardNode>());
  return useMemo(() => {
    const inputs = inputsByCard(wires);
    return cards.map((card) => {
      const isCurrent = card.id === currentId;
      const position = places.get(card.id) ?? { x: 0, y: 0 };
      const known = cache.get(card.id);
      if (
        known &&
        known.data.card === card &&
        known.data.isCurrent === isCurrent &&
        known.position === position &&
        known.data.onOpen === onOpen &&
        (!isCurrent || known.data.takesFocus === takesFocus)
      ) {
        return known;
      }
      const node: CardNode = {
        id: card.id,
        type: 'card',
        position,
        ...cardSize,
        data: {
          card,
          aside: cardAside(card, inputs.get(card.id) ?? []),
          isCurrent,
          takesFocus,
          onOpen,
          onEnter,
        },
      };
      cache.set(card.id, node);
      return node;
    });
  }, [cards, wires, places, currentId, takesFocus, onOpen, onEnter, cache]);
}

function inputsByCard(wires: readonly Wire[]): Map<string, Wire[]> {
  return Map.groupBy(wires, (wire) => wire.to);
}

function toEdges(wires: readonly Wire[]): Edge[] {
  return wires.map((wire) => ({
    id: `${wire.from}/${wire.fromPort}>${wire.to}/${wire.toPort}`,
    source: wire.from,
    target: wire.to,
    type: 'default',
    className: `wire wire-${wire.type}`,
    ariaLabel: words.edge(`${wire.from}/${wire.fromPort}`, `${wire.to}/${wire.toPort}`, wire.type),
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
    ...(wires.length <= labelledWires ? { label: wire.type } : {}),
  }));
}

function isVisible(at: Place, flow: ReturnType<typeof useReactFlow>): boolean {
  const topLeft = flow.flowToScreenPosition(at);
  const zoom = flow.getZoom();
  return (
    topLeft.x >= 0 &&
    topLeft.y >= 48 &&
    topLeft.x + cardSize.width * zoom <= innerWidth &&
    topLeft.y + cardSize.height * zoom <= innerHeight
  );
}
