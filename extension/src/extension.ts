import type { ExtensionContext } from 'vscode';
import { registerChat } from './agent/registerChat.ts';
import { registerApprovals } from './approvals/registerApprovals.ts';
import { registerWaiting } from './approvals/registerWaiting.ts';
import { registerApps } from './apps/registerApps.ts';
import { registerCareCommands } from './commands/careCommands.ts';
import { registerNewProject } from './commands/newProject.ts';
import { registerOpenCommands } from './commands/openCommands.ts';
import { registerRunCommands } from './commands/runCommands.ts';
import { registerSentCommands } from './commands/sentCommands.ts';
import { registerConnections } from './connections/registerConnections.ts';
import { registerEngineLife } from './engineLife.ts';
import { registerTimeline } from './history/registerTimeline.ts';
import { registerPanels } from './panels/registerPanels.ts';
import { registerWorkbench } from './panels/workbench.ts';
import { registerPlaces } from './places/registerPlaces.ts';
import { registerPresence } from './presence/registerPresence.ts';
import { createServices, type Register } from './services.ts';
import { registerRelease } from './vault/registerRelease.ts';
import { registerVault } from './vault/ui/registerVault.ts';
import { registerViews } from './views/registerViews.ts';

/** Everything that Sallyport does in the window, each in its own file. */
const features: readonly Register[] = [
  registerEngineLife,
  registerRunCommands,
  registerOpenCommands,
  registerCareCommands,
  registerNewProject,
  registerApprovals,
  registerViews,
  registerPanels,
  registerWorkbench,
  registerPlaces,
  registerPresence,
  registerVault,
  registerRelease,
  registerConnections,
  registerWaiting,
  registerTimeline,
  registerSentCommands,
  registerChat,
  registerApps,
];

let stop: (() => Promise<void>) | undefined;

/** Wires the features. Starts no process, and reads no file but what a person confirmed of the settings. */
export function activate(context: ExtensionContext): void {
  const { services, owned } = createServices(context);
  context.subscriptions.push(...owned, ...features.map((register) => register(services)));
  stop = () => services.engine.dispose();
}

/** Resolves when the engine's process is gone. */
export async function deactivate(): Promise<void> {
  await stop?.();
}
