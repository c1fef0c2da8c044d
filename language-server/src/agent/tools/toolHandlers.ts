import type { agentRequests } from '../../../../protocol/src/agent.ts';
import type { RequestHandlers } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { gateRequests } from '../../../../protocol/src/gate.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Catalog } from '../catalog.ts';
import { describeCall, prepareCall, runTool } from './runTool.ts';
import type { CallContext, Tool } from './tool.ts';

export interface ToolHandlersOptions {
  readonly gate: Gate;
  readonly catalog: Catalog;
  readonly createId: () => string;
  /** The real path of an open project. Throws `bad-project` for any other. */
  readonly rootOf: (root: string) => string;
  /** Its scope. Throws `bad-project` where it has none. */
  readonly scopeOf: (root: string) => string;
}

export type ToolHandlers = Pick<
  RequestHandlers<typeof agentRequests & typeof gateRequests>,
  'tool/call' | 'tool/list' | 'gate/tryOut'
>;

/** Calls tools for agents other than Sallyport's own, and says what the gate would decide of a call. */
export function createToolHandlers(options: ToolHandlersOptions): ToolHandlers {
  const { gate, catalog, createId, rootOf, scopeOf } = options;
  const contextOf = (root: string, opId: string, conversation: string | null): CallContext => ({
    root,
    scope: scopeOf(root),
    conversation,
    principal: conversation === null ? 'external-agent' : 'agent',
    opId,
    callId: opId,
    group: opId,
    groupTitle: 'A tool call of another agent',
  });
  const toolNamed = (name: string): Tool => {
    const tool = catalog.find(name);
    if (!tool) throw new UserError('not-found', `There is no tool named ${JSON.stringify(name)}`, { name });
    return tool;
  };
  return {
    'tool/call': async ({ root, opId, tool, args }, signal) => {
      const real = rootOf(root);
      const called = toolNamed(tool);
      const { text, isError } = await runTool(gate, called, args, contextOf(real, opId, null), signal);
      return { text, isError };
    },
    'tool/list': () =>
      catalog.descriptions.map(({ name, description, inputSchema, asksEachTime }) => ({
        name,
        description,
        inputSchema: JSON.stringify(inputSchema),
        asksEachTime,
      })),
    'gate/tryOut': async ({ root, conversation, tool: name, args }) => {
      const real = rootOf(root);
      const tool = toolNamed(name);
      const context = contextOf(real, `try:${createId()}`, conversation);
      const prepared = await prepareCall(tool, args, context);
      const { decision, targets, lines } = await gate.tryOut({
        ...context,
        tool: tool.name,
        effect: tool.effect,
        args: prepared.args,
        permissions: prepared.permissions,
        measure: () => prepared.measure(),
        describe: (touched) => describeCall(prepared, touched),
      });
      return { decision, targets: [...targets], explanation: [...lines] };
    },
  };
}
