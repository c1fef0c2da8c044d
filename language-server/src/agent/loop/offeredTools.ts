import * as z from 'zod/mini';
import type { AgentMode } from '../../../../protocol/src/agent.ts';
import { changesWorld } from '../../gate/decide.ts';
import type { ModelTool } from '../providers/model.ts';
import type { Tool } from '../tools/tool.ts';

const schemas = new WeakMap<Tool, Record<string, unknown>>();

/** The JSON schema of a tool's arguments, as a model is given it. */
export function inputSchema(tool: Tool): Record<string, unknown> {
  const known = schemas.get(tool);
  if (known) return known;
  const made = z.toJSONSchema(tool.input, { io: 'input', target: 'draft-7' }) as Record<string, unknown>;
  delete made['$schema'];
  schemas.set(tool, made);
  return made;
}

/** The tools that a model is told of: in plan mode none that changes or runs anything. The gate refuses those anyway. */
export function offeredTools(tools: readonly Tool[], mode: AgentMode): ModelTool[] {
  return tools
    .filter((tool) => mode === 'act' || !changesWorld(tool.effect))
    .map((tool) => ({
      type: 'function',
      name: tool.name,
      description:
        tool.list === 'perCall' ? `${tool.description} The person is asked for each call.` : tool.description,
      inputSchema: inputSchema(tool),
    }));
}
