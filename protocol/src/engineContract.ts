import { agentEvents, agentNotifications, agentRequests, providerRequests } from './agent.ts';
import { appEvents, appRequests } from './apps.ts';
import { engineEvents, engineSide } from './engine.ts';
import { gateEvents, gateRequests } from './gate.ts';
import { placeEvents, placePersonRequests, placeRequests, vmRequests } from './places.ts';
import { workerPersonRequests, workerRequests } from './pinnedWorker.ts';
import { terminalRequests } from './placeTerminal.ts';
import { vaultNotifications, vaultPersonRequests } from './vault.ts';

/** The whole boundary between extension and engine, from the contracts of its areas. */

/** Everything that the extension asks of the engine. */
export const engineRequests = {
  ...engineSide.requests,
  ...gateRequests,
  ...agentRequests,
  ...appRequests,
  ...placeRequests,
  ...vmRequests,
  ...terminalRequests,
  ...workerRequests,
} as const;

/** Everything that it tells the engine. */
export const engineTold = {
  ...engineSide.notifications,
  ...agentNotifications,
  ...vaultNotifications,
} as const;

/** Everything that it hears from the engine. */
export const engineHeard = {
  ...engineEvents.notifications,
  ...gateEvents,
  ...agentEvents,
  ...appEvents,
  ...placeEvents,
} as const;

/** Everything that the engine asks of the extension, because it is the person's side. */
export const personRequests = {
  ...providerRequests,
  ...vaultPersonRequests,
  ...placePersonRequests,
  ...workerPersonRequests,
} as const;
