import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CardState, CardStatus, PermissionView, RunState } from '../../../protocol/src/engine.ts';
import {
  acceptedText,
  cardAside,
  cardFigures,
  shownPermission,
  shownState,
} from '../../../webviews/src/canvas/cardText.ts';
import { reduceCanvas, stateChanges, initialCanvas } from '../../../webviews/src/canvas/canvasState.ts';
import { graphKey, neighbour, wiresOf } from '../../../webviews/src/canvas/graph.ts';
import { cardSize, createGraphCache, placeCards } from '../../../webviews/src/canvas/layout.ts';
import { initialRun, reduceRun } from '../../../webviews/src/run/runState.ts';
import { runSentence } from '../../../webviews/src/ui/runSentence.ts';
import { placePermission } from '../../support/samplePlaces.ts';
import {
  sampleCard,
  sampleCardRun,
  sampleOutput,
  sampleProject,
  sampleRun,
  sampleStatus,
} from '../../support/sampleViews.ts';

const project = () => ({ root: '/p', name: 'p', trusted: true, cards: sampleProject(), run: null });

describe('A run in one line', () => {
  it('counts each state, and says once what is so of all cards', () => {
    const said = (state: RunState, counts: Record<string, number>) =>
      runSentence(sampleRun({ state, counts }));
    assert.equal(said('done', { done: 6, failed: 0 }), 'Done: all 6 cards');
    assert.equal(said('failed', { failed: 1 }), 'Failed: one card');
    assert.equal(said('done', { done: 2 }), 'Done: both cards');
    assert.equal(said('done', { blocked: 1, done: 5 }), 'Done: 5 done, 1 blocked');
    assert.equal(said('done', { blocked: 2 }), 'Done: 2 blocked');
    assert.equal(said('running', { running: 2 }), 'Running: 2 running');
    assert.equal(said('done', {}), 'Done');
  });
});

describe('A card on the canvas', () => {
  it('is blocked before its first run and after it, unless it is under way', () => {
    const stateOf = (state: CardState | null, blocked: boolean) =>
      shownState({ status: state === null ? null : sampleStatus(state), blocked }).state;
    assert.deepEqual(
      [stateOf(null, false), stateOf(null, true), stateOf('done', false), stateOf('done', true)],
      ['none', 'blocked', 'done', 'blocked'],
    );
    assert.deepEqual(
      [stateOf('queued', true), stateOf('running', true), stateOf('skipped', false)],
      ['queued', 'running', 'skipped'],
    );
  });
});

describe('The place of a card on the canvas', () => {
  const network = {
    ...placePermission('x'),
    key: 'n',
    permission: { name: 'network', host: 'a.test' },
  } as const;

  it('[PLACEUI-01] is the permission that is shown, unless another waits for a person', () => {
    const place = placePermission('ssh:lab');
    const shown = (...permissions: PermissionView[]) => shownPermission(sampleCard('a', { permissions }));
    assert.equal(shown(network, place), place);
    const waiting = { ...network, accepted: false };
    assert.equal(shown(place, waiting), waiting);
    assert.equal(shown(network), network);
    assert.equal(shown(), undefined);
  });

  it('[PLACEUI-01] is told in few words once it is accepted, with nothing in it that hides', () => {
    assert.equal(acceptedText(placePermission('ssh:lab')), 'Runs on ssh:lab');
    assert.equal(acceptedText(placePermission('ssh:l\u202eab')), 'Runs on ssh:l\\u{202e}ab');
    assert.equal(acceptedText(network), network.sentence);
  });

  it('[PLACEUI-01] is told while the card is under way there', () => {
    const figures = (status: Partial<CardStatus>) =>
      cardFigures(sampleCard('a', { status: sampleStatus(status.state ?? 'done', status) }));
    assert.equal(figures({ state: 'running', place: 'ssh:lab' }), 'ssh:lab');
    assert.equal(figures({ state: 'running', place: 'local' }), '');
    assert.doesNotMatch(figures({ state: 'done', place: 'ssh:lab' }), /lab/);
  });

  it('[PLACEUI-01] leaves the other permissions to what a screen reader says beside', () => {
    const card = sampleCard('a', { permissions: [network, placePermission('ssh:lab')] });
    assert.equal(cardAside(card, []), network.sentence);
  });
});

describe('The canvas’s state', () => {
  it('takes a delta for the cards that changed, and keeps the identity of the others', () => {
    const before = reduceCanvas(initialCanvas, { type: 'project', project: project() });
    const status = sampleStatus('done');
    const after = reduceCanvas(before, {
      type: 'delta',
      run: sampleRun(),
      cards: [
        { id: 'chart', status },
        { id: 'unknown card', status },
      ],
    });
    for (const [index, card] of (after.project?.cards ?? []).entries()) {
      const known = before.project?.cards[index];
      assert.equal(card === known, card.id !== 'chart');
    }
    assert.deepEqual(
      stateChanges(before.project?.cards ?? [], after.project?.cards ?? [], (card) => card.id),
      ['chart'],
    );
  });

  it('ignores a delta before a project, and shows a sentence in its place', () => {
    const delta = { type: 'delta', run: sampleRun(), cards: [] } as const;
    assert.equal(reduceCanvas(initialCanvas, delta), initialCanvas);
    const state = reduceCanvas(initialCanvas, { type: 'message', text: 'No project' });
    assert.deepEqual(state, { project: undefined, message: 'No project' });
  });
});

