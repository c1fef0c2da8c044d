import { runCardsTool } from './runCards.ts';
import { runLookTools } from './runLook.ts';
import { runRemovalTools } from './runRemoval.ts';
import type { RunToolDeps } from './runServices.ts';
import type { Tool } from './tool.ts';

/** `run_cards`, `run_status`, `run_read`, `history_delete`, `cache_clear`. */
export function createRunTools(deps: RunToolDeps): readonly Tool[] {
  return [runCardsTool(deps), ...runLookTools(deps), ...runRemovalTools(deps)];
}
