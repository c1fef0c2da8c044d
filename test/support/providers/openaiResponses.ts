import { argumentText, callId, event, usageOf, type ScriptedTurn, type WireFormat } from './script.ts';

const typed = (value: { readonly type: string } & Record<string, unknown>) =>
  event({ sequence_number: 0, ...value }, value.type);

function response(turn: ScriptedTurn, number: number, status: string): Record<string, unknown> {
  const { input, output } = usageOf(turn);
  const isOver = status !== 'in_progress';
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model: 'scripted',
    output: [],
    parallel_tool_calls: true,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    tools: [],
    tool_choice: 'auto',
    temperature: 1,
    top_p: 1,
    usage: isOver
      ? {
          input_tokens: input,
          output_tokens: output,
          total_tokens: input + output,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        }
      : null,
  };
}

/** OpenAI's Responses API as a stream of events. */
export const openaiResponsesFormat: WireFormat = {
  path: '/responses',
  contentType: 'text/event-stream; charset=utf-8',
  begin: (turn, number) => {
    const text = turn.text ?? [];
    const place = { item_id: `msg_${number}`, output_index: 0, content_index: 0 };
    return [
      typed({ type: 'response.created', response: response(turn, number, 'in_progress') }),
      ...(text.length === 0
        ? []
        : [
            typed({
              type: 'response.output_item.added',
              output_index: 0,
              item: {
                id: place.item_id,
                type: 'message',
                status: 'in_progress',
                role: 'assistant',
                content: [],
              },
            }),
            typed({
              type: 'response.content_part.added',
              ...place,
              part: { type: 'output_text', text: '', annotations: [] },
            }),
            ...text.map((delta) =>
              typed({ type: 'response.output_text.delta', ...place, delta, logprobs: [] }),
            ),
          ]),
    ];
  },
  calls: (turn, number) => {
    const text = turn.text ?? [];
    const place = { item_id: `msg_${number}`, output_index: 0, content_index: 0 };
    const whole = { type: 'output_text', text: text.join(''), annotations: [] };
    return [
      ...(text.length === 0
        ? []
        : [
            typed({ type: 'response.output_text.done', ...place, text: whole.text, logprobs: [] }),
            typed({ type: 'response.content_part.done', ...place, part: whole }),
            typed({
              type: 'response.output_item.done',
              output_index: 0,
              item: {
                id: place.item_id,
                type: 'message',
                status: 'completed',
                role: 'assistant',
                content: [whole],
              },
            }),
          ]),
      ...(turn.calls ?? []).flatMap((call, index) => {
        const at = { item_id: `fc_${number}_${index}`, output_index: index + 1 };
        const args = argumentText(call);
        const item = {
          id: at.item_id,
          type: 'function_call',
          call_id: callId(call, number, index),
          name: call.name,
        };
        return [
          typed({
            type: 'response.output_item.added',
            output_index: at.output_index,
            item: { ...item, arguments: '', status: 'in_progress' },
          }),
          typed({ type: 'response.function_call_arguments.delta', ...at, delta: args }),
          ...(turn.finish === 'length'
            ? []
            : [
                typed({
                  type: 'response.function_call_arguments.done',
                  ...at,
                  name: call.name,
                  arguments: args,
                }),
                typed({
                  type: 'response.output_item.done',
                  output_index: at.output_index,
                  item: { ...item, arguments: args, status: 'completed' },
                }),
              ]),
        ];
      }),
    ];
  },
  end: (turn, number) => [
    turn.finish === 'length'
      ? typed({ type: 'response.incomplete', response: response(turn, number, 'incomplete') })
      : typed({ type: 'response.completed', response: response(turn, number, 'completed') }),
  ],
  error: ({ type, message }) => [typed({ type: 'error', code: type, message, param: null })],
  failure: (status, message) =>
    JSON.stringify({ error: { message, type: 'api_error', code: String(status), param: null } }),
};
