import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { languageModelTools } from '../../../scripts/languageModelTools.mjs';
import { answerInChat } from '../../../extension/src/agent/chatParticipant.ts';
import { contributedTools, toolPrefix } from '../../../extension/src/agent/externalTools.ts';
import { GatedTool } from '../../../extension/src/agent/gatedTool.ts';
import { VscodeModels } from '../../../extension/src/connections/vscodeModels.ts';
import type { ProjectPicker } from '../../../extension/src/project/pickProject.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { FakeEngine } from '../../support/fakeEngine.ts';
import { makeProject } from '../../support/sampleViews.ts';
import {
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  resetStub,
  stub,
} from '../../support/vscodeStub.ts';

const never = new AbortController().signal;
const token = { onCancellationRequested: () => ({ dispose: () => undefined }) } as never;
const contributes = z.object({
  contributes: z.object({ languageModelTools: z.array(z.record(z.string(), z.unknown())) }),
});
const manifest: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'),
);

describe('the tools for VS Code’s agents', () => {
  it('[CHAT-02] are those of the engine’s catalogue (node scripts/languageModelTools.mjs)', () => {
    assert.deepEqual(contributes.parse(manifest).contributes.languageModelTools, languageModelTools());
    assert.deepEqual(
      contributedTools(manifest),
      languageModelTools().map(({ name }) => name.slice(toolPrefix.length)),
    );
    assert.ok(contributedTools(manifest).includes('run_cards'));
    for (const nonsense of [undefined, {}, { contributes: { languageModelTools: 'x' } }])
      assert.deepEqual(contributedTools(nonsense), []);
  });

  const make = (answer: () => unknown) => {
    const fake = new FakeEngine({ 'tool/call': answer });
    const picker = { project: async () => makeProject({ root: '/p' }) } as unknown as ProjectPicker;
    let count = 0;
    return { fake, tool: new GatedTool('edit', fake.engine, picker, () => `${++count}`) };
  };
  const said = (result: unknown) => (result as { content: { value: string }[] }).content[0]?.value;

  it('[CHAT-01] reach the engine with nothing but arguments, as another act each time', async () => {
    const { fake, tool } = make(() => ({ text: 'done', isError: false }));
    const input = { path: 'a', principal: 'person', approved: true };
    assert.equal(said(await tool.invoke({ input } as never, token)), 'done');
    await tool.invoke({ input } as never, token);
    assert.deepEqual(fake.asked('tool/call'), [
      { root: '/p', opId: 'vscode-1', tool: 'edit', args: JSON.stringify(input) },
      { root: '/p', opId: 'vscode-2', tool: 'edit', args: JSON.stringify(input) },
    ]);
  });

  it('tell the model of refusals and errors', async () => {
    const refused = make(() => ({ text: 'A person declined this', isError: true }));
    assert.equal(
      said(await refused.tool.invoke({ input: {} } as never, token)),
      'It was not done: A person declined this',
    );
    const lost = make(() => {
      throw new UserError('closed', 'The engine is not running');
    });
    assert.match(said(await lost.tool.invoke({ input: {} } as never, token)) ?? '', /not running/);
  });

  it('say before VS Code asks that its question allows nothing, and show all that was written', () => {
    const { tool } = make(() => ({}));
    const { confirmationMessages } = tool.prepareInvocation({ input: { path: 'a\u202eb\n```\nx' } });
    const { value } = confirmationMessages?.message as unknown as { value: string };
    assert.match(value, /allows nothing yet/);
    assert.ok(value.includes('a\\u{202E}b\\n```\\nx'), value);
  });
});

