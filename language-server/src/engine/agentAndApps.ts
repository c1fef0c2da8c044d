import { agentRequests } from '../../../protocol/src/agent.ts';
import { appRequests } from '../../../protocol/src/apps.ts';
import { gateRequests } from '../../../protocol/src/gate.ts';
import type { AgentHandlers, AgentServicesOptions } from '../agent/agentServices.ts';
import type { Connections } from '../agent/providers/connections.ts';
import type { AppsDeps, AppsServices } from '../apps/startApps.ts';
import { lazyHandlers } from '../lazyPart.ts';
import type { Consents } from '../permissions/consents.ts';
import { createConnectionUsers } from './connectionUsers.ts';
import type { EngineContext } from './engineContext.ts';
import type { OpenEngine } from './openEngine.ts';

/** What tests put in the place of parts of the agent and of apps; absent is the real one. */
export interface AgentAndAppsReplacements {
  readonly createTools?: AgentServicesOptions['createTools'];
  /** Where packages of apps come from, and what else of them is replaced. */
  readonly apps?: Pick<AppsDeps, 'registry' | 'official' | 'environment'>;
}

export interface AgentAndAppsOptions {
  readonly context: EngineContext;
  readonly open: () => OpenEngine;
  readonly consents: Consents;
  readonly replaced: AgentAndAppsReplacements;
}

export interface AgentAndApps {
  readonly handlers: AgentHandlers & AppsServices['handlers'];
  /** The connections to models that a person has made. */
  setConnections(connections: Connections): void;
  dispose(): Promise<void>;
}

/** What asks models: the agent with the gate, and the apps. The program of each is read when it is first asked for. */
export function createAgentAndApps({ context, open, consents, replaced }: AgentAndAppsOptions): AgentAndApps {
  const { tellProblem } = context;
  const users = createConnectionUsers(tellProblem);
  const agent = users.add(async () => {
    const opened = open();
    const { startAgent } = await import('../agent/startAgent.ts');
    const { createTools } = replaced;
    return startAgent({ ...context, opened, consents, onProblem: tellProblem, createTools });
  });
  const gate = async () => (await agent.open()).gate;
  const apps = users.add(async () => {
    const opened = open();
    const { startApps } = await import('../apps/startApps.ts');
    return startApps({ ...context, opened, gate, onProblem: tellProblem, ...replaced.apps });
  });
  return {
    handlers: {
      ...lazyHandlers<AgentHandlers>({ ...agentRequests, ...gateRequests }, agent),
      ...lazyHandlers<AppsServices['handlers']>(appRequests, apps),
    },
    setConnections: (connections) => users.set(connections),
    dispose: () => users.dispose(),
  };
}
