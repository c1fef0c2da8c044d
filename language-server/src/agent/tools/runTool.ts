import * as z from 'zod/mini';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import type { Target } from '../../../../protocol/src/gate.ts';
import type { Act, ActDescription, GateResult, RefusalCode } from '../../gate/act.ts';
import type { Gate } from '../../gate/gate.ts';
import { boundOutput } from './boundOutput.ts';
import { withEveryArgument } from './everyArgument.ts';
import type { CallContext, PreparedCall, Tool, ToolOutput } from './tool.ts';

/** How a call ended: what the model is told, and what the conversation shows. */
export interface CallResult extends ToolOutput {
  readonly state: 'done' | 'failed' | 'refused' | 'unknown';
  readonly refusal: RefusalCode | null;
  readonly waitMs: number;
  readonly runMs: number;
}

/**
 * The only way a tool runs: arguments are parsed, the call is prepared, and the gate decides, asks, records and runs it.
 * Never throws for what the model wrote.
 */
export async function runTool(
  gate: Gate,
  tool: Tool,
  args: string,
  context: CallContext,
  signal: AbortSignal,
): Promise<CallResult> {
  const { opId, principal, conversation, root, scope, callId } = context;
  const call = { opId, principal, conversation, root, scope, callId, tool: tool.name, effect: tool.effect };
  const unread: Act = {
    ...call,
    args: { unread: args },
    permissions: [],
    measure: async () => [{ kind: 'path', name: '.', measure: null, isProtected: false, isOutside: false }],
    describe: () => ({ title: tool.name, lines: [], fullText: null }),
  };
  // What is denied whatever it touches is not even looked at.
  if ((await gate.tryOut(unread)).decision.verdict === 'deny')
    return toCallResult(await gate.pass(unread, () => Promise.reject(new Error('It is denied')), signal));
  let prepared: PreparedCall;
  try {
    prepared = await prepareCall(tool, args, context);
  } catch (error) {
    const mayRead = (await gate.tryOut({ ...unread, effect: 'read' })).decision.verdict === 'allow';
    if (mayRead || !(error instanceof UserError && error.code === 'conflict'))
      return failed(errorMessage(error));
    // How a text differs from what is there would tell what is there.
    return failed(
      `The call does not fit what is there, so nothing was done. Look with read, then try again.`,
    );
  }
  const act: Act = {
    ...call,
    args: prepared.args,
    permissions: prepared.permissions,
    measure: () => prepared.measure(),
    describe: (targets: readonly Target[]) => describeCall(prepared, targets),
  };
  return toCallResult(await gate.pass(act, async (each) => toJson(await prepared.run(each)), signal));
}

/** What a person is shown of a prepared call: the tool's own words, and every argument that those leave out. */
export function describeCall(prepared: PreparedCall, targets: readonly Target[]): ActDescription {
  return withEveryArgument(prepared.describe(targets), prepared.args, prepared.shownByDifference);
}

/** Parses the arguments by the tool's schema. Throws with the sentence that the model is told. */
export async function prepareCall(tool: Tool, args: string, context: CallContext): Promise<PreparedCall> {
  let value: unknown;
  try {
    value = JSON.parse(args);
  } catch {
    throw new Error(`The arguments of ${tool.name} are not JSON, so nothing was done. Send one JSON object.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`The arguments of ${tool.name} are not a JSON object, so nothing was done.`);
  }
  const parsed = z.safeParse(tool.input, value);
  if (!parsed.success) {
    throw new Error(
      `The arguments of ${tool.name} do not fit, so nothing was done:\n${z.prettifyError(parsed.error)}`,
    );
  }
  return tool.prepare(parsed.data, context);
}

function toCallResult(result: GateResult<Json>): CallResult {
  switch (result.kind) {
    case 'done': {
      const output = result.value as unknown as ToolOutput;
      return {
        ...output,
        text: boundOutput(output.text),
        state: output.isError ? 'failed' : 'done',
        refusal: null,
        waitMs: result.waitMs,
        runMs: result.runMs,
      };
    }
    case 'failed':
      return { ...failed(result.message), waitMs: result.waitMs, runMs: result.runMs };
    case 'refused':
      return {
        text: `Not done (${result.code}): ${result.reason}`,
        isError: true,
        state: 'refused',
        refusal: result.code,
        waitMs: result.waitMs,
        runMs: 0,
      };
    case 'unknown':
      return {
        text: `Unknown: ${result.reason}`,
        isError: true,
        state: 'unknown',
        refusal: null,
        waitMs: 0,
        runMs: 0,
      };
  }
}

function failed(text: string): CallResult {
  return { text: boundOutput(text), isError: true, state: 'failed', refusal: null, waitMs: 0, runMs: 0 };
}

/** A tool's output is data: what JSON can't carry is not kept in a receipt. */
function toJson(output: ToolOutput): Json {
  return JSON.parse(JSON.stringify(output)) as Json;
}
