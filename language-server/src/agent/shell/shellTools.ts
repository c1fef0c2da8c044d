import type { Tool } from '../tools/tool.ts';
import { projectShellTool, type ProjectShellDeps } from './projectShellTool.ts';
import { shellTool, type ShellDeps } from './shellTool.ts';

export type ShellToolDeps = ShellDeps & ProjectShellDeps;

/** `shell` and `project_shell`. Nothing of one call reaches the next. */
export function createShellTools(deps: ShellToolDeps): readonly Tool[] {
  return [shellTool(deps), projectShellTool(deps)];
}
