import type { CallContext, Tool } from '../../language-server/src/agent/tools/tool.ts';
import { runTool, type CallResult } from '../../language-server/src/agent/tools/runTool.ts';
import type { GateHarness } from './gateHarness.ts';
import { until } from './until.ts';

let last = 0;

export function callContext(root: string, changes: Partial<CallContext> = {}): CallContext {
  const id = `op-${++last}`;
  return {
    root,
    scope: 's'.repeat(64),
    conversation: 'c1',
    principal: 'agent',
    opId: id,
    callId: id,
    group: 'turn-1',
    groupTitle: 'Turn 1',
    ...changes,
  };
}

/** Calls a tool through the gate; `answers` are given to what it asks, in order. */
export async function callTool(
  harness: GateHarness,
  tool: Tool,
  args: unknown,
  context: CallContext,
  answers: readonly ('allow-once' | 'decline')[] = [],
  signal: AbortSignal = new AbortController().signal,
): Promise<CallResult> {
  const progress = { isOver: false };
  const running = runTool(harness.gate, tool, JSON.stringify(args), context, signal).finally(() => {
    progress.isOver = true;
  });
  for (const answer of answers) {
    await until(() => progress.isOver || harness.gate.waiting().length > 0);
    if (harness.gate.waiting().length === 0) break;
    harness.answer(answer);
  }
  return running;
}
