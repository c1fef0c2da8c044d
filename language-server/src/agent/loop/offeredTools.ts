import type { AgentMode } from '../../../../protocol/src/agent.ts';
import { changesWorld } from '../../gate/decide.ts';
import type { Catalog } from '../catalog.ts';
import type { ModelTool } from '../providers/model.ts';

/** The tools that a model is told of: in plan mode none that changes or runs anything. The gate refuses those anyway. */
export function offeredTools(catalog: Catalog, mode: AgentMode): ModelTool[] {
  return catalog.descriptions
    .filter(({ name }) => {
      const tool = catalog.find(name);
      return tool && (mode === 'act' || !changesWorld(tool.effect));
    })
    .map(({ name, description, inputSchema }) => ({ type: 'function', name, description, inputSchema }));
}
