import type { agentRequests } from '../../../../protocol/src/agent.ts';
import type { RequestHandlers } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Projects } from '../../project/model.ts';
import { findRules } from '../context/rules.ts';
import { suggestMentions } from '../context/suggestMentions.ts';
import type { Conversations } from './conversations.ts';

export interface ConversationHandlersOptions {
  readonly conversations: Conversations;
  readonly projects: Pick<Projects, 'get'>;
  readonly isTrusted: () => boolean;
  /** The real path of an open project. Throws `bad-project` for any other. */
  readonly rootOf: (root: string) => string;
  /** Its scope. Throws `bad-project` where it has none. */
  readonly scopeOf: (root: string) => string;
}

export type ConversationHandlers = Omit<
  RequestHandlers<typeof agentRequests>,
  `history/${string}` | `tool/${string}`
>;

/** Leads conversations for a person. */
export function createConversationHandlers(options: ConversationHandlersOptions): ConversationHandlers {
  const { conversations, projects, isTrusted, rootOf, scopeOf } = options;
  return {
    'conversation/list': ({ root, query, cursor, limit }) =>
      conversations.list(scopeOf(rootOf(root)), query ?? '', cursor, limit),
    'conversation/create': (made) => {
      const root = rootOf(made.root);
      return conversations.create({ ...made, root, scope: scopeOf(root) });
    },
    'conversation/read': ({ id, before, limit }) => conversations.read(id, before, limit),
    'conversation/send': ({ id, ...message }) => {
      if (!isTrusted())
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
  };
}
