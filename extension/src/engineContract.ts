import {
  agentEvents,
  agentNotifications,
  agentRequests,
  providerRequests,
} from '../../protocol/src/agent.ts';
import { engineEvents, engineSide } from '../../protocol/src/engine.ts';
import { gateEvents, gateRequests } from '../../protocol/src/gate.ts';

/** Everything that the extension asks of the engine. */
export const engineRequests = { ...engineSide.requests, ...gateRequests, ...agentRequests } as const;

/** Everything that it tells the engine. */
export const engineTold = { ...engineSide.notifications, ...agentNotifications } as const;

/** Everything that it hears from the engine. */
export const engineHeard = { ...engineEvents.notifications, ...gateEvents, ...agentEvents } as const;

/** Everything that the engine asks of the extension, because it is the person's side. */
export const personRequests = providerRequests;
