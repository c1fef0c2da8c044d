import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { anthropicFormat } from '../../support/providers/anthropic.ts';
import { chatCompletionsFormat } from '../../support/providers/chatCompletions.ts';
import { ollamaFormat } from '../../support/providers/ollama.ts';
import { openaiResponsesFormat } from '../../support/providers/openaiResponses.ts';
import { ProviderServer, type ScriptedTurn, type WireFormat } from '../../support/providers/script.ts';

const turns: readonly ScriptedTurn[] = [
  { text: ['Hel', 'lo ✓'], usage: { input: 7, output: 3 } },
  { text: ['I look.'], calls: [{ id: 'call_a', name: 'read', args: { path: 'a.md' } }] },
  {
    calls: [
      { id: 'call_b', name: 'list', args: {} },
      { id: 'call_c', name: 'read', args: { path: 'b.md' } },
    ],
  },
  { text: ['cut'], finish: 'length' },
  { failure: { status: 429, headers: { 'retry-after': '3' } } },
];

/** What an official client understood of one turn. */
interface Understood {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly finish: string | null | undefined;
}

interface Client {
  readonly name: string;
  readonly format: WireFormat;
  readonly prefix: string;
  readonly finishes: readonly (string | undefined)[];
  ask(address: string): Promise<Understood>;
}

const key = 'a-key-of-the-test';

const clients: readonly Client[] = [
  {
    name: '@anthropic-ai/sdk',
    format: anthropicFormat,
    prefix: '/v1',
    finishes: ['end_turn', 'tool_use', 'tool_use', 'max_tokens'],
    async ask(address) {
      const client = new Anthropic({ apiKey: key, baseURL: address.replace(/\/v1$/, ''), maxRetries: 0 });
      const message = await client.messages
        .stream({ model: 'scripted', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] })
        .finalMessage();
      return {
        text: message.content.map((each) => (each.type === 'text' ? each.text : '')).join(''),
        calls: message.content.flatMap((each) =>
          each.type === 'tool_use' ? [{ name: each.name, args: each.input }] : [],
        ),
        finish: message.stop_reason,
      };
    },
  },
  {
    name: 'openai, responses',
    format: openaiResponsesFormat,
    prefix: '/v1',
    finishes: ['completed', 'completed', 'completed', 'incomplete'],
    async ask(address) {
      const client = new OpenAI({ apiKey: key, baseURL: address, maxRetries: 0 });
      let text = '';
      let finish: string | undefined;
      const calls: { name: string; args: unknown }[] = [];
      const stream = await client.responses.create({ model: 'scripted', input: 'hi', stream: true });
      for await (const each of stream) {
        if (each.type === 'response.output_text.delta') text += each.delta;
        if (each.type === 'response.output_item.done' && each.item.type === 'function_call')
          calls.push({ name: each.item.name, args: JSON.parse(each.item.arguments) });
        if (each.type === 'response.completed' || each.type === 'response.incomplete')
          finish = each.response.status;
      }
      return { text, calls, finish };
    },
  },
  {
    name: 'openai, chat completions',
    format: chatCompletionsFormat,
    prefix: '/v1',
    finishes: ['stop', 'tool_calls', 'tool_calls', 'length'],
    async ask(address) {
      const client = new OpenAI({ apiKey: key, baseURL: address, maxRetries: 0 });
      const completion = await client.chat.completions
        .stream({ model: 'scripted', messages: [{ role: 'user', content: 'hi' }] })
        .on('error', () => undefined)
        .done()
        .then(async () => undefined)
        .catch((error: unknown) => {
          // The helper takes an answer at its limit for an error; the stream itself was read.
          if (error instanceof OpenAI.APIError) throw error;
        });
      assert.equal(completion, undefined);
      return readChunks(address);
    },
  },
  {
    name: 'ollama',
    format: ollamaFormat,
    prefix: '/api',
    finishes: ['stop', 'stop', 'stop', 'length'],
    async ask(address) {
      const client = new Ollama({ host: address.replace(/\/api$/, '') });
      let text = '';
      let finish: string | undefined;
      const calls: { name: string; args: unknown }[] = [];
      const stream = await client.chat({
        model: 'scripted',
        messages: [{ role: 'user', content: 'hi' }],
        stream: true,
      });
      for await (const each of stream) {
        text += each.message.content;
        for (const { function: made } of each.message.tool_calls ?? [])
          calls.push({ name: made.name, args: made.arguments });
        if (each.done) finish = each.done_reason;
      }
      return { text, calls, finish };
    },
  },
];

async function readChunks(address: string): Promise<Understood> {
  const client = new OpenAI({ apiKey: key, baseURL: address, maxRetries: 0 });
  let text = '';
  let finish: string | undefined;
  const calls: { name: string; args: string }[] = [];
  const stream = await client.chat.completions.create({
    model: 'scripted',
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
  });
  for await (const { choices } of stream) {
    const [choice] = choices;
    text += choice?.delta.content ?? '';
    finish = choice?.finish_reason ?? finish;
    for (const { index, function: made } of choice?.delta.tool_calls ?? []) {
      const known = (calls[index] ??= { name: made?.name ?? '', args: '' });
      known.args += made?.arguments ?? '';
    }
  }
  return {
    text,
    calls: calls.map(({ name, args }) => ({ name, args: JSON.parse(args) as unknown })),
    finish,
  };
}

describe('the scripted providers, read by the official clients', () => {
  for (const client of clients) {
    const { name, format, prefix, finishes } = client;
    it(`${name} understands every turn`, async () => {
      // Each turn may be asked for twice, so a client's helper and its plain stream both read it.
      for (const [index, turn] of turns.entries()) {
        const server = new ProviderServer(format, () => turn);
        const address = await server.start(prefix);
        try {
          if (turn.failure) {
            await assert.rejects(client.ask(address), /429/);
          } else {
            const understood = await client.ask(address);
            assert.equal(understood.text, (turn.text ?? []).join(''));
            assert.deepEqual(
              understood.calls,
              (turn.calls ?? []).map((call) => ({ name: call.name, args: call.args })),
            );
            assert.equal(understood.finish, finishes[index]);
          }
          assert.equal(server.seen[0]?.path, prefix + format.path);
        } finally {
          await server.stop();
        }
      }
    });
  }
});
