import * as z from 'zod/mini';
import type { Target } from '../../../../protocol/src/gate.ts';
import type { Tool } from './tool.ts';

/** A tool whose `prepare` gets the type of its arguments from its schema. */
export function defineTool<S extends z.ZodMiniType>(tool: Tool<S>): Tool {
  return tool;
}

/** Names what an argument means, for the model. Every argument of a tool has such a sentence. */
export function about<S extends z.ZodMiniType>(description: string, schema: S): S {
  z.globalRegistry.add(schema, { description });
  return schema;
}

/** A target that is no path: nothing of it is protected or outside. */
export function thing(kind: Target['kind'], name: string, measure: string | null): Target {
  return { kind, name, measure, isProtected: false, isOutside: false };
}
