import { showHidden } from '../../../../protocol/src/text.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Catalog } from '../catalog.ts';
import type { StoredConversation } from '../conversations/conversationRecords.ts';
import { prepareCall, runTool, type CallResult } from '../tools/runTool.ts';
import type { CallContext, Tool } from '../tools/tool.ts';
import type { AnswerRows, RowedCall } from './answerRows.ts';

export interface CallParts {
  readonly gate: Gate;
  readonly catalog: Catalog;
}

/** Waiting shorter than this is not a person's. */
const toldMs = 500;

/** Runs the calls of one whole answer, in order, each through the gate. `title` names the turn in the undo history. */
export async function runCalls(
  { gate, catalog }: CallParts,
  conversation: StoredConversation,
  rows: AnswerRows,
  title: string,
  onCurrent: (rowed: RowedCall | null) => void,
  signal: AbortSignal,
): Promise<void> {
  const seen = new Set<string>();
  for (const rowed of rows.calls) {
    if (rowed.call.isProviders) continue;
    if (signal.aborted) {
      refuse(rows, rowed, 'Not run: the person stopped the conversation.');
      continue;
    }
    if (seen.has(rowed.call.id)) {
      refuse(rows, rowed, 'Not run: another call of this answer has the same id.');
      continue;
    }
    seen.add(rowed.call.id);
    const tool = catalog.find(rowed.call.name);
    if (!tool) {
      refuse(rows, rowed, `Not run: there is no tool named ${JSON.stringify(rowed.call.name)}.`, 'failed');
      continue;
    }
    const context = callContext(conversation, rowed, title);
    const what = await titleOf(tool, rowed.call.args, context);
    rows.setCall(rowed, { opId: context.opId, state: 'running', title: what });
    onCurrent(rowed);
    try {
      show(rows, rowed, await runTool(gate, tool, rowed.call.args, context, signal));
    } finally {
      onCurrent(null);
    }
  }
}

/** Says of each call that it was not run, and why. */
export function refuseCalls(rows: AnswerRows, reason: string): void {
  for (const rowed of rows.calls) if (!rowed.call.isProviders) refuse(rows, rowed, reason);
}

function refuse(
  rows: AnswerRows,
  rowed: RowedCall,
  text: string,
  state: 'refused' | 'failed' = 'refused',
): void {
  rows.setCall(rowed, { state }, { text, isError: true });
}

function callContext(conversation: StoredConversation, { row }: RowedCall, title: string): CallContext {
  const { id, root, scope } = conversation;
  const opId = `${id}:${row.seq}`;
  return {
    root,
    scope,
    conversation: id,
    principal: 'agent',
    opId,
    callId: opId,
    group: `${id}:turn:${row.turn}`,
    groupTitle: title,
  };
}

/** The call in Sallyport's words, where it can be prepared; its tool's name where not. */
async function titleOf(tool: Tool, args: string, context: CallContext): Promise<string> {
  try {
    const prepared = await prepareCall(tool, args, context);
    return showHidden(prepared.describe(await prepared.measure()).title);
  } catch {
    return tool.name;
  }
}

function show(rows: AnswerRows, rowed: RowedCall, result: CallResult): void {
  rows.setCall(
    rowed,
    {
      state: result.state,
      waitMs: Math.round(result.waitMs),
      runMs: Math.round(result.runMs),
      changes: [...(result.changes ?? [])],
      runId: result.runId ?? null,
    },
    { text: result.text + timesOf(result), isError: result.isError },
  );
}

/** Time that a person took and time that the effect took, told apart. */
function timesOf({ waitMs, runMs }: CallResult): string {
  const waited = waitMs >= toldMs ? [`waited ${seconds(waitMs)} for the person`] : [];
  const ran = runMs >= toldMs ? [`ran ${seconds(runMs)}`] : [];
  const told = [...waited, ...ran];
  return told.length === 0 ? '' : `\n[${told.join(', ')}]`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
