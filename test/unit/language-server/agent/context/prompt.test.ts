import assert from 'node:assert/strict';
import type { Item } from '../../../../../protocol/src/agent.ts';
import { toPrompt } from '../../../../../language-server/src/agent/context/prompt.ts';
import type { StoredItem } from '../../../../../language-server/src/agent/conversations/itemRecords.ts';
import type { WireOf } from '../../../../../language-server/src/agent/conversations/wire.ts';

const person = (
  seq: number,
  text: string,
  more: { after?: number; isQueued?: boolean } = {},
): StoredItem => ({
  row: {
    kind: 'person',
    seq,
    turn: 1,
    text,
    mentions: [],
    images: 0,
    at: 0,
    isQueued: more.isQueued ?? false,
  },
  wire: { kind: 'person', expanded: '', after: more.after ?? seq },
  step: seq,
});
const answer = (
  seq: number,
  markdown: string,
  reasoning: WireOf<'answer'>['reasoning'] = [],
): StoredItem => ({
  row: { kind: 'answer', seq, turn: 1, markdown, ending: 'complete', at: 0 },
  wire: { kind: 'answer', connection: 'c', model: 'm', reasoning },
  step: seq,
});
const tool = (seq: number, step: number, args: string, result: string | null): StoredItem => {
  const row: Item = {
    kind: 'tool',
    seq,
    turn: 1,
    opId: '',
    tool: 'read',
    title: '',
    state: 'done',
    detail: '',
    waitMs: 0,
    runMs: 0,
    changes: [],
    runId: null,
    at: 0,
  };
  const wire = {
    callId: `call_${seq}`,
    args,
    result,
    isError: false,
    connection: 'c',
    model: 'm',
    metadata: null,
  };
  return { row, wire: { kind: 'tool', ...wire, isProviders: false }, step };
};

const promptOf = (items: readonly StoredItem[], model = 'm') =>
  toPrompt({ system: 'S', items, imagesOf: () => [], connection: 'c', model, cacheMark: undefined });

/** Roles with the kinds and texts of parts. */
const short = (items: readonly StoredItem[], model?: string) =>
  promptOf(items, model).map(({ role, content }) =>
    typeof content === 'string'
      ? `${role} ${content}`
      : `${role} ${content.map((part) => ('text' in part ? part.text : part.type)).join('+')}`,
  );

describe('the prompt of a conversation', () => {
  it('makes one answer with its calls and their results of each step', () => {
    assert.deepEqual(
      short([person(1, 'P'), answer(2, 'A'), tool(3, 2, '{}', 'r'), tool(4, 2, '{}', 'r'), answer(5, 'B')]),
      [
        'system S',
        'user P',
        'assistant A+tool-call+tool-call',
        'tool tool-result+tool-result',
        'assistant B',
      ],
    );
  });

  it('gives every call a result and object arguments, whatever the model wrote', () => {
    for (const args of ['', '[1]', 'null', '"x"', '{"a":']) {
      const [, , said, results] = promptOf([person(1, 'P'), tool(2, 2, args, null)]);
      assert.equal(said?.role, 'assistant');
      assert.deepEqual((said.content[0] as { input: unknown }).input, {});
      assert.equal(results?.role, 'tool');
      assert.match(JSON.stringify(results.content), /Not run/);
    }
  });

  it('leaves out what waits, and tells it where it was told', () => {
    assert.deepEqual(short([person(1, 'P'), person(3, 'Q', { isQueued: true }), answer(2, 'A')]), [
      'system S',
      'user P',
      'assistant A',
    ]);
    assert.deepEqual(short([person(1, 'P'), person(3, 'Q', { after: 5 }), answer(2, 'A'), answer(5, 'B')]), [
      'system S',
      'user P',
      'assistant A',
      'assistant B',
      'user Q',
    ]);
  });

  it('begins with the summary', () => {
    const summary: StoredItem = {
      row: { kind: 'summary', seq: 9, turn: 1, markdown: 'Sum', replacedItems: 3, at: 0 },
      wire: { kind: 'summary', upTo: 8, lastMessage: 'Last words' },
      step: 9,
    };
    const [, first, second] = short([answer(10, 'A'), summary]);
    assert.match(first!, /^user [^]*Sum[^]*Last words$/);
    assert.equal(second, 'assistant A');
  });

  it('tells thinking again only to the model that thought it', () => {
    const thought = answer(2, 'A', [{ text: 'hm', metadata: { anthropic: { signature: 's' } } }]);
    assert.deepEqual(short([person(1, 'P'), thought])[2], 'assistant hm+A');
    assert.deepEqual(short([person(1, 'P'), thought], 'other')[2], 'assistant A');
    assert.equal(short([person(1, 'P'), answer(2, '', [{ text: 'hm', metadata: {} }])]).length, 2);
  });

  it('sends nothing that would close the conversation: no empty text, no half characters, no odd names', () => {
    assert.deepEqual(short([person(1, 'P'), answer(2, ' \n'), person(3, 'Q')]), [
      'system S',
      'user P',
      'user Q',
    ]);
    const odd = tool(2, 2, '{"a":"\uD83D","b":"\\uD83D"}', 'half \uD83D');
    const named: StoredItem = { ...odd, row: { ...odd.row, tool: 'rm -rf; \u202E' } as Item };
    const text = JSON.stringify(promptOf([person(1, 'half \uDE00'), named]));
    assert.doesNotMatch(text, /\\ud8|\\ude/i);
    assert.match(text, /"toolName":"unknown_tool"/);
  });
});
