import { ThemeIcon, window } from 'vscode';
import type { ProjectView } from '../../../protocol/src/engine.ts';
import type { Engine } from '../engine.ts';
import { placeTerminal } from '../placeViewMessages.ts';
import { VmTerminal } from './vmTerminal.ts';
import { withStop } from './withStop.ts';

/**
 * Starts a project's VM where it does not run, the one of its cards with a network or the other, and shows a terminal in
 * it. Rejects as `place/terminalOpen` does.
 */
export async function openVmTerminal(
  engine: Engine,
  { root, name }: Pick<ProjectView, 'root' | 'name'>,
  network: boolean,
): Promise<void> {
  const { terminal } = await withStop(placeTerminal.opening(name, network), (signal) =>
    // Its size is told when VS Code knows it.
    engine.call('place/terminalOpen', { root, network, columns: 80, rows: 24 }, signal),
  );
  window
    .createTerminal({
      name: placeTerminal.name(name, network),
      iconPath: new ThemeIcon('vm'),
      pty: new VmTerminal(engine, terminal),
      // A window that is opened again has another engine, which knows nothing of this terminal.
      isTransient: true,
    })
    .show();
}
