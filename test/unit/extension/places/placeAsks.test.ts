import assert from 'node:assert/strict';
import { placeNodes } from '../../../../extension/src/places/placeNodes.ts';
import { placeStateWord } from '../../../../extension/src/placeViewMessages.ts';
import type { TreeNode } from '../../../../extension/src/views/treeNode.ts';
import { samplePlace } from '../../../support/samplePlaces.ts';

describe('a place that needs a person', () => {
  const nodeOf = (over: Parameters<typeof samplePlace>[0]): TreeNode => {
    const here = () => assert.fail('nobody asked for this computer');
    const [, node] = placeNodes({ places: [samplePlace(over)], workers: [], image: null }, [], here);
    assert.ok(node);
    return node;
  };
  const childrenOf = ({ children }: TreeNode): readonly TreeNode[] =>
    typeof children === 'object' ? children : [];
  const words = { detail: 'lab does not let who in', remedy: 'Check Place asks you.' };

  it('[PLACEUI-01] says so, with why, and what helps is a click on either line', () => {
    const node = nodeOf({ state: 'asks', ...words });
    assert.equal(node.description, 'needs you');
    assert.equal(placeStateWord({ state: 'asks', facts: null }), 'needs you');
    assert.equal(node.isExpanded, true);
    assert.match(node.spoken ?? '', /needs you.*does not let who in.*Check Place/);
    const lines = childrenOf(node).slice(0, 2);
    assert.deepEqual(
      lines.map(({ label }) => label),
      ['lab does not let who in.', 'Check Place asks you.'],
    );
    for (const line of lines) {
      assert.equal(line.command?.id, 'sallyport.checkPlace');
      assert.equal(line.place, 'ssh:lab');
    }
  });

  it('[PLACEUI-01] differs from one that can’t be used, where a click would not help', () => {
    const node = nodeOf({ state: 'refused', ...words });
    assert.equal(node.description, 'can’t be used');
    assert.equal(childrenOf(node)[0]?.command, undefined);
    const icons = [node, nodeOf({ state: 'asks', ...words })].map(({ icon }) => icon?.name);
    assert.equal(new Set(icons).size, 2);
  });

  it('[PLACEUI-01] is shown while it is looked for, with for what', () => {
    const node = nodeOf({ state: 'connecting', detail: 'Looking for 2 cards at ssh:lab' });
    assert.equal(node.description, 'connecting');
    assert.equal(childrenOf(node)[0]?.label, 'Looking for 2 cards at ssh:lab.');
  });
});
