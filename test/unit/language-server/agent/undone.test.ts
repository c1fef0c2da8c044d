import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgentEngine } from '../../../support/agentEngine.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('what a conversation says of its changes', () => {
  const folder = useTemporaryFolder();
  let agent: AgentEngine;
  let root: string;

  beforeEach(() => {
    root = writeProject(join(folder(), 'project'), { one: { title: 'The first card' } });
    agent = new AgentEngine(join(folder(), 'home'), root);
  });
  afterEach(() => agent.dispose());

  it('[AGENT-06] follows an undo and its redo, told at once and kept', async () => {
    await agent.connect('openai-compatible', [
      {
        calls: ['a.txt', 'b.txt'].map((path) => ({ name: 'create', args: { path, text: `${path}\n` } })),
      },
      { text: ['Both are there.'] },
    ]);
    const { id } = await agent.create('openai-compatible');
    await agent.send(id, 'Make two files');
    await agent.answer('allow-once');
    await agent.answer('allow-once');
    await agent.idle(id);
    const flags = async () =>
      (await agent.items(id)).flatMap((item) =>
        item.kind === 'tool' ? item.changes.map(({ path, undone }) => `${path} ${undone}`) : [],
      );
    assert.deepEqual(await flags(), ['a.txt false', 'b.txt false']);
    const { changes } = await agent.call('history/list', { root, conversation: id, limit: 10 });
    const turn = async (direction: 'undo' | 'redo', chosen: { changeIds: string[] } | { group: string }) => {
      const { planDigest } = await agent.call('history/preview', { root, direction, ...chosen });
      await agent.call('history/apply', { root, direction, ...chosen, planDigest });
    };
    const first = changes.find(({ path }) => path === 'a.txt');
    await turn('undo', { changeIds: [first?.id ?? ''] });
    assert.ok(!existsSync(join(root, 'a.txt')));
    assert.deepEqual(await flags(), ['a.txt true', 'b.txt false']);
    await until(() =>
      agent
        .deltas(id)
        .some(({ items }) =>
          items.some((item) => item.kind === 'tool' && item.changes.some(({ undone }) => undone)),
        ),
    );
    await turn('undo', { group: first?.group ?? '' });
    assert.deepEqual(await flags(), ['a.txt true', 'b.txt true']);
    await turn('redo', { group: first?.group ?? '' });
    assert.deepEqual(await flags(), ['a.txt false', 'b.txt false']);
  });
});
