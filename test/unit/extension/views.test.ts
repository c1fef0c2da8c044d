import assert from 'node:assert/strict';
import { cardStates, type CardStatus } from '../../../protocol/src/engine.ts';
import type { EngineState } from '../../../extension/src/engineClient.ts';
import { emptyState, withDelta, withProjects } from '../../../extension/src/project/projectState.ts';
import { cardNodes } from '../../../extension/src/views/cardNodes.ts';
import { stateIcons } from '../../../extension/src/views/cardText.ts';
import { runNode } from '../../../extension/src/views/runNodes.ts';
import { progressOf, statusText } from '../../../extension/src/views/statusText.ts';
import type { TreeNode } from '../../../extension/src/views/treeNode.ts';
import {
  hostPermission,
  makeCard,
  makeCardRun,
  makeProject,
  makeRun,
  makeStatus,
} from '../../support/sampleViews.ts';

const childrenOf = (node: TreeNode | undefined) =>
  Array.isArray(node?.children) ? (node.children as TreeNode[]) : [];

describe('the Cards view', () => {
  it('shows one project’s cards at the top, several projects as folders', () => {
    assert.deepEqual(
      cardNodes([makeProject()]).map((node) => node.kind),
      ['card'],
    );
    const several = cardNodes([makeProject(), makeProject({ root: '/q', name: 'q' })]);
    assert.deepEqual(
      several.map((node) => node.kind),
      ['project', 'project'],
    );
    assert.equal(childrenOf(several[0])[0]?.kind, 'card');
  });

  it('says state, time and size in words', () => {
    const [node] = cardNodes([makeProject({ cards: [makeCard({ status: makeStatus() })] })]);
    assert.equal(node?.description, 'done · 1.2 s · 34 KB');
    assert.equal(node.spoken, 'Load, done · 1.2 s · 34 KB');
    const running = makeStatus({
      state: 'running',
      progress: { fraction: 0.6, text: 'x' },
      finishedAt: null,
    });
    assert.equal(
      cardNodes([makeProject({ cards: [makeCard({ status: running })] })])[0]?.description,
      'running · 60 %',
    );
  });

  it('[PLACEUI-01] says where a card runs that does not run here', () => {
    const described = (status: Partial<CardStatus>) =>
      cardNodes([makeProject({ cards: [makeCard({ status: makeStatus(status) })] })])[0]?.description;
    assert.equal(described({ place: 'ssh:lab' }), 'done · lab over SSH · 1.2 s · 34 KB');
    assert.equal(described({ place: 'local' }), described({}));
  });

  it('has a word and a shape of its own for every state', () => {
    const shapes = [...cardStates, 'problem' as const, 'none' as const].map(
      (state) => stateIcons[state].name,
    );
    assert.equal(new Set(shapes).size, shapes.length);
  });

  it('says why a blocked card is blocked, and what it would reach', () => {
    const card = makeCard({ blocked: true, permissions: [hostPermission] });
    const [node] = cardNodes([makeProject({ cards: [card] })]);
    assert.equal(node?.description, 'blocked');
    assert.equal(node.kind, 'card.blocked');
    const lines = childrenOf(node).map((child) => [child.kind, child.label, child.description]);
    assert.deepEqual(lines, [
      ['blocked', 'Blocked: one permission is not accepted', undefined],
      ['permission.waiting', 'Reach api.example.org over the network', 'not accepted'],
    ]);
  });

  it('says that a card without permissions reaches only its inputs', () => {
    assert.equal(childrenOf(cardNodes([makeProject()])[0])[0]?.label, 'Reaches only its inputs');
  });

  it('shows the reason of a failure with its remedy, and errors of a manifest before all', () => {
    const reason = { kind: 'timeout', detail: '60 s', remedy: 'Raise limits.seconds' } as const;
    const card = makeCard({ problems: 2, status: makeStatus({ state: 'failed', reason }) });
    const [node] = cardNodes([makeProject({ cards: [card] })]);
    assert.equal(node?.description?.startsWith('has errors'), true);
    assert.deepEqual(
      childrenOf(node)
        .slice(0, 2)
        .map((child) => child.label),
      ['Its manifest has 2 errors', 'Took longer than its limit: 60 s – Raise limits.seconds'],
    );
  });

  it('names its ports with what feeds them', () => {
    const card = makeCard({
      inputs: [{ name: 'weather', type: 'table', from: 'load/weather', optional: false }],
      outputs: [{ name: 'chart', type: 'vega-lite', optional: false }],
      viewOutput: 'chart',
    });
    const lines = childrenOf(cardNodes([makeProject({ cards: [card] })])[0]).map((child) => [
      child.label,
      child.description,
    ]);
    assert.deepEqual(lines.slice(1), [
      ['Input weather', 'table from load/weather'],
      ['Output chart', 'vega-lite, shown as a view'],
    ]);
  });

  it('shows hostile titles plain, and keeps every id unique', () => {
    const cards = ['a', 'b'].map((id) =>
      makeCard({ id, title: `$(check) \u202e${id}`, permissions: [hostPermission] }),
    );
    const nodes = cardNodes([makeProject({ cards })]);
    assert.equal(nodes[0]?.label, '$ (check) \\u{202E}a');
    const ids = nodes.flatMap((node) => [node.id, ...childrenOf(node).map((child) => child.id)]);
    assert.equal(new Set(ids).size, ids.length);
  });
});

