import { randomBytes } from 'node:crypto';
import type {
  agentEvents,
  agentNotifications,
  agentRequests,
  Connection,
} from '../../../protocol/src/agent.ts';
import type { ParamsOf, RequestHandlers } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { gateEvents, gateRequests } from '../../../protocol/src/gate.ts';
import { Gate } from '../gate/gate.ts';
import { Ledger } from '../gate/ledger.ts';
import type { Journal } from '../history/journal.ts';
import { createHistoryHandlers } from '../history/undo.ts';
import type { Projects } from '../project/model.ts';
import type { Store } from '../store/store.ts';
import { createCatalog, type Catalog } from './catalog.ts';
import { expandMentions, type MentionSources } from './context/mentions.ts';
import { findRules } from './context/rules.ts';
import { suggestMentions } from './context/suggestMentions.ts';
import { systemPrompt } from './context/systemPrompt.ts';
import { ConversationRecords } from './conversations/conversationRecords.ts';
import { Conversations } from './conversations/conversations.ts';
import { Deltas } from './conversations/deltas.ts';
import { ItemRecords } from './conversations/itemRecords.ts';
import { recoverConversations } from './conversations/recover.ts';
import { SentRecords } from './conversations/sentRecords.ts';
import { showUndone } from './conversations/showUndone.ts';
import { Transcript } from './conversations/transcript.ts';
import type { PersonSide } from './providers/personSide.ts';
import { describeCall, prepareCall, runTool } from './tools/runTool.ts';
import type { CallContext, Tool } from './tools/tool.ts';

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
  setConnections(params: ParamsOf<(typeof agentNotifications)['connections/set']>): void;
  /** Stops what is being answered and waits for its end. */
  dispose(): Promise<void>;
}

/**
 * Composes the gate, the undo journal, the tools and the conversations over one store, and ends what engines that are
 * gone left in the middle. Throws where the tools don't fit their lists.
 */
