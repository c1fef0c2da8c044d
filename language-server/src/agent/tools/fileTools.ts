import { createEditTool } from './editTool.ts';
import { createDiagnosticsTool, createSymbolsTool, type InsightDeps } from './insightTools.ts';
import { createListTool, createReadTool } from './lookTools.ts';
import { createCreateTool, createDeleteTool, createRenameTool } from './moveTools.ts';
import { createSaveTool, type SaveDeps } from './saveTool.ts';
import { createSearchTool } from './searchTool.ts';
import type { Tool } from './tool.ts';

export interface FileToolDeps extends InsightDeps, SaveDeps {
  /** Absolute path of a ripgrep that no project can name (`findRipgrep`); null for our own search. */
  readonly ripgrep: string | null;
}

/** Every tool that looks at or changes the project's files. None of them acts but through the gate. */
export function createFileTools(deps: FileToolDeps): readonly Tool[] {
  return [
    createListTool(),
    createReadTool(),
    createSearchTool(deps.ripgrep),
    createDiagnosticsTool(deps),
    createSymbolsTool(deps),
    createEditTool(deps),
    createCreateTool(deps),
    createRenameTool(deps),
    createDeleteTool(deps),
    createSaveTool(deps),
  ];
}
