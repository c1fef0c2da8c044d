import assert from 'node:assert/strict';
import { join } from 'node:path';
import { AgentEngine, secretKey, told } from '../../../support/agentEngine.ts';
import { noteTools, type NoteLog } from '../../../support/noteTool.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { wireFormats } from '../../../support/providers/formats.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('a conversation', () => {
  const folder = useTemporaryFolder();
  let agent: AgentEngine;
  let log: NoteLog;

  beforeEach(() => {
    log = { done: [] };
    const root = writeProject(join(folder(), 'project'), { one: {} });
    agent = new AgentEngine(join(folder(), 'home'), root, { createTools: () => noteTools(log) });
  });
  afterEach(() => agent.dispose());

  for (const [kind] of wireFormats) {
    it(`[TURN-01] goes from a message through calls to an answer, over ${kind}`, async () => {
      const server = await agent.connect(kind, [
        { text: ['I ', 'look.'], calls: [{ name: 'read', args: { text: 'a' } }] },
        { text: ['All ', 'is well.'], usage: { input: 1000, output: 100 } },
      ]);
      const { id } = await agent.create(kind);
      const items = await agent.ask(id, 'Look at a');
      assert.deepEqual(told(items), [
        'person: Look at a',
        'answer complete: I look.',
        'tool read done',
        'answer complete: All is well.',
      ]);
      assert.deepEqual(log.done, ['read a']);
      const second = server.seen[1]!;
      assert.match(second.text, /read did a/);
      const summary = await agent.summary(id);
      assert.deepEqual(summary.usage, {
        inputTokens: 1100,
        outputTokens: 120,
        cachedTokens: 0,
        cost: (1100 + 1200) / 1_000_000,
      });
      assert.equal(summary.contextTokens, 1100);
      assert.equal(summary.title, 'Look at a');
      assert.equal(agent.person.openStreams, 0);
      for (const { params } of agent.person.asked) assert.doesNotMatch(JSON.stringify(params), /kept-by/);
      assert.doesNotMatch(JSON.stringify(agent.engine.told), new RegExp(secretKey));
    });
  }
});