describe('the Runs view', () => {
  it('shows a run in one line and its cards below', async () => {
    const run = makeRun({ state: 'done', finishedAt: 3300, counts: { done: 6 }, cachedCards: 4 });
    const node = runNode(run, async () => ({ summary: run, cards: [makeCardRun()] }), {
      isNamed: false,
      now: run.startedAt,
    });
    assert.equal(node.description, 'done · 6 cards · 4 from cache · 2.3 s');
    const withBlocked = { ...run, counts: { done: 5, blocked: 1 } };
    const blocked = runNode(withBlocked, () => Promise.reject(new Error('not asked')), {
      isNamed: false,
      now: run.startedAt,
    });
    assert.equal(blocked.description, 'done · 6 cards · 1 blocked · 4 from cache · 2.3 s');
    assert.equal(blocked.icon?.name, 'lock');
    assert.ok(typeof node.children === 'function');
    const [card] = await node.children();
    assert.equal(card?.description, 'done · 1.2 s · 34 KB');
    assert.deepEqual([card.root, card.runId, card.card], ['/p', 'r1', 'load']);
  });
});

describe('the status bar', () => {
  const projects = (cards = [makeCard()]) => withProjects(emptyState, [makeProject({ cards })]);
  const done = makeCard({ status: makeStatus() });
  const rows: [
    what: string,
    text: string | undefined,
    state: typeof emptyState,
    engine?: EngineState,
    trusted?: boolean,
  ][] = [
    ['nothing without a project', undefined, emptyState],
    ['that the engine stopped', '$(error) Sallyport stopped', emptyState, 'gave-up'],
    ['Restricted Mode', '$(shield) Sallyport: Restricted Mode', projects(), 'running', false],
    ['what runs', '$(sync~spin) Sallyport 1/4', withDelta(projects(), { summary: makeRun(), cards: [] })],
    [
      'failures before what is blocked',
      '$(error) 1 failed',
      projects([makeCard({ status: makeStatus({ state: 'failed' }) }), makeCard({ blocked: true })]),
    ],
    [
      'errors in manifests',
      '$(warning) 1 with errors',
      projects([makeCard({ problems: 1 }), makeCard({ blocked: true })]),
    ],
    [
      'what is blocked before what is done',
      '$(lock) 1 blocked',
      projects([done, makeCard({ blocked: true })]),
    ],
    ['what is done', '$(pass) 1 done', projects([done])],
    ['its name when nothing ran', '$(shield) Sallyport', projects()],
  ];
  for (const [what, text, state, engine = 'running', trusted = true] of rows) {
    it(`shows ${what}`, () => {
      const status = statusText(state, engine, trusted);
      assert.equal(status?.text, text);
      if (status) assert.match(status.spoken, /^Sallyport/);
    });
  }

  it('counts cards that have ended', () => {
    assert.deepEqual(
      progressOf([
        { done: 1, running: 1, queued: 2 },
        { failed: 1, blocked: 1 },
      ]),
      { done: 3, total: 6 },
    );
  });
});
