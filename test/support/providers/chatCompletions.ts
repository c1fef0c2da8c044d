import { argumentText, callId, event, usageOf, type ScriptedTurn, type WireFormat } from './script.ts';

function chunk(number: number, delta: Record<string, unknown>, finish: string | null = null): string {
  return event({ ...head(number), choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] });
}

function head(number: number): Record<string, unknown> {
  return {
    id: `chatcmpl_${number}`,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'scripted',
  };
}

function finishOf(turn: ScriptedTurn): string {
  if (turn.finish === 'length') return 'length';
  return turn.calls ? 'tool_calls' : 'stop';
}

/** The chat completions API that OpenAI made and many others speak, as a stream of events. */
export const chatCompletionsFormat: WireFormat = {
  path: '/chat/completions',
  contentType: 'text/event-stream; charset=utf-8',
  begin: (turn, number) => [
    chunk(number, { role: 'assistant', content: '' }),
    ...(turn.text ?? []).map((content) => chunk(number, { content })),
  ],
  calls: (turn, number) =>
    (turn.calls ?? []).flatMap((call, index) => {
      const args = argumentText(call);
      const half = Math.ceil(args.length / 2);
      const first = {
        index,
        id: callId(call, number, index),
        type: 'function',
        function: { name: call.name, arguments: args.slice(0, half) },
      };
      return [
        chunk(number, { tool_calls: [first] }),
        chunk(number, { tool_calls: [{ index, function: { arguments: args.slice(half) } }] }),
      ];
    }),
  end: (turn, number) => {
    const { input, output } = usageOf(turn);
    return [
      chunk(number, {}, finishOf(turn)),
      event({
        ...head(number),
        choices: [],
        usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
      }),
      event('[DONE]'),
    ];
  },
  error: ({ type, message }) => [event({ error: { message, type, param: null, code: null } })],
  failure: (status, message) =>
    JSON.stringify({ error: { message, type: 'api_error', param: null, code: String(status) } }),
};
