import type { agentNotifications } from '../../../../protocol/src/agent.ts';
import type { ParamsOf } from '../../../../protocol/src/contract.ts';

/** The connections to models that a person has made, and what they let be done with them. */
export type Connections = ParamsOf<(typeof agentNotifications)['connections/set']>;

/** As it is before the person's side has said anything. */
export const noConnections: Connections = { connections: [], webSearch: false, shellInternet: false };
