import { argumentText, callId, event, usageOf, type WireFormat } from './script.ts';

const typed = (value: { readonly type: string } & Record<string, unknown>) => event(value, value.type);

/** Anthropic's Messages API as a stream of events. */
export const anthropicFormat: WireFormat = {
  path: '/messages',
  contentType: 'text/event-stream; charset=utf-8',
  begin: (turn, number) => {
    const text = turn.text ?? [];
    return [
      typed({
        type: 'message_start',
        message: {
          id: `msg_${number}`,
          type: 'message',
          role: 'assistant',
          model: 'scripted',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: usageOf(turn).input, output_tokens: 1 },
        },
      }),
      ...(text.length === 0
        ? []
        : [
            typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
            ...text.map((each) =>
              typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: each } }),
            ),
          ]),
    ];
  },
  calls: (turn, number) => [
    ...((turn.text ?? []).length === 0 ? [] : [typed({ type: 'content_block_stop', index: 0 })]),
    ...(turn.calls ?? []).flatMap((call, index) => {
      const args = argumentText(call);
      const half = Math.ceil(args.length / 2);
      const place = index + ((turn.text ?? []).length === 0 ? 0 : 1);
      return [
        typed({
          type: 'content_block_start',
          index: place,
          content_block: { type: 'tool_use', id: callId(call, number, index), name: call.name, input: {} },
        }),
        ...[args.slice(0, half), args.slice(half)].map((partial) =>
          typed({
            type: 'content_block_delta',
            index: place,
            delta: { type: 'input_json_delta', partial_json: partial },
          }),
        ),
        ...(turn.finish === 'length' ? [] : [typed({ type: 'content_block_stop', index: place })]),
      ];
    }),
  ],
  end: (turn) => [
    typed({
      type: 'message_delta',
      delta: {
        stop_reason: turn.finish === 'length' ? 'max_tokens' : turn.calls ? 'tool_use' : 'end_turn',
        stop_sequence: null,
      },
      usage: { output_tokens: usageOf(turn).output },
    }),
    typed({ type: 'message_stop' }),
  ],
  error: (error) => [typed({ type: 'error', error })],
  failure: (status, message) =>
    JSON.stringify({
      type: 'error',
      error: { type: status === 529 ? 'overloaded_error' : 'api_error', message },
    }),
};
