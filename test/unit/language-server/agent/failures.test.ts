import assert from 'node:assert/strict';
import { join } from 'node:path';
import { AgentEngine, told } from '../../../support/agentEngine.ts';
import { noteTools, type NoteLog } from '../../../support/noteTool.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { wireFormats } from '../../../support/providers/formats.ts';
import type { ScriptedTurn } from '../../../support/providers/script.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

/**
 * Waits of the engine run a hundred times as fast here. So does what it gives up as slow or silent only where a test is
 * about that: elsewhere a busy machine would be both.
 */
let givesUpSoon = false;
const shortestPatienceMs = 20_000;
const faster = (run: () => void, ms: number) => {
  const timer = setTimeout(run, ms < shortestPatienceMs || givesUpSoon ? ms / 100 : ms);
  return () => clearTimeout(timer);
};

interface Case {
  readonly name: string;
  /** Turns before a sound one. */
  readonly turns: readonly ScriptedTurn[];
  /** Requests that reach the provider. */
  readonly requests: number;
  readonly notices: readonly RegExp[];
  readonly ends: 'idle' | 'failed';
}

const call = { name: 'read', args: { text: 'a' } };

const cases: readonly Case[] = [
  {
    name: '429 with Retry-After',
    turns: [{ failure: { status: 429, headers: { 'retry-after': '2' } } }],
    requests: 2,
    notices: [/takes no more requests for now \(429\)\. Trying again in 2 s/],
    ends: 'idle',
  },
  {
    name: '429 that asks for longer than is waited',
    turns: [{ failure: { status: 429, headers: { 'retry-after': '3600' } } }],
    requests: 1,
    notices: [/takes no more requests for now \(429\)\. Wait a moment/],
    ends: 'failed',
  },
  {
    name: '500 three times',
    turns: Array.from({ length: 3 }, () => ({ failure: { status: 500 } })),
    requests: 3,
    notices: [/Trying again in 1 s/, /Trying again in 2 s/, /failed on its own side \(500\)/],
    ends: 'failed',
  },
  {
    name: 'overload once',
    turns: [{ failure: { status: 529 } }],
    requests: 2,
    notices: [/is overloaded \(529\)\. Trying again/],
    ends: 'idle',
  },
  {
    name: 'an expired key',
    turns: [{ failure: { status: 401 } }],
    requests: 1,
    notices: [/does not accept the key \(401\).*Replace the key/],
    ends: 'failed',
  },
  {
    name: 'a model that there is not',
    turns: [{ failure: { status: 404 } }],
    requests: 1,
    notices: [/refused the request \(404\)/],
    ends: 'failed',
  },
  {
    name: 'a redirect',
    turns: [{ failure: { status: 307, headers: { location: 'https://elsewhere.example/' } } }],
    requests: 1,
    notices: [/A web page came instead/],
    ends: 'failed',
  },
  {
    name: 'a page of a proxy with status 200',
    turns: [{ page: true }],
    requests: 1,
    notices: [/A web page came instead of an answer/],
    ends: 'failed',
  },
  {
    name: 'a page of a proxy with status 403',
    turns: [
      {
        failure: { status: 403, body: '<html>Blocked</html>', headers: { 'content-type': 'text/html' } },
      },
    ],
    requests: 1,
    notices: [/A web page came instead/],
    ends: 'failed',
  },
  {
    name: 'a stream that breaks in the middle',
    turns: [{ text: ['Half'], calls: [call], cut: 'reset' }],
    requests: 1,
    notices: [/was cut off in the middle/],
    ends: 'failed',
  },
  {
    name: 'a stream that ends as if it were whole',
    turns: [{ text: ['Half'], calls: [call], cut: 'end' }],
    requests: 1,
    notices: [/was cut off in the middle/],
    ends: 'failed',
  },
  {
    name: 'an error in the middle of a stream',
    turns: [
      { text: ['Half'], calls: [call], streamError: { type: 'overloaded_error', message: 'Overloaded' } },
    ],
    requests: 1,
    notices: [/is overloaded/],
    ends: 'failed',
  },
];