describe('The graph', () => {
  it('has the wires whose both ends exist', () => {
    const cards = [
      sampleCard('a'),
      sampleCard('b', {
        inputs: [
          { name: 'x', type: 'table', from: 'a/out', optional: false },
          { name: 'y', type: 'json', from: 'gone/out', optional: false },
          { name: 'z', type: 'json', optional: true },
        ],
      }),
    ];
    assert.deepEqual(wiresOf(cards), [{ from: 'a', fromPort: 'out', to: 'b', toPort: 'x', type: 'table' }]);
  });

  it('is laid out left to right along its wires, without overlaps', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 30 }), (parents) => {
        const cards = parents.map((parent, index) =>
          sampleCard(`c${index}`, {
            inputs:
              index === 0
                ? []
                : [{ name: 'in', type: 'json', from: `c${parent % index}/out`, optional: false }],
          }),
        );
        const wires = wiresOf(cards);
        const places = [...placeCards(cards, wires)];
        const at = new Map(places);
        for (const { from, to } of wires) {
          assert.ok((at.get(from)?.x ?? 0) + cardSize.width <= (at.get(to)?.x ?? 0));
        }
        for (const [index, [, a]] of places.entries()) {
          for (const [, b] of places.slice(index + 1)) {
            const apart = Math.abs(a.x - b.x) >= cardSize.width || Math.abs(a.y - b.y) >= cardSize.height;
            assert.ok(apart);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is laid out again only when cards or wires change', () => {
    let count = 0;
    const place = createGraphCache((cards, wires) => {
      count++;
      return placeCards(cards, wires);
    });
    const cards = sampleProject();
    const first = place(cards);
    const moved = cards.map((card) => ({ ...card, status: sampleStatus('done') }));
    assert.equal(place(moved), first);
    place(cards.slice(1));
    assert.equal(count, 2);
    assert.notEqual(graphKey(cards, wiresOf(cards)), graphKey(cards.slice(1), []));
  });

  it('can be walked with arrow keys to every card', () => {
    const cards = sampleProject();
    const wires = wiresOf(cards);
    const places = placeCards(cards, wires);
    const reached = new Set(['load-weather']);
    const queue = ['load-weather'];
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      for (const direction of ['left', 'right', 'up', 'down'] as const) {
        const next = neighbour(id, direction, places, wires);
        if (next !== undefined && !reached.has(next)) {
          reached.add(next);
          queue.push(next);
        }
      }
    }
    assert.equal(reached.size, cards.length);
    assert.equal(neighbour('nobody', 'left', places, wires), undefined);
  });
});

describe('The run view’s state', () => {
  const cards = [
    sampleCardRun('first'),
    sampleCardRun('shown', { outputs: [sampleOutput('out', 'vega-lite', true)] }),
    sampleCardRun('broken', { status: sampleStatus('failed', { cardRunId: 'run-1-broken' }) }),
  ];
  const open = (selected: string | null, list = cards) =>
    reduceRun(initialRun, { type: 'state', run: sampleRun(), cards: list, selected });

  it('begins with the card that most needs a look', () => {
    assert.equal(open(null).selected, 'broken');
    assert.equal(open(null, cards.slice(0, 2)).selected, 'shown');
    assert.equal(open(null, cards.slice(0, 1)).selected, 'first');
    assert.equal(open('first').selected, 'first');
    assert.equal(open('not there').selected, 'broken');
  });

  it('keeps the selection through changes of the same run', () => {
    const chosen = reduceRun(open(null), { type: 'select', card: 'first' });
    const again = reduceRun(chosen, { type: 'state', run: sampleRun(), cards, selected: null });
    assert.equal(again.selected, 'first');
    assert.equal(reduceRun(again, { type: 'select', card: 'not there' }).selected, 'first');
  });

  it('takes changes of its own run only, and logs that grow', () => {
    const state = open(null);
    const other = { type: 'cards', run: sampleRun({ runId: 'other' }), cards } as const;
    assert.equal(reduceRun(state, other), state);
    const grown = reduceRun(state, { type: 'logGrew', cardRunId: 'run-1-first', totalLines: 9 });
    assert.equal(grown.cards[0]?.logLines, 9);
    const shrunk = reduceRun(grown, { type: 'logGrew', cardRunId: 'run-1-first', totalLines: 3 });
    assert.equal(shrunk.cards[0]?.logLines, 9);
  });
});
