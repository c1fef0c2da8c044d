import { usageOf, type WireFormat } from './script.ts';

function line(value: Record<string, unknown>): string {
  return `${JSON.stringify({ model: 'scripted', created_at: '2026-01-01T00:00:00Z', ...value })}\n`;
}

/** Ollama's chat API: one JSON object a line. Arguments of calls are objects in it, so text is sent as a string. */
export const ollamaFormat: WireFormat = {
  path: '/chat',
  contentType: 'application/x-ndjson',
  begin: (turn) =>
    (turn.text ?? []).map((content) => line({ message: { role: 'assistant', content }, done: false })),
  calls: (turn) =>
    turn.calls && turn.calls.length > 0
      ? [
          line({
            message: {
              role: 'assistant',
              content: '',
              tool_calls: turn.calls.map(({ name, args }) => ({ function: { name, arguments: args } })),
            },
            done: false,
          }),
        ]
      : [],
  end: (turn) => {
    const { input, output } = usageOf(turn);
    return [
      line({
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: turn.finish === 'length' ? 'length' : 'stop',
        total_duration: 1,
        load_duration: 1,
        prompt_eval_count: input,
        prompt_eval_duration: 1,
        eval_count: output,
        eval_duration: 1,
      }),
    ];
  },
  error: ({ message }) => [`${JSON.stringify({ error: message })}\n`],
  failure: (_, message) => JSON.stringify({ error: message }),
};
