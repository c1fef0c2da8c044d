import type { Gate } from '../../gate/gate.ts';
import type { Ledger } from '../../gate/ledger.ts';
import type { Projects } from '../../project/model.ts';
import type { Store } from '../../store/store.ts';
import type { Catalog } from '../catalog.ts';
import { expandMentions, type MentionSources } from '../context/mentions.ts';
import { findRules } from '../context/rules.ts';
import { systemPrompt } from '../context/systemPrompt.ts';
import type { Connections } from '../providers/connections.ts';
import type { PersonSide } from '../providers/personSide.ts';
import type { ConversationRecords, StoredConversation } from './conversationRecords.ts';
import { Conversations } from './conversations.ts';
import { Deltas, type ConversationDelta } from './deltas.ts';
import { ItemRecords } from './itemRecords.ts';
import { recoverConversations } from './recover.ts';
import { SentRecords } from './sentRecords.ts';
import { showUndone } from './showUndone.ts';
import { Transcript } from './transcript.ts';

export interface OpenConversationsOptions {
  readonly store: Store;
  readonly records: ConversationRecords;
  readonly ledger: Ledger;
  readonly gate: Gate;
  readonly catalog: Catalog;
  readonly projects: Pick<Projects, 'get'>;
  readonly person: PersonSide;
  readonly mentionSources: MentionSources;
  /** As they are at the moment. */
  readonly connections: () => Connections;
  readonly onDelta: (delta: ConversationDelta) => void;
  readonly onProblem: (error: unknown) => void;
  readonly createId: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs `run` after `ms`; answers with what takes that back. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

export interface OpenConversations {
  readonly conversations: Conversations;
  /** Makes the rows of these conversations say which of their changes are undone now. */
  showUndone(ids: Iterable<string>, isUndone: (changeId: string) => boolean | undefined): void;
  /** Stops what is being answered and waits for its end. */
  dispose(): Promise<void>;
}

/** Composes the conversations over one store, and ends those that engines which are gone left in the middle. */
export function openConversations(options: OpenConversationsOptions): OpenConversations {
  const { store, records, ledger, gate, catalog, projects, person, connections, onProblem } = options;
  const { createId, now, setTimer } = options;
  const { database, engineId, cursors } = store;
  const items = new ItemRecords(database);
  const sent = new SentRecords(database);
  const deltas = new Deltas({
    summaryOf: (id) => conversations.summary(id),
    send: options.onDelta,
    setTimer,
  });
  const transcript = new Transcript({ database, conversations: records, items, deltas, now });
  const recover = () => {
    const isAlive = (engine: string) => store.isAlive(engine);
    ledger.recover(isAlive, now());
    const receipt = (opId: string) => ledger.receipt(opId);
    recoverConversations({ database, conversations: records, items, receipt, now }, isAlive);
  };
  const conversations: Conversations = new Conversations({
    parts: {
      ...{ gate, person, sent, createId, now, setTimer, conversations: records, items, transcript, catalog },
      logEgress: (project, record) => store.egress.appendOf('agent', project, record),
      connection: (wanted) => connections().connections.find(({ id }) => id === wanted),
      webSearch: () => connections().webSearch,
      systemPrompt: (conversation) => promptOf(projects, conversation, now()),
    },
    ...{ database, engineId, cursors, deltas, recover, onProblem },
    expand: (root, mentions) => expandMentions(root, mentions, options.mentionSources),
    questions: (id) => ledger.questions(id),
  });
  recover();
  return {
    conversations,
    showUndone: (ids, isUndone) => showUndone({ conversations: records, items, transcript, isUndone }, ids),
    dispose: async () => {
      await conversations.dispose();
      deltas.dispose();
    },
  };
}

function promptOf(projects: Pick<Projects, 'get'>, { root, mode }: StoredConversation, at: number): string {
  const project = projects.get(root);
  return systemPrompt({
    projectName: project.manifest?.name ?? '',
    cards: [...project.cards.keys()],
    mode,
    rules: findRules(root),
    date: new Date(at).toISOString().slice(0, 10),
  });
}
