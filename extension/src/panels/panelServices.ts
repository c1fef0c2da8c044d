import type { Uri } from 'vscode';
import type { CommandRegistry } from '../commandRegistry.ts';
import type { Engine } from '../engine.ts';
import type { EngineClient } from '../engineClient.ts';
import type { Log } from '../log.ts';
import type { Notifier } from '../notifier.ts';
import type { ProjectPicker } from '../project/pickProject.ts';

/** What the panels need of the extension. */
export interface PanelServices {
  readonly extensionUri: Uri;
  readonly engine: Engine & Pick<EngineClient, 'onDidChangeState'>;
  readonly commands: CommandRegistry;
  readonly picker: ProjectPicker;
  readonly notifier: Notifier;
  readonly log: Log;
}

/** Counts messages of a page that do not fit the contract, and logs the first few by name, never their contents. */
export function countBadMessages(log: Log, page: string): (method: string, problem: string) => void {
  let count = 0;
  return (method) => {
    count++;
    if (count <= 5 || count % 1000 === 0) {
      log.warn(`${page}: message ${count} that does not fit the contract (${method.slice(0, 80)})`);
    }
  };
}