export function createAgentServices(options: AgentServicesOptions): AgentServices {
  const { store, journal, projects, person, notify, clock } = options;
  const { database, engineId, cursors } = store;
  const createId = () => randomBytes(12).toString('base64url');
  let connections: ReadonlyMap<string, Connection> = new Map();
  let webSearch = false;
  let shellInternet = false;

  const ledger = new Ledger(database, engineId);
  const records = new ConversationRecords(database);
  const items = new ItemRecords(database);
  const sent = new SentRecords(database);
  const titleOf = (id: string | null) => (id === null ? null : (records.find(id)?.title ?? null));

  const gate: Gate = new Gate({
    ledger,
    world: {
      isTrusted: options.isTrusted,
      // A conversation that is not there any more changes nothing.
      modeOf: (id) => (id === null ? 'act' : (records.find(id)?.mode ?? 'plan')),
      titleOf,
    },
    createId,
    ...clock,
    onWaitingChanged: () => {
      const waiting = gate.waiting();
      notify('approval/changed', { waiting: waiting.length });
      conversations.showWaiting(new Set(waiting.map(({ callId }) => callId)));
    },
  });
  const tools = options.createTools({ gate, journal, person, titleOf, shellInternet: () => shellInternet });
  const catalog: Catalog = createCatalog(tools, options.toolLists?.(tools));

  const isAlive = (engine: string) => store.isAlive(engine);
  const recover = () => {
    ledger.recover(isAlive, clock.now());
    recoverConversations(
      { database, conversations: records, items, receipt: (opId) => ledger.receipt(opId), now: clock.now },
      isAlive,
    );
  };
  const deltas = new Deltas({
    summaryOf: (id) => conversations.summary(id),
    send: (delta) => notify('conversation/delta', delta),
    setTimer: clock.setTimer,
  });
  const transcript = new Transcript({ database, conversations: records, items, deltas, now: clock.now });
  const conversations: Conversations = new Conversations({
    parts: {
      gate,
      person,
      sent,
      logEgress: (project, record) => store.egress.appendOf('agent', project, record),
      createId,
      now: clock.now,
      setTimer: clock.setTimer,
      conversations: records,
      items,
      transcript,
      catalog,
      connection: (id) => connections.get(id),
      webSearch: () => webSearch,
      systemPrompt: ({ root, mode }) => {
        const project = projects.get(root);
        return systemPrompt({
          projectName: project.manifest?.name ?? '',
          cards: [...project.cards.keys()],
          mode,
          rules: findRules(root),
          date: new Date(clock.now()).toISOString().slice(0, 10),
        });
      },
    },
    database,
    engineId,
    cursors,
    deltas,
    expand: (root, mentions) => expandMentions(root, mentions, options.mentionSources),
    questions: (id) => ledger.questions(id),
    recover,
    onProblem: options.onProblem,
  });

  recover();
  journal.recover(isAlive).catch(options.onProblem);

  const scopeOf = (root: string): string => {
    const scope = options.scopeOf(root);
    if (scope !== null) return scope;
    throw new UserError(
      'bad-project',
      'The file system of this folder keeps no birth time, so nothing lasting can be allowed in it',
      { root },
    );
  };
  const rootOf = (root: string) => projects.get(root).root;

  const contextOf = (root: string, opId: string, conversation: string | null): CallContext => ({
    root,
    scope: scopeOf(root),
    conversation,
    principal: conversation === null ? 'external-agent' : 'agent',
    opId,
    callId: opId,
    group: opId,
    groupTitle: 'A tool call of another agent',
  });
  const toolNamed = (name: string): Tool => {
    const tool = catalog.find(name);
    if (!tool) throw new UserError('not-found', `There is no tool named ${JSON.stringify(name)}`, { name });
    return tool;
  };

  const handlers: AgentHandlers = {
    'conversation/list': ({ root, query, cursor, limit }) =>
      conversations.list(scopeOf(rootOf(root)), query ?? '', cursor, limit),
    'conversation/create': (made) => {
      const root = rootOf(made.root);
      return conversations.create({ ...made, root, scope: scopeOf(root) });
    },
    'conversation/read': ({ id, before, limit }) => conversations.read(id, before, limit),
    'conversation/send': ({ id, ...message }) => {
      if (!options.isTrusted())
        throw new UserError('not-trusted', 'This folder is in Restricted Mode: nothing is asked of a model');
      return conversations.send(id, message);
    },
    'conversation/stop': async ({ id }) => ({ stopped: await conversations.stop(id) }),
    'conversation/configure': ({ id, ...change }) => conversations.configure(id, change),
    'conversation/fork': ({ id, seq }) => conversations.fork(id, seq),
    'conversation/delete': async ({ id }) => ({ deleted: await conversations.delete(id) }),
    'conversation/compact': ({ id }) => conversations.compact(id),
    'conversation/sent': ({ id, cursor, limit }) => conversations.sent(id, cursor, limit),
    'conversation/rules': ({ root }) =>
      findRules(rootOf(root)).map(({ path, sizeBytes, hiddenCharacters }) => ({
        path,
        sizeBytes,
        hiddenCharacters,
      })),
    'mention/suggest': ({ root, query }) => suggestMentions(projects.get(root), query),
    ...createHistoryHandlers({
      journal,
      gate,
      cursors,
      createId,
      scopeOf,
      dirty: (paths) => person.ask('editor/dirty', { paths: [...paths] }),
      onTurned: (ids) => {
        const isUndone = (id: string) => journal.entries.get(id)?.undone;
        showUndone({ conversations: records, items, transcript, isUndone }, ids);
      },
    }),
    'tool/call': async ({ root, opId, tool, args }, signal) => {
      const real = rootOf(root);
      const { text, isError } = await runTool(
        gate,
        toolNamed(tool),
        args,
        contextOf(real, opId, null),
        signal,
      );
      return { text, isError };
    },
    'tool/list': () =>
      catalog.descriptions.map(({ name, description, inputSchema, asksEachTime }) => ({
        name,
        description,
        inputSchema: JSON.stringify(inputSchema),
        asksEachTime,
      })),
    'approval/list': () => gate.waiting(),
    'approval/answer': ({ id, reviewDigest, answer }) => {
      gate.answer(id, reviewDigest, answer);
      return { taken: true };
    },
    'approval/declineAll': () => ({ declined: gate.declineAll() }),
    'grant/list': ({ root }) => gate.grants(scopeOf(rootOf(root))),
    'grant/give': ({ root, ...grant }) => gate.give({ ...grant, scope: scopeOf(rootOf(root)) }),
    'grant/revoke': ({ id }) => ({ revoked: gate.revoke(id) }),
    'operation/get': ({ opId }) => gate.receipt(opId),
    'gate/tryOut': async ({ root, conversation, tool: name, args }) => {
      const real = rootOf(root);
      const tool = toolNamed(name);
      const context = contextOf(real, `try:${createId()}`, conversation);
      const prepared = await prepareCall(tool, args, context);
      const { decision, targets, lines } = await gate.tryOut({
        ...context,
        tool: tool.name,
        effect: tool.effect,
        args: prepared.args,
        permissions: prepared.permissions,
        measure: () => prepared.measure(),
        describe: (touched) => describeCall(prepared, touched),
      });
      return { decision, targets: [...targets], explanation: [...lines] };
    },
  };

  return {
    handlers,
    gate,
    journal,
    setConnections: (params) => {
      connections = new Map(params.connections.map((each) => [each.id, each]));
      ({ webSearch, shellInternet } = params);
    },
    dispose: async () => {
      await conversations.dispose();
      deltas.dispose();
    },
  };
}
