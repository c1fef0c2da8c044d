import { randomBytes } from 'node:crypto';
import type { agentEvents, agentRequests } from '../../../protocol/src/agent.ts';
import type { ParamsOf, RequestHandlers } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { gateEvents, gateRequests } from '../../../protocol/src/gate.ts';
import { Gate } from '../gate/gate.ts';
import { createGateHandlers } from '../gate/gateHandlers.ts';
import { Ledger } from '../gate/ledger.ts';
import type { Journal } from '../history/journal.ts';
import { createHistoryHandlers } from '../history/undo.ts';
import type { Projects } from '../project/model.ts';
import type { Store } from '../store/store.ts';
import { createCatalog, type Catalog } from './catalog.ts';
import type { MentionSources } from './context/mentions.ts';
import { createConversationHandlers } from './conversations/conversationHandlers.ts';
import { ConversationRecords } from './conversations/conversationRecords.ts';
import { openConversations, type OpenConversations } from './conversations/openConversations.ts';
import { noConnections, type Connections } from './providers/connections.ts';
import type { PersonSide } from './providers/personSide.ts';
import type { Tool } from './tools/tool.ts';
import { createToolHandlers } from './tools/toolHandlers.ts';

type Events = typeof agentEvents & typeof gateEvents;
export type AgentNotify = <M extends keyof Events>(method: M, params: ParamsOf<Events[M]>) => void;
export type AgentHandlers = RequestHandlers<typeof agentRequests & typeof gateRequests>;

/** What tools are made from. */
export interface ToolMaterials {
  readonly gate: Gate;
  readonly journal: Journal;
  readonly person: PersonSide;
  /** The title of a conversation, for a question to a person. */
  readonly titleOf: (conversation: string | null) => string | null;
  /** True where a person lets the `shell` tool reach the public internet. */
  readonly shellInternet: () => boolean;
}

export interface AgentServicesOptions {
  readonly store: Store;
  /** The undo history, which runs of cards write to as well. */
  readonly journal: Journal;
  readonly projects: Projects;
  readonly scopeOf: (root: string) => string | null;
  readonly isTrusted: () => boolean;
  readonly person: PersonSide;
  readonly notify: AgentNotify;
  readonly onProblem: (error: unknown) => void;
  readonly createTools: (materials: ToolMaterials) => readonly Tool[];
  /** Which tools there must be; absent for the lists of `catalog.ts`. */
  readonly toolLists?: (tools: readonly Tool[]) => Parameters<typeof createCatalog>[1];
  readonly mentionSources: MentionSources;
  readonly clock: {
    /** Milliseconds since the epoch, and monotonic ones. */
    readonly now: () => number;
    readonly monotonic: () => number;
    /** Runs `run` after `ms`; answers with what takes that back. */
    readonly setTimer: (run: () => void, ms: number) => () => void;
  };
}

export interface AgentServices {
  /** A handler for every request of `agentRequests` and `gateRequests`. */
  readonly handlers: AgentHandlers;
  readonly gate: Gate;
  readonly journal: Journal;
  setConnections(connections: Connections): void;
  /** Stops what is being answered and waits for its end. */
  dispose(): Promise<void>;
}

/**
 * Composes the gate, the undo journal, the tools and the conversations over one store, and ends what engines that are
 * gone left in the middle. Throws where the tools don't fit their lists.
 */
export function createAgentServices(options: AgentServicesOptions): AgentServices {
  const { store, journal, projects, isTrusted, person, notify, onProblem, clock } = options;
  const createId = () => randomBytes(12).toString('base64url');
  let connections = noConnections;

  const ledger = new Ledger(store.database, store.engineId);
  const records = new ConversationRecords(store.database);
  const titleOf = (id: string | null) => (id === null ? null : (records.find(id)?.title ?? null));
  const gate: Gate = new Gate({
    ledger,
    world: {
      isTrusted,
      // A conversation that is not there any more changes nothing.
      modeOf: (id) => (id === null ? 'act' : (records.find(id)?.mode ?? 'plan')),
      titleOf,
    },
    createId,
    ...clock,
    onWaitingChanged: () => {
      const waiting = gate.waiting();
      notify('approval/changed', { waiting: waiting.length });
      open.conversations.showWaiting(new Set(waiting.map(({ callId }) => callId)));
    },
  });
  const shellInternet = () => connections.shellInternet;
  const tools = options.createTools({ gate, journal, person, titleOf, shellInternet });
  const catalog: Catalog = createCatalog(tools, options.toolLists?.(tools));
  const open: OpenConversations = openConversations({
    ...{ store, records, ledger, gate, catalog, projects, person, onProblem, createId, ...clock },
    mentionSources: options.mentionSources,
    connections: () => connections,
    onDelta: (delta) => notify('conversation/delta', delta),
  });
  journal.recover((engine) => store.isAlive(engine)).catch(onProblem);

  const { conversations } = open;
  const rootOf = (root: string) => projects.get(root).root;
  const scopeOf = (root: string) => options.scopeOf(root) ?? refuseScopeless(root);
  return {
    handlers: {
      ...createConversationHandlers({ conversations, projects, isTrusted, rootOf, scopeOf }),
      ...createToolHandlers({ gate, catalog, createId, rootOf, scopeOf }),
      ...createGateHandlers({ gate, scopeOf: (root) => scopeOf(rootOf(root)) }),
      ...createHistoryHandlers({
        ...{ journal, gate, cursors: store.cursors, createId, scopeOf },
        dirty: (paths) => person.ask('editor/dirty', { paths: [...paths] }),
        onTurned: (ids) => open.showUndone(ids, (id) => journal.entries.get(id)?.undone),
      }),
    },
    gate,
    journal,
    setConnections: (made) => {
      connections = made;
    },
    dispose: () => open.dispose(),
  };
}

function refuseScopeless(root: string): never {
  throw new UserError(
    'bad-project',
    'The file system of this folder keeps no birth time, so nothing lasting can be allowed in it',
    { root },
  );
}
