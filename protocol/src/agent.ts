import * as z from 'zod/mini';
import { digest } from './artifacts.ts';
import { notification, request } from './contract.ts';

/** Extension ↔ engine for conversations with a model, and the undo journal. State lives in the engine. */

export const connectionKinds = ['anthropic', 'openai', 'openai-compatible', 'ollama', 'vscode'] as const;
/** A connection as the engine knows it: never a key, and no address but its canonical origin for the log. */
export const connection = z.strictObject({
  id: z.string(),
  kind: z.enum(connectionKinds),
  name: z.string(),
  origin: z.string(),
  models: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      contextTokens: z.nullable(z.int()),
      /** US dollars for a million tokens; null where not known. */
      inputPrice: z.nullable(z.number()),
      outputPrice: z.nullable(z.number()),
      images: z.boolean(),
    }),
  ),
});
export type Connection = z.infer<typeof connection>;

export const agentModes = ['plan', 'act'] as const;
export const agentMode = z.enum(agentModes);
export type AgentMode = z.infer<typeof agentMode>;

export const usage = z.strictObject({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int(),
  /** US dollars; null where the price is not known. */
  cost: z.nullable(z.number()),
});
export type Usage = z.infer<typeof usage>;

export const conversationSummary = z.strictObject({
  id: z.string(),
  root: z.string(),
  title: z.string(),
  mode: agentMode,
  connection: z.nullable(z.string()),
  model: z.nullable(z.string()),
  state: z.enum(['idle', 'answering', 'waiting', 'failed']),
  items: z.int(),
  usage,
  /** Tokens of the context that the next request will send, and the model's limit. */
  contextTokens: z.int(),
  contextLimit: z.nullable(z.int()),
  /** Questions that a person was asked in this conversation. */
  questions: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
});
export type ConversationSummary = z.infer<typeof conversationSummary>;

export const mention = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), path: z.string() }),
  z.strictObject({
    kind: z.literal('selection'),
    path: z.string(),
    fromLine: z.int(),
    toLine: z.int(),
    text: z.string(),
  }),
  z.strictObject({ kind: z.literal('problem'), path: z.string(), line: z.int(), text: z.string() }),
  z.strictObject({ kind: z.literal('card'), card: z.string() }),
  z.strictObject({ kind: z.literal('run'), runId: z.string() }),
  z.strictObject({ kind: z.literal('symbol'), path: z.string(), name: z.string(), line: z.int() }),
]);
export type Mention = z.infer<typeof mention>;

export const image = z.strictObject({
  mediaType: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
  base64: z.string(),
});

export const fileChange = z.strictObject({
  /** Id in the undo journal. */
  changeId: z.string(),
  path: z.string(),
  kind: z.enum(['create', 'edit', 'delete', 'rename']),
  addedLines: z.int(),
  removedLines: z.int(),
  undone: z.boolean(),
});
export type FileChange = z.infer<typeof fileChange>;

export const toolCallStates = [
  'writing',
  'waiting',
  'running',
  'done',
  'failed',
  'refused',
  'unknown',
] as const;

/** One row of a conversation. `seq` orders rows; an update carries the whole row again. */
export const item = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('person'),
    seq: z.int(),
    turn: z.int(),
    text: z.string(),
    mentions: z.array(mention),
    images: z.int(),
    at: z.int(),
    /** Sent while an answer was still coming: waits its turn. */
    isQueued: z.boolean(),
  }),
  z.strictObject({
    kind: z.literal('answer'),
    seq: z.int(),
    turn: z.int(),
    markdown: z.string(),
    /** Cut by the person, by an error, or at the model's output limit. */
    ending: z.enum(['streaming', 'complete', 'stopped', 'error', 'output-limit']),
    at: z.int(),
  }),
  z.strictObject({
    kind: z.literal('tool'),
    seq: z.int(),
    turn: z.int(),
    opId: z.string(),
    tool: z.string(),
    /** In Sallyport's words. */
    title: z.string(),
    state: z.enum(toolCallStates),
    /** Shown when opened: arguments and result, bounded, what was cut said. */
    detail: z.string(),
    waitMs: z.int(),
    runMs: z.int(),
    changes: z.array(fileChange),
    runId: z.nullable(z.string()),
    at: z.int(),
  }),
  z.strictObject({
    kind: z.literal('notice'),
    seq: z.int(),
    turn: z.int(),
    level: z.enum(['info', 'warning', 'error']),
    text: z.string(),
    /** An action a person can take: a command id and its title. */
    action: z.nullable(z.strictObject({ command: z.string(), title: z.string() })),
    at: z.int(),
  }),
  /** What was compacted, readable. */
  z.strictObject({
    kind: z.literal('summary'),
    seq: z.int(),
    turn: z.int(),
    markdown: z.string(),
    replacedItems: z.int(),
    at: z.int(),
  }),
]);
export type Item = z.infer<typeof item>;

