import * as z from 'zod/mini';
import type { Tool } from './tools/tool.ts';

/** Every tool that there is, by the list that it is in. What is not here is not offered, to any model. */
export const toolLists = {
  /** The gate decides; a grant may cover them. */
  ordinary: [
    'list',
    'read',
    'search',
    'diagnostics',
    'symbols',
    'edit',
    'create',
    'rename',
    'delete',
    'project_save',
    'run_cards',
    'run_status',
    'run_read',
    'shell',
    'project_shell',
    'ask_person',
    'vault_names',
    'vault_ask',
  ],
  /** Asked for at each call, whatever was granted. */
  perCall: ['web_fetch', 'history_delete', 'cache_clear'],
} as const satisfies Record<Tool['list'], readonly string[]>;

/** A tool as a model is told of it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of its arguments: always an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly asksEachTime: boolean;
}

export interface Catalog {
  /** In the order of `toolLists`. */
  readonly tools: readonly Tool[];
  readonly descriptions: readonly ToolDescription[];
  /** Undefined for a name that is none: the model made it up. */
  find(name: string): Tool | undefined;
}

const namePattern = /^[a-z][a-z0-9_]{1,40}$/;
type ToolLists = Record<Tool['list'], readonly string[]>;

/**
 * Joins the tools of this engine and checks them against the lists: each name once, each tool in the list that it says,
 * each listed name there, each schema one that a model can be given. Throws with every fault that there is, so that
 * an engine with a stale or doubled tool does not start its agent.
 */
export function createCatalog(tools: readonly Tool[], lists: ToolLists = toolLists): Catalog {
  const faults: string[] = [];
  const listed = new Map<string, Tool['list']>();
  for (const list of ['ordinary', 'perCall'] as const) {
    for (const name of lists[list]) {
      if (listed.has(name)) faults.push(`${name} is listed twice`);
      listed.set(name, list);
    }
  }
  const byName = new Map<string, Tool>();
  const descriptions = new Map<string, ToolDescription>();
  for (const tool of tools) {
    if (byName.has(tool.name)) faults.push(`${tool.name} is there twice`);
    byName.set(tool.name, tool);
    if (!namePattern.test(tool.name)) faults.push(`${JSON.stringify(tool.name)} is no name of a tool`);
    const list = listed.get(tool.name);
    if (list === undefined) faults.push(`${tool.name} is in no list`);
    else if (list !== tool.list) faults.push(`${tool.name} says ${tool.list} and is listed as ${list}`);
    if (tool.description.trim() === '') faults.push(`${tool.name} has no description`);
    try {
      descriptions.set(tool.name, describeTool(tool));
    } catch (error) {
      faults.push(`${tool.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const name of listed.keys()) if (!byName.has(name)) faults.push(`${name} is listed and not there`);
  if (faults.length > 0) throw new Error(`The tools don’t fit their lists: ${faults.join('; ')}`);
  const names = [...listed.keys()];
  return {
    tools: names.flatMap((name) => byName.get(name) ?? []),
    descriptions: names.flatMap((name) => descriptions.get(name) ?? []),
    find: (name) => byName.get(name),
  };
}

function describeTool(tool: Tool): ToolDescription {
  const schema = z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'throw' }) as JsonSchema;
  if (schema.type !== 'object') throw new Error('its arguments are no object');
  if (schema.additionalProperties !== false)
    throw new Error('its arguments may be anything beside those named');
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (!property.description) throw new Error(`its argument ${name} has no description`);
  }
  return {
    name: tool.name,
    description:
      tool.list === 'perCall' ? `${tool.description} A person is asked for each call.` : tool.description,
    inputSchema: { ...schema },
    asksEachTime: tool.list === 'perCall',
  };
}

interface JsonSchema {
  readonly type?: string;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  readonly [key: string]: unknown;
}
