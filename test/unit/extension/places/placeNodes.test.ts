import assert from 'node:assert/strict';
import { placeIcons, placeNodes } from '../../../../extension/src/places/placeNodes.ts';
import type { KnownPlaces } from '../../../../extension/src/places/placesList.ts';
import type { TreeNode } from '../../../../extension/src/views/treeNode.ts';
import type { CardState } from '../../../../protocol/src/engine.ts';
import { placeStates, type PlaceView } from '../../../../protocol/src/places.ts';
import { placeFacts, placePermission, samplePlace } from '../../../support/samplePlaces.ts';
import { makeCard, makeProject, makeStatus } from '../../../support/sampleViews.ts';

const childrenOf = (node: TreeNode | undefined): readonly TreeNode[] =>
  typeof node?.children === 'function' ? assert.fail('children are there at once') : (node?.children ?? []);
const lines = (nodes: readonly TreeNode[]) =>
  nodes.map(({ label, description }) => (description === undefined ? label : `${label} | ${description}`));
const here = () =>
  Promise.resolve({ isolation: placeFacts.isolation, interpreters: placeFacts.interpreters });
const known = (places: readonly PlaceView[], more: Partial<KnownPlaces> = {}): KnownPlaces => ({
  places,
  workers: [],
  image: null,
  ...more,
});

describe('the Places view', () => {
  it('[PLACEUI-01] is empty where cards run here only, so that its welcome shows', () => {
    assert.deepEqual(placeNodes(known([]), [makeProject()], here), []);
  });

  it('[PLACEUI-01] shows what a place said of itself, and the cards that name it', () => {
    const cards = [
      makeCard({ permissions: [placePermission('ssh:lab')] }),
      makeCard({ id: 'b', title: 'B' }),
    ];
    const place = samplePlace({ state: 'ready', facts: placeFacts, running: 2, latencyMs: 12 });
    const [local, node] = placeNodes(known([place]), [makeProject({ cards })], here);
    assert.deepEqual(lines([local!, node!]), [
      'This computer | ready',
      'lab over SSH | ready · 2 cards run · 12 ms',
    ]);
    assert.equal(node?.kind, 'place.ssh.open');
    assert.deepEqual(lines(childrenOf(node)), [
      'Load | not run',
      'Cards are sealed by bubblewrap; limits are kept by the kernel (cgroups)',
      'python 3.13.5, node 22.1.0',
      '4 cards at once, 34 GB free',
      'linux, Node 22.1.0',
    ]);
  });

  it('[PLACEUI-01] tells this computer’s isolation only when its line is opened', async () => {
    const running = makeCard({ status: makeStatus({ state: 'running', finishedAt: null }) });
    let looks = 0;
    const [local] = placeNodes(known([samplePlace()]), [makeProject({ cards: [running] })], () => {
      looks++;
      return here();
    });
    assert.equal(looks, 0);
    assert.equal(local?.description, 'ready · one card runs');
    assert.ok(typeof local.children === 'function');
    assert.deepEqual(lines(await local.children()).slice(1), [
      'Cards are sealed by bubblewrap; limits are kept by the kernel (cgroups)',
      'python 3.13.5, node 22.1.0',
    ]);
  });

  it('[PLACEUI-01] counts here what runs, and not what waits for its turn', () => {
    const card = (id: string, state: CardState) =>
      makeCard({ id, status: makeStatus({ state, finishedAt: null }) });
    const cards = [card('a', 'running'), card('b', 'queued'), card('c', 'queued')];
    const [local] = placeNodes(known([samplePlace()]), [makeProject({ cards })], here);
    assert.equal(local?.description, 'ready · one card runs');
  });

  it('[PLACEUI-01] says why a place can’t be used and what to do, spoken as well, escaped', () => {
    const place = samplePlace({
      state: 'refused',
      detail: 'No Node\u202e',
      remedy: 'Install Node 20 or newer',
    });
    const [, node] = placeNodes(known([place]), [], here);
    assert.equal(node?.description, 'can’t be used');
    assert.equal(node.kind, 'place.ssh.closed');
    assert.match(node.spoken ?? '', /No Node\\u\{202E\}\., Install Node 20 or newer\./);
    assert.deepEqual(lines(childrenOf(node)), [
      'No Node\\u{202E}.',
      'Install Node 20 or newer.',
      'Not looked at yet',
    ]);
  });

  it('[PLACEUI-01] warns of nothing while a place is being connected to', () => {
    const place = samplePlace({ state: 'connecting', detail: 'Connecting to 127.0.0.1' });
    const [, node] = placeNodes(known([place]), [], here);
    assert.ok(node);
    const [told] = childrenOf(node);
    assert.deepEqual([told?.label, told?.icon?.name], ['Connecting to 127.0.0.1.', 'info']);
  });

  it('[PLACEUI-01] does not call a place ready that can’t seal a card', () => {
    const isolation = {
      kind: 'none',
      version: '',
      limits: 'watchdog',
      checks: [
        { id: 'x', title: 'Namespaces', ok: false, detail: 'forbidden', remedy: 'Allow user namespaces' },
      ],
    } as const;
    const place = samplePlace({
      state: 'ready',
      facts: { ...placeFacts, isolation: { ...isolation, checks: [...isolation.checks] } },
    });
    const [, node] = placeNodes(known([place]), [], here);
    assert.equal(node?.description, 'can’t seal cards');
    assert.deepEqual(node.icon, placeIcons.unsealed);
    assert.deepEqual(lines(childrenOf(node)).slice(0, 2), [
      'Namespaces: forbidden.',
      'Allow user namespaces.',
    ]);
  });

  it('[PLACEUI-01] has a shape of its own for every state', () => {
    const shapes = [...placeStates, 'unsealed' as const].map((state) => placeIcons[state].name);
    assert.equal(new Set(shapes).size, shapes.length);
  });

  it('[PLACEUI-01] shows the image of VMs, and where a worker is', () => {
    const nodes = placeNodes(
      known([samplePlace({ id: 'vm', kind: 'vm' }), samplePlace({ id: 'worker:big', kind: 'worker' })], {
        workers: [{ name: 'big', host: 'big.test', port: 7337, fingerprint: 'SHA256:aaaa' }],
        image: { builtAt: 0, sizeBytes: 210_000_000, node: 'v24.1.0', packages: [], isOutdated: true },
      }),
      [],
      here,
    );
    assert.deepEqual(lines(childrenOf(nodes[1])), [
      'Image of 200 MB | of another Sallyport: build it again',
      'Not looked at yet',
    ]);
    assert.deepEqual(lines(childrenOf(nodes[2])), [
      'At big.test:7337',
      'Its identity: SHA256:aaaa',
      'Not looked at yet',
    ]);
  });

  it('[PLACEUI-01] gives every line an id of its own', () => {
    const card = makeCard({ permissions: [placePermission('ssh:lab')] });
    const nodes = placeNodes(
      known([samplePlace({ facts: placeFacts, state: 'ready' })]),
      [makeProject({ cards: [card] }), makeProject({ root: '/q', cards: [card] })],
      here,
    );
    const ids = nodes
      .flatMap((node) => [node, ...(Array.isArray(node.children) ? (node.children as TreeNode[]) : [])])
      .map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });
});