/** One journal entry: a change of one path by one principal. */
export const change = z.strictObject({
  id: z.string(),
  /** Entries of one turn or one act are undone together. */
  group: z.string(),
  groupTitle: z.string(),
  principal: z.string(),
  conversation: z.nullable(z.string()),
  path: z.string(),
  kind: z.enum(['create', 'edit', 'delete', 'rename', 'mode']),
  before: z.nullable(digest),
  after: z.nullable(digest),
  sizeBytes: z.int(),
  undone: z.boolean(),
  at: z.int(),
});
export type Change = z.infer<typeof change>;

/** What an undo or redo would do to one path. */
export const undoStep = z.strictObject({
  changeId: z.string(),
  path: z.string(),
  action: z.enum(['restore', 'remove', 'recreate', 'mode', 'nothing']),
  /** Why it can't be done now; null where it can. */
  conflict: z.nullable(z.enum(['changed-since', 'dirty-editor', 'pruned', 'outside', 'protected'])),
});
export type UndoStep = z.infer<typeof undoStep>;

const id = z.string();
const cursor = z.optional(z.string());

export const agentRequests = {
  'conversation/list': request(
    z.strictObject({ root: z.string(), query: z.optional(z.string()), cursor, limit: z.int() }),
    z.strictObject({ conversations: z.array(conversationSummary), cursor }),
  ),
  'conversation/create': request(
    z.strictObject({
      root: z.string(),
      mode: agentMode,
      connection: z.nullable(z.string()),
      model: z.nullable(z.string()),
    }),
    conversationSummary,
  ),
  /** The rows before `before` (absent: the last ones), oldest first. Fewer than `limit` may come though there are more. */
  'conversation/read': request(
    z.strictObject({ id, before: z.optional(z.int()), limit: z.int() }),
    z.strictObject({ summary: conversationSummary, items: z.array(item) }),
  ),
  'conversation/send': request(
    z.strictObject({ id, text: z.string(), mentions: z.array(mention), images: z.array(image) }),
    z.strictObject({ seq: z.int() }),
  ),
  'conversation/stop': request(z.strictObject({ id }), z.strictObject({ stopped: z.boolean() })),
  'conversation/configure': request(
    z.strictObject({
      id,
      title: z.optional(z.string()),
      mode: z.optional(agentMode),
      connection: z.optional(z.string()),
      model: z.optional(z.string()),
    }),
    conversationSummary,
  ),
  'conversation/fork': request(z.strictObject({ id, seq: z.int() }), conversationSummary),
  'conversation/delete': request(z.strictObject({ id }), z.strictObject({ deleted: z.boolean() })),
  'conversation/compact': request(z.strictObject({ id }), z.strictObject({ seq: z.int() }), { timeoutMs: 0 }),
  /** Each request as it was sent to the provider, without key. */
  'conversation/sent': request(
    z.strictObject({ id, cursor, limit: z.int() }),
    z.strictObject({
      requests: z.array(
        z.strictObject({
          at: z.int(),
          connection: z.string(),
          path: z.string(),
          body: z.string(),
          status: z.nullable(z.int()),
          receivedBytes: z.int(),
        }),
      ),
      cursor,
    }),
  ),
  /** Rules files that are sent along, with what is hidden in them. */
  'conversation/rules': request(
    z.strictObject({ root: z.string() }),
    z.array(z.strictObject({ path: z.string(), sizeBytes: z.int(), hiddenCharacters: z.int() })),
  ),
  'mention/suggest': request(
    z.strictObject({ root: z.string(), query: z.string() }),
    z.array(z.strictObject({ mention, label: z.string(), detail: z.string() })),
  ),
  'history/list': request(
    z.strictObject({ root: z.string(), conversation: z.optional(z.string()), cursor, limit: z.int() }),
    z.strictObject({ changes: z.array(change), cursor, usedBytes: z.int(), limitBytes: z.int() }),
  ),
  /** The bytes of a side of a change: where they lie. */
  'history/locate': request(
    z.strictObject({ changeId: id, side: z.enum(['before', 'after']) }),
    z.strictObject({ path: z.nullable(z.string()) }),
  ),
  'history/preview': request(
    z.strictObject({
      root: z.string(),
      direction: z.enum(['undo', 'redo']),
      group: z.optional(id),
      changeIds: z.optional(z.array(id)),
    }),
    z.strictObject({ planDigest: digest, steps: z.array(undoStep) }),
  ),
  /** Does exactly the plan that was previewed, all or nothing. Rejects with `conflict` where it has changed. */
  'history/apply': request(
    z.strictObject({
      root: z.string(),
      direction: z.enum(['undo', 'redo']),
      group: z.optional(id),
      changeIds: z.optional(z.array(id)),
      planDigest: digest,
    }),
    z.strictObject({ applied: z.int() }),
  ),
  /** Calls one tool for a principal that the extension vouches for (`external-agent`): VS Code's own tools API. */
  'tool/call': request(
    z.strictObject({ root: z.string(), opId: z.string(), tool: z.string(), args: z.string() }),
    z.strictObject({ text: z.string(), isError: z.boolean() }),
    { timeoutMs: 0 },
  ),
  'tool/list': request(
    z.strictObject({}),
    z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        inputSchema: z.string(),
        asksEachTime: z.boolean(),
      }),
    ),
  ),
} as const;