describe('@sallyport', () => {
  async function ask(rounds: readonly (readonly unknown[])[]) {
    const said: string[] = [];
    const sent: unknown[][] = [];
    const left = [...rounds];
    const request = {
      prompt: 'Add a card',
      toolInvocationToken: 'token',
      model: {
        sendRequest: async (...args: unknown[]) => {
          sent.push(structuredClone(args.slice(0, 2)));
          return { stream: left.shift() ?? [] };
        },
      },
    };
    const stream = { markdown: (text: string) => void said.push(text) };
    await answerInChat(
      request as never,
      { history: [] },
      stream as never,
      { isCancellationRequested: false } as never,
    );
    return { said, sent };
  }
  const ours = { name: 'sallyport_read', tags: ['sallyport'], description: 'Reads' };
  const other = { name: 'run_in_terminal', tags: [], description: 'Runs anything' };

  it('explains where there is no project to work on', async () => {
    resetStub();
    stub.tools = [other];
    const { said, sent } = await ask([]);
    assert.match(said[0] ?? '', /No trusted Sallyport project/);
    assert.equal(sent.length, 0);
  });

  it('[CHAT-01] gives the chosen model the gated tools alone, and calls no other', async () => {
    resetStub();
    stub.tools = [ours, other];
    const { said, sent } = await ask([
      [
        new LanguageModelTextPart('Looking.'),
        new LanguageModelToolCallPart('1', 'sallyport_read', { path: 'a' }),
        new LanguageModelToolCallPart('2', 'run_in_terminal', { command: 'id' }),
      ],
      [new LanguageModelTextPart('Done.')],
    ]);
    assert.deepEqual(said, ['Looking.', 'Done.']);
    assert.deepEqual(stub.invoked, [
      { name: 'sallyport_read', options: { input: { path: 'a' }, toolInvocationToken: 'token' } },
    ]);
    const [, options] = sent[0] as [unknown, { tools: { name: string }[] }];
    assert.deepEqual(
      options.tools.map(({ name }) => name),
      ['sallyport_read'],
    );
    const told = JSON.stringify(sent[1]?.[0]);
    assert.ok(told.includes('result of sallyport_read') && told.includes('There is no tool named'));
  });

  it('stops after a bounded number of rounds', async () => {
    resetStub();
    stub.tools = [ours];
    const call = [new LanguageModelToolCallPart('1', 'sallyport_read', {})];
    const { said, sent } = await ask(Array.from({ length: 100 }, () => call));
    assert.equal(sent.length, 25);
    assert.match(said.at(-1) ?? '', /Stopped after 25 rounds/);
  });
});

describe('VS Code’s own models', () => {
  const request = JSON.stringify({
    messages: [
      { role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
      { role: 'assistant', parts: [{ kind: 'toolCall', callId: '1', name: 'read', args: '{"path":"a"}' }] },
      { role: 'user', parts: [{ kind: 'toolResult', callId: '1', text: 'content' }] },
    ],
    tools: [{ name: 'read', description: 'Reads', inputSchema: { type: 'object' } }],
  });

  function make(stream: () => AsyncIterable<unknown>, isConnected = true) {
    resetStub();
    const sent: unknown[][] = [];
    stub.models = [
      {
        vendor: 'copilot',
        id: 'gpt',
        name: 'GPT',
        sendRequest: async (...args: unknown[]) => {
          sent.push(args);
          return { stream: stream() };
        },
      },
    ];
    let count = 0;
    return {
      sent,
      models: new VscodeModels(
        () => `s${++count}`,
        () => isConnected,
      ),
    };
  }
  async function* parts() {
    yield new LanguageModelTextPart('Hello');
    yield { unknown: true };
    yield new LanguageModelToolCallPart('2', 'read', { path: 'b' });
  }

  it('are asked with messages and tools, and answer in parts', async () => {
    const { models, sent } = make(parts);
    const { stream } = await models.open({ model: 'copilot/gpt', request }, never);
    const read: unknown[] = [];
    for (let done = false; !done;) {
      const part = await models.read({ stream }, never);
      read.push(...part.parts);
      done = part.done;
    }
    assert.deepEqual(read, [
      { kind: 'text', text: 'Hello' },
      { kind: 'tool', callId: '2', name: 'read', args: '{"path":"b"}' },
    ]);
    const [messages, options] = sent[0] as [{ role: number }[], { tools: { name: string }[] }];
    assert.deepEqual(
      messages.map(({ role }) => role),
      [1, 2, 1],
    );
    assert.equal(options.tools[0]?.name, 'read');
    await assert.rejects(models.read({ stream }, never), /no longer open/);
  });

  it('are not used before a person connected them', async () => {
    const { models, sent } = make(parts, false);
    await assert.rejects(models.open({ model: 'copilot/gpt', request }, never), /no longer there/);
    assert.equal(sent.length, 0);
  });

  it('refuse in words: a model that is gone, a request that is none, a refusal of VS Code', async () => {
    const { models } = make(parts);
    await assert.rejects(models.open({ model: 'copilot/other', request }, never), /no longer offers/);
    await assert.rejects(models.open({ model: 'copilot/gpt', request: '{}' }, never), {
      code: 'bad-message',
    });
    const cut = make(async function* () {
      yield new LanguageModelTextPart('a');
      throw Object.assign(new Error('secret detail'), { code: 'Blocked' });
    });
    const { stream } = await cut.models.open({ model: 'copilot/gpt', request }, never);
    await assert.rejects(
      (async () => {
        for (;;) await cut.models.read({ stream }, never);
      })(),
      (error: unknown) => error instanceof UserError && error.message.includes('Blocked'),
    );
  });
});
