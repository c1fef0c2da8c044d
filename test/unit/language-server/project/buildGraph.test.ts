import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CardManifest } from '../../../../protocol/src/manifests.ts';
import {
  buildGraph,
  stronglyConnected,
  type GraphCard,
} from '../../../../language-server/src/project/buildGraph.ts';
import { cyclePath } from '../../../../language-server/src/project/cyclePath.ts';

function cardsOf(edges: readonly (readonly [number, number])[], count: number): Map<string, GraphCard> {
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const inputs = Object.fromEntries(
        edges
          .filter(([, to]) => to === index)
          .map(([from], port) => [`p${port}`, { type: 'json' as const, from: `c${from}/out` }]),
      );
      const manifest: CardManifest = {
        version: 1,
        title: 'x',
        runtime: 'js',
        entry: 'x.js',
        inputs,
        outputs: { out: { type: 'json' } },
      };
      return [`c${index}`, { id: `c${index}`, manifest }];
    }),
  );
}

/** Cards that reach themselves, found the slow way. */
function cyclicOf(edges: readonly (readonly [number, number])[], count: number): Set<string> {
  const reach = Array.from(
    { length: count },
    (_, from) => new Set(edges.filter(([a]) => a === from).map(([, b]) => b)),
  );
  for (let round = 0; round < count; round++) {
    for (const set of reach) for (const next of [...set]) for (const far of reach[next] ?? []) set.add(far);
  }
  return new Set(reach.flatMap((set, index) => (set.has(index) ? [`c${index}`] : [])));
}

const graphs = fc
  .integer({ min: 1, max: 8 })
  .chain((count) =>
    fc.tuple(
      fc.constant(count),
      fc.uniqueArray(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 14, selector: String }),
    ),
  );

describe('buildGraph', () => {
  it('orders cards after their sources and finds exactly the cards in circles', () => {
    fc.assert(
      fc.property(graphs, ([count, edges]) => {
        const { order, cyclic, wires } = buildGraph(cardsOf(edges, count));
        assert.deepEqual(new Set(cyclic), cyclicOf(edges, count));
        assert.equal(wires.length, edges.length);
        assert.equal(new Set(order).size, order.length);
        assert.equal(order.length + cyclic.size, count);
        for (const { fromCard, toCard } of wires) {
          if (cyclic.has(fromCard) || cyclic.has(toCard)) continue;
          assert.ok(order.indexOf(fromCard) < order.indexOf(toCard));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('names a real circle, from each of its cards', () => {
    fc.assert(
      fc.property(graphs, ([count, edges]) => {
        const { cyclic, wires } = buildGraph(cardsOf(edges, count));
        const isWire = (from: string, to: string) =>
          wires.some((wire) => wire.fromCard === from && wire.toCard === to);
        for (const group of stronglyConnected([...cyclic], wires)) {
          const inside = wires.filter((wire) => group.includes(wire.fromCard) && group.includes(wire.toCard));
          for (const card of group) {
            const names = cyclePath(group, inside)(card).split(' → ');
            assert.equal(names[0], names.at(-1));
            names.slice(1).forEach((name, index) => assert.ok(isWire(names[index] ?? '', name)));
          }
        }
      }),
    );
  });

  it('wires nothing that does not exist, does not join or is broken', () => {
    const cards = cardsOf(
      [
        [0, 1],
        [2, 1],
        [5, 1],
      ],
      3,
    );
    cards.set('c2', { id: 'c2', manifest: null });
    assert.deepEqual(
      buildGraph(cards).wires.map((wire) => wire.fromCard),
      ['c0'],
    );
    const odd = cardsOf([], 1);
    odd.set('x', {
      id: 'x',
      manifest: {
        version: 1,
        title: 'x',
        runtime: 'js',
        entry: 'x',
        inputs: {
          a: { type: 'image', from: 'c0/out' },
          b: { type: 'file', from: 'c0/out' },
          c: { type: 'json', from: 'c0/toString' },
        },
      },
    });
    assert.deepEqual(
      buildGraph(odd).wires.map((wire) => wire.toPort),
      ['b'],
    );
  });

  it('takes a chain and a circle of twenty thousand cards without running out of stack', () => {
    const count = 20_000;
    const chain = Array.from({ length: count - 1 }, (_, index) => [index, index + 1] as const);
    const cards = new Map<string, GraphCard>();
    for (const [index, card] of [...Array(count).keys()].map((each) => [each, `c${each}`] as const)) {
      const manifest: CardManifest = {
        version: 1,
        title: 'x',
        runtime: 'js',
        entry: 'x.js',
        outputs: { out: { type: 'json' } },
        ...(index > 0 ? { inputs: { a: { type: 'json', from: `c${index - 1}/out` } } } : {}),
      };
      cards.set(card, { id: card, manifest });
    }
    assert.equal(buildGraph(cards).order.length, count);
    const first = cards.get('c0')?.manifest;
    assert.ok(first);
    cards.set('c0', {
      id: 'c0',
      manifest: { ...first, inputs: { a: { type: 'json', from: `c${count - 1}/out` } } },
    });
    const circle = buildGraph(cards);
    assert.equal(circle.cyclic.size, count);
    assert.equal(circle.wires.length, chain.length + 1);
  });
});