export const agentNotifications = {
  /** The connections that a person has made. Sent at start and on each change. */
  'connections/set': notification(
    z.strictObject({ connections: z.array(connection), webSearch: z.boolean(), shellInternet: z.boolean() }),
  ),
} as const;

export const agentEvents = {
  /** Rows that are new or changed; `text` appends, after those, to the streaming answer of row `seq` at UTF-16 offset `at`. */
  'conversation/delta': notification(
    z.strictObject({
      id: z.string(),
      summary: conversationSummary,
      items: z.array(item),
      text: z.nullable(z.strictObject({ seq: z.int(), at: z.int(), append: z.string() })),
    }),
  ),
  'history/changed': notification(z.strictObject({ root: z.string() })),
} as const;

/** What the extension answers to the engine: it makes every request to a provider itself and adds the key. */
export const providerRequests = {
  /**
   * `path` is below the connection's saved address, without a slash before it (`messages`, `responses`,
   * `chat/completions`, `chat`): the address holds the API's own prefix (`/v1`, `/api`). `headers` are of a short list
   * and never hold a credential. Rejects with `closed` or `timeout` where the other end can't be reached.
   */
  'provider/open': request(
    z.strictObject({
      connection: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    }),
    z.strictObject({ stream: z.string(), status: z.int(), headers: z.record(z.string(), z.string()) }),
    { timeoutMs: 0 },
  ),
  /** The next bytes; pulling is the back-pressure. */
  'provider/read': request(
    z.strictObject({ stream: z.string() }),
    z.strictObject({ base64: z.string(), done: z.boolean() }),
    { timeoutMs: 0 },
  ),
  'provider/close': request(z.strictObject({ stream: z.string() }), z.null()),
  /**
   * VS Code's own models: messages and tools as JSON text (`VscodeModelRequest` of
   * language-server/src/agent/providers/vscodeModel.ts). `provider/close` ends such a stream too.
   */
  'lm/open': request(
    z.strictObject({ model: z.string(), request: z.string() }),
    z.strictObject({ stream: z.string() }),
    { timeoutMs: 0 },
  ),
  'lm/read': request(
    z.strictObject({ stream: z.string() }),
    z.strictObject({
      parts: z.array(
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('text'), text: z.string() }),
          z.strictObject({ kind: z.literal('tool'), callId: z.string(), name: z.string(), args: z.string() }),
        ]),
      ),
      done: z.boolean(),
    }),
    { timeoutMs: 0 },
  ),
  /** A question of `ask_person`, put in native UI. Null: the person turned away. Cancelled with its request. */
  'person/ask': request(
    z.strictObject({
      conversation: z.nullable(z.string()),
      conversationTitle: z.nullable(z.string()),
      question: z.string(),
      /** Offered beside an answer in the person's own words; may be empty. */
      choices: z.array(z.string()),
    }),
    z.strictObject({ answer: z.nullable(z.string()) }),
    { timeoutMs: 0 },
  ),
  /** Which of these files are open with unsaved changes. */
  'editor/dirty': request(z.strictObject({ paths: z.array(z.string()) }), z.array(z.string())),
  /** The problems that VS Code shows for files below a folder, at most 1000. Lines count from 1, paths are absolute. */
  'editor/problems': request(
    z.strictObject({ root: z.string() }),
    z.array(
      z.strictObject({
        path: z.string(),
        line: z.int(),
        severity: z.enum(['error', 'warning', 'info']),
        source: z.string(),
        message: z.string(),
      }),
    ),
  ),
  /** What VS Code knows of the names in a file by absolute path; null where no language service answers for it. */
  'editor/symbols': request(
    z.strictObject({ path: z.string() }),
    z.nullable(z.array(z.strictObject({ name: z.string(), kind: z.string(), line: z.int() }))),
  ),
} as const;