describe('a provider that fails', () => {
  const folder = useTemporaryFolder();
  let agent: AgentEngine;
  let log: NoteLog;

  beforeEach(() => {
    givesUpSoon = false;
    log = { done: [] };
    const root = writeProject(join(folder(), 'project'), { one: {} });
    agent = new AgentEngine(join(folder(), 'home'), root, {
      createTools: () => noteTools(log),
      setTimer: faster,
    });
  });
  afterEach(() => agent.dispose());

  for (const [kind] of wireFormats) {
    for (const { name, turns, requests, notices, ends } of cases) {
      it(`[TURN-02] says so and does nothing twice: ${name}, ${kind}`, async () => {
        const server = await agent.connect(kind, [...turns, { text: ['Whole.'] }]);
        const { id } = await agent.create(kind);
        const items = await agent.ask(id, 'Go');
        assert.equal(server.seen.length, requests);
        const shown = items.flatMap((item) => (item.kind === 'notice' ? [item.text] : []));
        assert.equal(shown.length, notices.length, shown.join('\n'));
        for (const [index, pattern] of notices.entries()) assert.match(shown[index]!, pattern);
        assert.equal((await agent.summary(id)).state, ends);
        assert.deepEqual(log.done, [], 'no call of an answer that is not whole is run');
        for (const item of items)
          if (item.kind === 'tool') assert.equal(item.state, 'refused', JSON.stringify(item));
        assert.equal(agent.person.openStreams, 0);
        if (ends === 'idle') assert.ok(told(items).includes('answer complete: Whole.'));
      });
    }
  }

  it('[TURN-02] says that there is no network', async () => {
    const server = await agent.connect('anthropic', []);
    await server.stop();
    const { id } = await agent.create('anthropic');
    const items = await agent.ask(id, 'Go');
    assert.match(told(items).at(-1)!, /error: Test anthropic can’t be reached/);
  });

  it('[TURN-02] says that a provider is slow, and goes on', async () => {
    givesUpSoon = true;
    let release: () => void = () => undefined;
    const holdFirst = new Promise<void>((done) => (release = done));
    await agent.connect('openai', [{ text: ['Late.'], holdFirst }]);
    const { id } = await agent.create('openai');
    await agent.send(id, 'Go');
    await until(async () => told(await agent.items(id)).some((each) => each.includes('has not begun')));
    release();
    assert.equal(told(await agent.idle(id)).at(-1), 'answer complete: Late.');
  });

  it('[TURN-02] gives up a provider that stays silent', async () => {
    givesUpSoon = true;
    await agent.connect('ollama', [{ holdFirst: new Promise(() => undefined) }]);
    const { id } = await agent.create('ollama');
    const items = await agent.ask(id, 'Go');
    assert.match(told(items).at(-1)!, /error: Test ollama sent nothing for too long/);
  });

  it('says what to do without a model', async () => {
    const { id } = await agent.create(null);
    const items = await agent.ask(id, 'Go');
    assert.match(told(items).at(-1)!, /error: This conversation has no model/);
  });

  for (const [kind] of wireFormats) {
    it(`[TURN-03] does not run a call of an answer that was cut at its limit, ${kind}`, async () => {
      const server = await agent.connect(kind, [
        { text: ['I write.'], calls: [call], finish: 'length' },
        { text: ['Smaller.'] },
      ]);
      const { id } = await agent.create(kind);
      const items = await agent.ask(id, 'Go');
      assert.deepEqual(log.done, []);
      const rows = told(items);
      assert.equal(rows[1], 'answer output-limit: I write.');
      for (const row of rows.slice(2)) assert.doesNotMatch(row, /tool read (done|running)/);
      assert.ok(server.seen.length <= 2);
    });
  }

  it('[TURN-03] does not run arguments that are no object or do not fit', async () => {
    await agent.connect('openai-compatible', [
      {
        calls: [
          { name: 'read', args: '[1]' },
          { name: 'read', args: '"text"' },
          { name: 'read', args: '{"text": ' },
          { name: 'read', args: { text: 1 } },
          { name: 'read', args: { text: 'a', requires_approval: false } },
          { name: 'rm_rf', args: {} },
        ],
      },
      { text: ['Sorry.'] },
    ]);
    const { id } = await agent.create('openai-compatible');
    const items = await agent.ask(id, 'Go');
    assert.deepEqual(log.done, []);
    const states = items.flatMap((item) => (item.kind === 'tool' ? [item.state] : []));
    assert.deepEqual(
      states,
      Array.from({ length: 6 }, () => 'failed'),
    );
  });
});
